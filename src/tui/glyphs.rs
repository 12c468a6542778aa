//! Characters the screen is drawn with, in three sets.
//!
//! No icon fonts and no emoji: every glyph is one column in any terminal font.

/// Which characters the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlyphSet {
    /// Box lines, blocks and braille dots.
    Braille,
    /// Box lines and blocks.
    Block,
    /// Nothing above 127.
    Ascii,
}

/// Lines of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Horizontal.
    pub h: &'static str,
    /// Vertical.
    pub v: &'static str,
    /// Corners: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
}

/// The characters of one set.
#[derive(Debug)]
pub struct Glyphs {
    /// Which set.
    pub set: GlyphSet,
    /// An idle CPU.
    pub idle: &'static str,
    /// An idle CPU while a task it could run waits.
    pub starved: &'static str,
    /// A CPU searching for work.
    pub search: &'static str,
    /// Spinning at a barrier.
    pub spin: &'static str,
    /// Two or more tasks.
    pub overload: &'static str,
    /// A search that found nothing.
    pub miss: &'static str,
    /// An offline CPU.
    pub offline: &'static str,
    /// Pulled from the left, right, above, below; before a number: from.
    pub pulled: [&'static str; 4],
    /// Between parts of a line.
    pub bar: &'static str,
    /// Before the selected row.
    pub cursor: &'static str,
    /// Thin frame.
    pub frame: Frame,
    /// Frame of the focused pane.
    pub thick: Frame,
    /// Horizontal rule and tick of an axis.
    pub axis: [&'static str; 2],
    /// Bars from empty to full.
    pub levels: &'static [&'static str],
}

const BLOCKS: &[&str] = &[" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

const UNICODE: Glyphs = Glyphs {
    set: GlyphSet::Braille,
    idle: "·",
    starved: "○",
    search: "?",
    spin: "~",
    overload: "!",
    miss: "×",
    offline: "-",
    pulled: ["←", "→", "↑", "↓"],
    bar: "│",
    cursor: "›",
    frame: Frame {
        h: "─",
        v: "│",
        corners: ["┌", "┐", "└", "┘"],
    },
    thick: Frame {
        h: "━",
        v: "┃",
        corners: ["┏", "┓", "┗", "┛"],
    },
    axis: ["─", "┬"],
    levels: BLOCKS,
};

static BRAILLE_SET: Glyphs = UNICODE;

static BLOCK_SET: Glyphs = Glyphs {
    set: GlyphSet::Block,
    ..UNICODE
};

static ASCII_SET: Glyphs = Glyphs {
    set: GlyphSet::Ascii,
    idle: ".",
    starved: "o",
    search: "?",
    spin: "~",
    overload: "!",
    miss: "x",
    offline: "-",
    pulled: ["<", ">", "^", "v"],
    bar: "|",
    cursor: ">",
    frame: Frame {
        h: "-",
        v: "|",
        corners: ["+", "+", "+", "+"],
    },
    thick: Frame {
        h: "=",
        v: "#",
        corners: ["#", "#", "#", "#"],
    },
    axis: ["-", "+"],
    levels: &[" ", "_", ".", ":", "-", "=", "+", "*", "#"],
};

impl GlyphSet {
    /// The characters.
    pub fn glyphs(self) -> &'static Glyphs {
        match self {
            Self::Braille => &BRAILLE_SET,
            Self::Block => &BLOCK_SET,
            Self::Ascii => &ASCII_SET,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ascii_set_has_no_byte_above_127() {
        let all = format!("{ASCII_SET:?}");
        assert!(all.is_ascii(), "{all}");
    }

    #[test]
    fn states_differ_in_every_set() {
        for set in [GlyphSet::Braille, GlyphSet::Block, GlyphSet::Ascii] {
            let g = set.glyphs();
            let mut marks = vec![g.idle, g.starved, g.search, g.spin, g.overload, g.miss];
            marks.push(g.offline);
            marks.extend(g.pulled);
            let count = marks.len();
            marks.sort_unstable();
            marks.dedup();
            assert_eq!(marks.len(), count, "{set:?}");
        }
    }
}
