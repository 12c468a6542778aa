//! Charts over simulated time, newest right.
//!
//! ```text
//! pulls/s                      1234
//!  2000 |      .:|
//!     0 |.:|||||||
//! -76 ms            simulated time
//! ```
//!
//! With little room each chart is one line. A gap is time that was not watched.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::glyphs::GlyphSet;
use crate::tui::numbers;
use crate::tui::scene::{Charts, Series};
use crate::tui::theme::Role;

use super::{Ui, cut, put, put_right, spark};

/// Columns of the y axis.
const GUTTER: u16 = 7;
/// Columns of name and value of a chart of one line.
const LABEL: u16 = 20;

/// What a bar is.
pub fn title(charts: &Charts) -> String {
    format!("Charts: one bar is {}", numbers::time(charts.bin))
}

/// All charts and their common axis.
pub fn draw(charts: &Charts, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let count = charts.series.len() as u16;
    if count == 0 || area.height < 2 {
        return;
    }
    let each = (area.height - 1) / count;
    let spare = (area.height - 1) % count;
    let tall = each >= 3;
    let left = if tall { GUTTER } else { LABEL };
    let mut y = area.y;
    for (index, series) in charts.series.iter().enumerate() {
        let role = if index == 2 {
            Role::GraphB
        } else {
            Role::GraphA
        };
        let extra = u16::from((index as u16) < spare);
        let rows = if tall { each + extra } else { 1 };
        let part = Rect {
            y,
            height: rows,
            ..area
        }
        .intersection(area);
        if tall {
            chart(series, role, ui, part, buf);
        } else {
            line(series, role, ui, part, buf);
        }
        y += rows;
    }
    axis(
        charts,
        tall,
        left,
        ui,
        Rect {
            y,
            height: 1,
            ..area
        }
        .intersection(area),
        buf,
    );
}

fn now(series: &Series) -> Option<f64> {
    series.bins.last().copied().flatten()
}

fn top(bins: &[Option<f64>]) -> f64 {
    numbers::nice_ceil(bins.iter().flatten().copied().fold(0.0, f64::max))
}

fn tail(bins: &[Option<f64>], count: usize) -> &[Option<f64>] {
    &bins[bins.len().saturating_sub(count)..]
}

fn line(series: &Series, role: Role, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let name = format!("{} {}", series.title, series.unit);
    let clip = Rect {
        width: (LABEL - 7).min(area.width),
        ..area
    };
    put(buf, clip, area.x, area.y, &name, ui.style(Role::Dim));
    let value = now(series).map_or("-".to_owned(), numbers::short);
    put_right(
        buf,
        area,
        area.x + LABEL - 1,
        area.y,
        &value,
        ui.style(Role::Text),
    );
    let columns = area.width.saturating_sub(LABEL);
    let bins = tail(&series.bins, usize::from(columns));
    let top = top(bins);
    let first = area.right() - bins.len() as u16;
    for (x, bin) in (first..).zip(bins) {
        if let Some(value) = bin {
            put(
                buf,
                area,
                x,
                area.y,
                spark(*value, top, ui.glyphs),
                ui.style(role),
            );
        }
    }
}

fn chart(series: &Series, role: Role, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let name = format!("{} ({})", series.long, series.unit);
    let value = now(series).map_or("-".to_owned(), numbers::short);
    let room = usize::from(area.width).saturating_sub(value.len() + 1);
    let name = cut(&name, room);
    put(buf, area, area.x, area.y, &name, ui.style(Role::Text));
    put_right(
        buf,
        area,
        area.right(),
        area.y,
        &value,
        ui.style(Role::Text),
    );
    let plot = Rect {
        x: area.x + GUTTER.min(area.width),
        y: area.y + 1,
        width: area.width.saturating_sub(GUTTER),
        height: area.height - 1,
    };
    let per_column = bins_per_column(ui);
    let bins = tail(&series.bins, usize::from(plot.width) * per_column);
    let top = top(bins);
    let label = |y: u16, text: &str, buf: &mut Buffer| {
        put_right(
            buf,
            area,
            plot.x.saturating_sub(1),
            y,
            text,
            ui.style(Role::Dim),
        );
    };
    label(plot.y, &numbers::short(top), buf);
    label(plot.bottom() - 1, "0", buf);
    for y in plot.y..plot.bottom() {
        put(
            buf,
            area,
            plot.x.saturating_sub(1),
            y,
            ui.glyphs.frame.v,
            ui.style(Role::Border),
        );
    }
    let columns = bins.len().div_ceil(per_column);
    let first = plot.right() - columns as u16;
    // The newest bin is the right half of the last column.
    let offset = columns * per_column - bins.len();
    let bin = |index: usize| index.checked_sub(offset).and_then(|i| bins[i]);
    for column in 0..columns {
        for row in 0..plot.height {
            let glyph = match per_column {
                2 => braille(
                    [bin(2 * column), bin(2 * column + 1)],
                    top,
                    row,
                    plot.height,
                ),
                _ => block(bin(column), top, row, plot.height, ui),
            };
            let (x, y) = (first + column as u16, plot.bottom() - 1 - row);
            put(buf, plot, x, y, &glyph, ui.style(role));
        }
    }
}

/// Braille shows two bins in a column.
fn bins_per_column(ui: Ui<'_>) -> usize {
    if ui.glyphs.set == GlyphSet::Braille {
        2
    } else {
        1
    }
}

/// Filled steps of `row` (0 = lowest) when a bar of `share` of `rows` rows has
/// `steps` steps per row. A recorded zero fills one.
fn filled(value: f64, top: f64, row: u16, rows: u16, steps: usize) -> usize {
    let all = (value / top * f64::from(rows) * steps as f64)
        .round()
        .max(1.0) as usize;
    all.saturating_sub(usize::from(row) * steps).min(steps)
}

fn block(bin: Option<f64>, top: f64, row: u16, rows: u16, ui: Ui<'_>) -> String {
    let levels = ui.glyphs.levels;
    let steps = bin.map_or(0, |value| filled(value, top, row, rows, levels.len() - 1));
    levels[steps].to_owned()
}

fn braille(bins: [Option<f64>; 2], top: f64, row: u16, rows: u16) -> String {
    const DOTS: [[u32; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];
    let mut bits = 0;
    for (bin, dots) in bins.iter().zip(DOTS) {
        let steps = bin.map_or(0, |value| filled(value, top, row, rows, 4));
        bits |= dots[..steps].iter().sum::<u32>();
    }
    match bits {
        0 => " ".to_owned(),
        bits => char::from_u32(0x2800 + bits).unwrap_or(' ').to_string(),
    }
}

/// `-76 ms                  12.3 ms` under all charts.
fn axis(charts: &Charts, tall: bool, left: u16, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let columns = u64::from(area.width.saturating_sub(left));
    let per_column = if tall { bins_per_column(ui) as u64 } else { 1 };
    let span = columns * per_column * charts.bin;
    let text = format!("-{}", numbers::time(span));
    let style = ui.style(Role::Dim);
    let x = put(buf, area, area.x + left, area.y, &text, style);
    let end = "now";
    let rule_end = area.right().saturating_sub(end.len() as u16 + 1);
    for x in x + 1..rule_end {
        put(
            buf,
            area,
            x,
            area.y,
            ui.glyphs.axis[0],
            ui.style(Role::Border),
        );
    }
    put_right(buf, area, area.right(), area.y, end, style);
    put(buf, area, area.x, area.y, "time", style);
}
