//! Painting: one file per pane, nothing changed, and a map of what is where for
//! the mouse.

mod charts;
mod classes;
mod cpu;
pub mod levels;
mod lines;
mod machine;
mod popup;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::sim::CpuId;

use super::glyphs::Glyphs;
use super::layout::{self, MIN_SIZE, Screen};
use super::scene::{self, Scene};
use super::state::{Pane, State};
use super::theme::{Role, Theme};

pub use lines::NOT_MODELLED;

/// What a point of the screen stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A CPU.
    Cpu(CpuId),
    /// A pane.
    Pane(Pane),
    /// A row of the open list or panel.
    Row(usize),
    /// An open layer, beside its rows.
    Layer,
}

/// Areas and what they stand for; later ones lie on top.
#[derive(Clone, Debug, Default)]
pub struct HitMap {
    areas: Vec<(Rect, Target)>,
}

impl HitMap {
    /// Adds an area on top of the others.
    pub fn push(&mut self, area: Rect, target: Target) {
        if !area.is_empty() {
            self.areas.push((area, target));
        }
    }

    /// What is at this column and row.
    pub fn at(&self, x: u16, y: u16) -> Option<Target> {
        let hit = |area: &Rect| area.contains((x, y).into());
        let found = self.areas.iter().rev().find(|(area, _)| hit(area));
        found.map(|(_, target)| *target)
    }
}

/// How things look.
#[derive(Clone, Copy)]
pub struct Ui<'a> {
    /// Colours.
    pub theme: &'a Theme,
    /// Characters.
    pub glyphs: &'static Glyphs,
}

impl Ui<'_> {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }
}

/// Paints the whole screen as the world is now.
pub fn draw(state: &State, buf: &mut Buffer) -> HitMap {
    // Braille shows two bins in a column.
    let scene = scene::build(state, usize::from(buf.area.width) * 2);
    draw_scene(state, &scene, buf)
}

/// Paints the whole screen of a scene.
pub fn draw_scene(state: &State, scene: &Scene, buf: &mut Buffer) -> HitMap {
    let ui = Ui {
        theme: &state.theme,
        glyphs: state.glyphs,
    };
    let mut hits = HitMap::default();
    let area = buf.area;
    buf.set_style(area, ui.theme.base);
    let Some(screen) = layout::screen((area.width, area.height), &state.shape, state.wish()) else {
        too_small(area, ui, buf);
        return hits;
    };
    lines::header(&scene.header, ui, screen.header, buf);
    lines::banner(&scene.waste, ui, screen.banner, buf);
    lines::note(ui, screen.note, buf);
    for &(pane, area) in &screen.panes {
        hits.push(area, Target::Pane(pane));
        draw_pane(state, scene, &screen, pane, area, ui, buf, &mut hits);
    }
    popup::draw(state, ui, screen.body, buf, &mut hits);
    lines::footer(state, ui, screen.footer, buf);
    hits
}

#[expect(clippy::too_many_arguments, reason = "one dispatch, called once")]
fn draw_pane(
    state: &State,
    scene: &Scene,
    screen: &Screen,
    pane: Pane,
    area: Rect,
    ui: Ui<'_>,
    buf: &mut Buffer,
    hits: &mut HitMap,
) {
    let title = match pane {
        Pane::Machine => machine::title(scene, &screen.grid, area.width),
        Pane::Levels => levels::title(&scene.levels),
        Pane::Charts => charts::title(&scene.charts),
        Pane::Cpu => cpu::title(&scene.cpu),
        Pane::Classes => "Task classes".to_owned(),
    };
    let title = format!("{} {title}", pane.number());
    frame(&title, state.focus == pane, ui, area, buf);
    let inside = layout::inner(area);
    match pane {
        Pane::Machine => machine::draw(scene, screen, state.selected, ui, inside, buf, hits),
        Pane::Levels => levels::draw(&scene.levels, ui, inside, buf),
        Pane::Charts => charts::draw(&scene.charts, ui, inside, buf),
        Pane::Cpu => cpu::draw(&scene.cpu, ui, inside, buf),
        Pane::Classes => classes::draw(&scene.classes, ui, inside, buf),
    }
}

