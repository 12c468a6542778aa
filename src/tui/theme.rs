//! Colours by role.
//!
//! A theme file gives each [`Role`] a colour and attributes; [`Theme::resolve`]
//! turns it once into what the terminal can show. No other module names a
//! colour. Every state also has a letter, digit or mark, so the mono theme is
//! complete.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// What a style is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Running text and numbers.
    Text,
    /// Units, headings of columns.
    Dim,
    /// Title of a pane.
    Title,
    /// Title of the focused pane.
    TitleFocus,
    /// Frame of a pane.
    Border,
    /// Frame of the focused pane.
    BorderFocus,
    /// A key in the footer and in the help.
    Key,
    /// The header line.
    Header,
    /// The selected CPU or row.
    Selected,
    /// An idle CPU.
    Idle,
    /// An idle CPU while a task it could run waits.
    Starved,
    /// A CPU searching for work.
    Search,
    /// A CPU with two or more tasks.
    Overload,
    /// A task just pulled.
    Pull,
    /// A search that found nothing.
    Miss,
    /// First line of a chart.
    GraphA,
    /// Second line of a chart.
    GraphB,
    /// Something to know.
    Warn,
    /// Something that failed.
    Error,
    /// Task classes, by their number modulo six.
    #[serde(rename = "class_0")]
    Class0,
    /// Second class.
    #[serde(rename = "class_1")]
    Class1,
    /// Third class.
    #[serde(rename = "class_2")]
    Class2,
    /// Fourth class.
    #[serde(rename = "class_3")]
    Class3,
    /// Fifth class.
    #[serde(rename = "class_4")]
    Class4,
    /// Sixth class.
    #[serde(rename = "class_5")]
    Class5,
}

impl Role {
    /// Every role, in the order of the enum.
    pub const ALL: [Self; 25] = [
        Self::Text,
        Self::Dim,
        Self::Title,
        Self::TitleFocus,
        Self::Border,
        Self::BorderFocus,
        Self::Key,
        Self::Header,
        Self::Selected,
        Self::Idle,
        Self::Starved,
        Self::Search,
        Self::Overload,
        Self::Pull,
        Self::Miss,
        Self::GraphA,
        Self::GraphB,
        Self::Warn,
        Self::Error,
        Self::Class0,
        Self::Class1,
        Self::Class2,
        Self::Class3,
        Self::Class4,
        Self::Class5,
    ];

    /// The role of a task class.
    pub const fn class(class: usize) -> Self {
        Self::ALL[Self::Class0 as usize + class % 6]
    }

    /// Whether this is text to read, which needs more contrast than a mark.
    pub const fn is_text(self) -> bool {
        !matches!(
            self,
            Self::Border | Self::BorderFocus | Self::Idle | Self::GraphA | Self::GraphB
        )
    }
}

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// None: attributes only.
    Mono,
    /// The sixteen named colours.
    Ansi16,
    /// The palette of 256.
    Ansi256,
    /// 24 bits.
    True,
}

/// A colour of the sixteen.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Named {
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    Gray,
    DarkGray,
    LightRed,
    LightGreen,
    LightYellow,
    LightBlue,
    LightMagenta,
    LightCyan,
    White,
}

impl Named {
    const fn color(self) -> Color {
        match self {
            Self::Black => Color::Black,
            Self::Red => Color::Red,
            Self::Green => Color::Green,
            Self::Yellow => Color::Yellow,
            Self::Blue => Color::Blue,
            Self::Magenta => Color::Magenta,
            Self::Cyan => Color::Cyan,
            Self::Gray => Color::Gray,
            Self::DarkGray => Color::DarkGray,
            Self::LightRed => Color::LightRed,
            Self::LightGreen => Color::LightGreen,
            Self::LightYellow => Color::LightYellow,
            Self::LightBlue => Color::LightBlue,
            Self::LightMagenta => Color::LightMagenta,
            Self::LightCyan => Color::LightCyan,
            Self::White => Color::White,
        }
    }
}

/// One role in a theme file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Spec {
    /// `#rrggbb`.
    fg: Option<String>,
    /// Nearest of the sixteen colours, chosen by hand.
    c16: Option<Named>,
    bold: bool,
    dim: bool,
    underline: bool,
    reverse: bool,
}

