//! The task classes: the mix and what it has done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::numbers;
use crate::tui::scene::ClassRow;
use crate::tui::theme::Role;

use super::{Ui, cut, put, put_right};

/// Column headings and widths after the name.
const COLUMNS: [(&str, u16); 5] = [
    ("alive", 6),
    ("share%", 7),
    ("rate%", 6),
    ("done", 6),
    ("per s", 7),
];

/// One row per class.
pub fn draw(classes: &[ClassRow], ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let fixed: u16 = COLUMNS.iter().map(|(_, width)| width).sum();
    let name_width = area.width.saturating_sub(fixed + 2).clamp(6, 28);
    let rights: Vec<u16> = COLUMNS
        .iter()
        .scan(area.x + 2 + name_width, |right, (_, width)| {
            *right += width;
            Some(*right)
        })
        .collect();
    put(buf, area, area.x, area.y, "class", ui.style(Role::Dim));
    for ((name, _), &right) in COLUMNS.iter().zip(&rights) {
        put_right(buf, area, right, area.y, name, ui.style(Role::Dim));
    }
    let rows = usize::from(area.height.saturating_sub(1));
    let folds = classes.len() > rows;
    let shown = if folds {
        rows.saturating_sub(1)
    } else {
        classes.len()
    };
    let mut y = area.y + 1;
    for (index, class) in classes.iter().take(shown).enumerate() {
        let role = if class.external {
            Role::Dim
        } else {
            Role::class(index)
        };
        put(
            buf,
            area,
            area.x,
            y,
            &class.letter.to_string(),
            ui.style(role),
        );
        let name = cut(&class.name, usize::from(name_width));
        let x = put(buf, area, area.x + 2, y, &name, ui.style(Role::Text));
        // The unit stands beside the name if there is room for all of it.
        let unit = format!(" {}", class.unit);
        if !class.unit.is_empty() && x + unit.len() as u16 <= area.x + 2 + name_width {
            put(buf, area, x, y, &unit, ui.style(Role::Dim));
        }
        let figures = [
            class.alive.to_string(),
            numbers::short(f64::from(class.share_permille) / 10.0),
            class.intensity_pct.to_string(),
            if class.unit.is_empty() {
                String::new()
            } else {
                numbers::count(class.done)
            },
            match class.rate {
                Some(rate) if !class.unit.is_empty() => numbers::short(rate),
                _ => String::new(),
            },
        ];
        for (figure, &right) in figures.iter().zip(&rights) {
            put_right(buf, area, right, y, figure, ui.style(Role::Text));
        }
        y += 1;
    }
    if folds {
        let text = format!("+{} more classes", classes.len() - shown);
        put(buf, area, area.x, y, &text, ui.style(Role::Dim));
    }
}