/// The one message of a terminal that is too small.
fn too_small(area: Rect, ui: Ui<'_>, buf: &mut Buffer) {
    let lines = [
        "Terminal too small".to_owned(),
        format!("have {} x {}", area.width, area.height),
        format!("need {} x {}", MIN_SIZE.0, MIN_SIZE.1),
    ];
    let count = lines.len() as u16;
    let top = area.y + area.height.saturating_sub(count) / 2;
    for (y, line) in (top..).zip(&lines) {
        let width = (line.len() as u16).min(area.width);
        let x = area.x + (area.width - width) / 2;
        put(buf, area, x, y, line, ui.style(Role::Text));
    }
}

/// Writes `text` at a place inside `clip`, cut at its right edge; returns the
/// column after it.
pub fn put(buf: &mut Buffer, clip: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    let clip = clip.intersection(buf.area);
    if y < clip.y || y >= clip.bottom() || x < clip.x || x >= clip.right() {
        return x;
    }
    buf.set_stringn(x, y, text, usize::from(clip.right() - x), style)
        .0
}

/// Writes `text` so that it ends before column `right`.
pub fn put_right(buf: &mut Buffer, clip: Rect, right: u16, y: u16, text: &str, style: Style) {
    let width = text.chars().count() as u16;
    put(
        buf,
        clip,
        right.saturating_sub(width).max(clip.x),
        y,
        text,
        style,
    );
}

/// Parts of a line with their roles.
pub type Parts<'a> = [(&'a str, Role)];

/// Writes parts one after the other.
pub fn put_parts(
    buf: &mut Buffer,
    clip: Rect,
    mut x: u16,
    y: u16,
    parts: &Parts<'_>,
    ui: Ui<'_>,
) -> u16 {
    for (text, role) in parts {
        x = put(buf, clip, x, y, text, ui.style(*role));
    }
    x
}

/// A frame with a title; the focused one is thick and its title bold.
pub fn frame(title: &str, focused: bool, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    if area.width < 2 || area.height < 2 {
        return;
    }
    let (lines, line, heading) = if focused {
        (ui.glyphs.thick, Role::BorderFocus, Role::TitleFocus)
    } else {
        (ui.glyphs.frame, Role::Border, Role::Title)
    };
    let style = ui.style(line);
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    for x in area.x + 1..right {
        put(buf, area, x, area.y, lines.h, style);
        put(buf, area, x, bottom, lines.h, style);
    }
    for y in area.y + 1..bottom {
        put(buf, area, area.x, y, lines.v, style);
        put(buf, area, right, y, lines.v, style);
    }
    let [top_left, top_right, bottom_left, bottom_right] = lines.corners;
    put(buf, area, area.x, area.y, top_left, style);
    put(buf, area, right, area.y, top_right, style);
    put(buf, area, area.x, bottom, bottom_left, style);
    put(buf, area, right, bottom, bottom_right, style);
    if !title.is_empty() && area.width > 4 {
        let text = format!(" {} ", cut(title, usize::from(area.width) - 4));
        put(buf, area, area.x + 1, area.y, &text, ui.style(heading));
    }
}

/// `text` in at most `width` columns, cut in the middle with `..`.
pub fn cut(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= width {
        return text.to_owned();
    }
    if width < 4 {
        return chars.into_iter().take(width).collect();
    }
    let head = (width - 2).div_ceil(2);
    let tail = width - 2 - head;
    let (start, end) = (&chars[..head], &chars[chars.len() - tail..]);
    start.iter().chain(&['.', '.']).chain(end).collect()
}

/// `text` in lines of at most `width` columns, broken at blanks.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Bars of one row: a value of `top` fills the cell.
pub fn spark(value: f64, top: f64, glyphs: &Glyphs) -> &'static str {
    let steps = glyphs.levels.len() - 1;
    let share = if top > 0.0 { value / top } else { 0.0 };
    // A recorded zero shows the lowest bar: a gap means nothing was recorded.
    let level = (share * steps as f64).round().max(1.0) as usize;
    glyphs.levels[level.min(steps)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_the_middle() {
        assert_eq!(cut("threadripper-9960x", 11), "threa..960x");
        assert_eq!(cut("short", 11), "short");
        assert_eq!(cut("abcdef", 3), "abc");
    }

    #[test]
    fn text_wraps_at_blanks() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }
}