/// A theme file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    /// What the theme is read against.
    background: String,
    /// Paint the background; else the terminal's own is left alone.
    #[serde(default)]
    paint: bool,
    roles: BTreeMap<Role, Spec>,
}

const EMBEDDED: [(&str, &str); 3] = [
    ("dark", include_str!("../../assets/themes/dark.ron")),
    ("light", include_str!("../../assets/themes/light.ron")),
    ("mono", include_str!("../../assets/themes/mono.ron")),
];

/// Names of the embedded themes.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// Styles by role, as the terminal can show them.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Name of the file.
    pub name: String,
    /// What every cell has that nothing is drawn in.
    pub base: Style,
    styles: Vec<Style>,
}

impl Theme {
    /// The embedded theme of this name (the first if unknown), for a terminal
    /// of this depth. Without colours it is always `mono`.
    pub fn resolve(name: &str, depth: Depth) -> Self {
        let name = if depth == Depth::Mono { "mono" } else { name };
        let file = parse(name);
        let styles = Role::ALL
            .iter()
            .map(|role| style(file.roles.get(role).unwrap_or(&Spec::default()), depth))
            .collect();
        let background = match depth {
            Depth::Mono => None,
            Depth::Ansi16 => Some(Color::White),
            Depth::Ansi256 => parse_rgb(&file.background).map(|c| Color::Indexed(nearest_256(c))),
            Depth::True => parse_rgb(&file.background).map(|[r, g, b]| Color::Rgb(r, g, b)),
        };
        Self {
            base: match background.filter(|_| file.paint) {
                Some(color) => Style::new().bg(color),
                None => Style::new(),
            },
            name: file.name,
            styles,
        }
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// The letter `a`.. of the first role with this colour and these attributes,
    /// `.` if there is none; for tests, which print a second grid of roles beside
    /// the text.
    pub fn role_letter(&self, style: Style) -> char {
        let key = |style: &Style| (style.fg.unwrap_or(Color::Reset), style.add_modifier);
        let found = self.styles.iter().position(|own| key(own) == key(&style));
        found.map_or('.', |index| char::from(b'a' + index as u8))
    }
}

fn parse(name: &str) -> File {
    let (_, text) = EMBEDDED
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap_or(&EMBEDDED[0]);
    ron::from_str(text).expect("embedded themes are read by the tests")
}

fn style(spec: &Spec, depth: Depth) -> Style {
    let rgb = spec.fg.as_deref().and_then(parse_rgb);
    let color = match depth {
        Depth::Mono => None,
        Depth::Ansi16 => spec.c16.map(Named::color),
        Depth::Ansi256 => rgb.map(|rgb| Color::Indexed(nearest_256(rgb))),
        Depth::True => rgb.map(|[r, g, b]| Color::Rgb(r, g, b)),
    };
    let mut style = Style::new();
    if let Some(color) = color {
        style = style.fg(color);
    }
    for (on, modifier) in [
        (spec.bold, Modifier::BOLD),
        (spec.dim, Modifier::DIM),
        (spec.underline, Modifier::UNDERLINED),
        (spec.reverse, Modifier::REVERSED),
    ] {
        if on {
            style = style.add_modifier(modifier);
        }
    }
    style
}

fn parse_rgb(text: &str) -> Option<[u8; 3]> {
    let value = u32::from_str_radix(text.strip_prefix('#')?, 16).ok()?;
    let [_, r, g, b] = value.to_be_bytes();
    (text.len() == 7).then_some([r, g, b])
}

/// Nearest colour of the 6x6x6 cube or the grey ramp.
fn nearest_256(rgb: [u8; 3]) -> u8 {
    const STEPS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let distance = |other: [i32; 3]| -> i32 {
        let parts = rgb.iter().zip(other);
        parts.map(|(&a, b)| (i32::from(a) - b).pow(2)).sum()
    };
    let cube = (0..216).map(|i: i32| {
        let at = |n: i32| STEPS[(n % 6) as usize];
        (16 + i, [at(i / 36), at(i / 6), at(i)])
    });
    let greys = (0..24).map(|i: i32| (232 + i, [8 + 10 * i; 3]));
    let best = cube.chain(greys).min_by_key(|&(_, color)| distance(color));
    best.map_or(7, |(index, _)| u8::try_from(index).unwrap_or(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(rgb: [u8; 3]) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                libm::pow((c + 0.055) / 1.055, 2.4)
            }
        };
        0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2])
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_theme_names_every_role_and_itself() {
        for (name, _) in EMBEDDED {
            let file = parse(name);
            assert_eq!(file.name, name);
            assert_eq!(file.roles.len(), Role::ALL.len(), "{name}");
        }
        for (index, role) in Role::ALL.iter().enumerate() {
            assert_eq!(*role as usize, index);
        }
    }

    #[test]
    fn text_has_a_contrast_of_4_5_and_marks_of_3() {
        for name in ["dark", "light"] {
            let file = parse(name);
            let background = parse_rgb(&file.background).expect("a colour");
            for (role, spec) in &file.roles {
                let fg = spec.fg.as_deref().and_then(parse_rgb).expect("a colour");
                let least = if role.is_text() { 4.5 } else { 3.0 };
                let got = contrast(fg, background);
                assert!(got >= least, "{name} {role:?}: {got:.2}");
            }
        }
    }

    /// Viénot's simulation in linear light, rounded; deuteranopia, protanopia.
    fn simulate(rgb: [u8; 3], matrix: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = rgb.map(|c| libm::pow(f64::from(c) / 255.0, 2.2));
        let row = |m: [f64; 3]| m[0] * linear[0] + m[1] * linear[1] + m[2] * linear[2];
        matrix.map(|m| libm::pow(row(m).max(0.0), 1.0 / 2.2))
    }

    #[test]
    fn what_must_be_told_apart_can_be_with_any_colour_vision() {
        let visions = [
            (
                "normal",
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            ),
            (
                "protan",
                [
                    [0.11238, 0.88762, 0.0],
                    [0.11238, 0.88762, 0.0],
                    [0.00401, -0.00401, 1.0],
                ],
            ),
            (
                "deutan",
                [
                    [0.29275, 0.70725, 0.0],
                    [0.29275, 0.70725, 0.0],
                    [-0.02234, 0.02234, 1.0],
                ],
            ),
            (
                "tritan",
                [
                    [1.0, 0.1446, -0.1446],
                    [0.0, 0.8592, 0.1408],
                    [0.0, 0.8592, 0.1408],
                ],
            ),
        ];
        let pairs = [
            (Role::GraphA, Role::GraphB),
            (Role::Pull, Role::Starved),
            (Role::Idle, Role::Starved),
            (Role::Class0, Role::Class1),
        ];
        for name in ["dark", "light"] {
            let file = parse(name);
            let color = |role: Role| file.roles[&role].fg.as_deref().and_then(parse_rgb);
            for (vision, matrix) in visions {
                for (a, b) in pairs {
                    let [x, y] = [a, b].map(|r| simulate(color(r).expect("a colour"), matrix));
                    let apart: f64 = x.iter().zip(y).map(|(x, y)| (x - y).abs()).sum();
                    assert!(apart > 0.25, "{name} {vision} {a:?} {b:?}: {apart:.2}");
                }
            }
        }
    }

    #[test]
    fn mono_has_no_colour_at_any_depth() {
        for depth in [Depth::Mono, Depth::Ansi16, Depth::Ansi256, Depth::True] {
            let theme = Theme::resolve("mono", depth);
            assert!(
                theme
                    .styles
                    .iter()
                    .all(|s| s.fg.is_none() && s.bg.is_none())
            );
        }
        let forced = Theme::resolve("dark", Depth::Mono);
        assert_eq!(forced.name, "mono");
    }

    #[test]
    fn colours_map_to_their_nearest_of_256() {
        assert_eq!(nearest_256([255, 255, 255]), 231);
        assert_eq!(nearest_256([0, 95, 175]), 25);
        assert_eq!(nearest_256([8, 8, 8]), 232);
    }
}
