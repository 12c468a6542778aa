//! The level table: one column per domain level, one row per figure.
//!
//! ```text
//!                  SMT    MC   PKG
//! CPUs               2    12    48
//! ratio /1024    512   340   256
//! history       ▁▂▃▄▅ ▁▂▃▄▅ ▁▂▃▄▅
//! calls          12345 12345 12345
//! ...
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::numbers;
use crate::tui::scene::{LevelColumn, Levels};
use crate::tui::theme::Role;

use super::{Ui, put, put_right, spark};

/// Columns of the row headings.
const HEAD: u16 = 12;

/// Whose numbers, and whether rates.
pub fn title(levels: &Levels) -> String {
    let what = if levels.rates {
        "per second"
    } else {
        "since start"
    };
    format!("Newidle, {}, {what}", levels.scope)
}

type Figure = fn(&LevelColumn) -> String;

/// Rows of figures per level; the first is left out where there is little room.
const ROWS: [(&str, Role, Figure); 11] = [
    ("CPUs", Role::Dim, |c| c.span.to_string()),
    ("ratio /1024", Role::Text, |c| {
        c.ratio.map_or("-".to_owned(), |ratio| ratio.to_string())
    }),
    ("history", Role::GraphA, |_| String::new()),
    ("calls", Role::Text, |c| numbers::count(c.calls)),
    ("searches", Role::Text, |c| numbers::count(c.runs)),
    ("pulls", Role::Text, |c| numbers::count(c.pulls)),
    ("no overload", Role::Dim, |c| {
        numbers::count(c.not_overloaded)
    }),
    ("cost gate", Role::Dim, |c| numbers::count(c.cost_gate)),
    ("dice skips", Role::Dim, |c| numbers::count(c.policy)),
    ("max cost us", Role::Text, |c| numbers::micros(c.max_cost)),
    ("gated CPUs", Role::Text, |c| {
        format!("{}/{}", c.closed, c.cpus)
    }),
];

/// Rows of the whole table.
pub const TABLE_ROWS: u16 = ROWS.len() as u16 + 2;

/// The table.
pub fn draw(levels: &Levels, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let count = levels.columns.len() as u16;
    if count == 0 {
        let text = "This CPU has no sched domain.";
        put(buf, area, area.x, area.y, text, ui.style(Role::Dim));
        return;
    }
    let width = (area.width.saturating_sub(HEAD) / count).clamp(6, 24);
    let right_of = |index: usize| area.x + HEAD + width * (index as u16 + 1);
    for (index, column) in levels.columns.iter().enumerate() {
        let style = ui.style(Role::Title);
        put_right(buf, area, right_of(index), area.y, &column.name, style);
    }
    let skipped = usize::from(area.height < TABLE_ROWS);
    let mut y = area.y + 1;
    for (name, role, figure) in &ROWS[skipped..] {
        put(buf, area, area.x, y, name, ui.style(Role::Dim));
        for (index, column) in levels.columns.iter().enumerate() {
            put_right(
                buf,
                area,
                right_of(index),
                y,
                &figure(column),
                ui.style(*role),
            );
            if *name == "history" {
                history(column, right_of(index), width - 1, y, ui, area, buf);
            }
        }
        y += 1;
    }
    // One figure per CPU, not per level: what the costs above are held against.
    put(buf, area, area.x, y, "avg_idle us", ui.style(Role::Dim));
    let average = numbers::micros(levels.avg_idle);
    put_right(buf, area, right_of(0), y, &average, ui.style(Role::Text));
}

fn history(
    column: &LevelColumn,
    right: u16,
    width: u16,
    y: u16,
    ui: Ui<'_>,
    clip: Rect,
    buf: &mut Buffer,
) {
    let bins = column.history.iter().rev();
    for (offset, bin) in (1..=width).zip(bins) {
        if let Some(ratio) = bin {
            let bar = spark(f64::from(*ratio), 1024.0, ui.glyphs);
            put(buf, clip, right - offset, y, bar, ui.style(Role::GraphA));
        }
    }
}
