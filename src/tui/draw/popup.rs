//! Layers over the main screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::layout::inner;
use crate::tui::list;
use crate::tui::pages;
use crate::tui::panel;
use crate::tui::params::Kind;
use crate::tui::state::{Layer, List, Page, Panel, Prompt, PromptKind, State};
use crate::tui::text::TextField;
use crate::tui::theme::Role;

use super::{HitMap, Target, Ui, cut, frame, put, put_parts, put_right, wrap};

/// All layers, the last on top.
pub fn draw(state: &State, ui: Ui<'_>, body: Rect, buf: &mut Buffer, hits: &mut HitMap) {
    for layer in &state.layers {
        match layer {
            Layer::Page(page) => draw_page(state, page, ui, body, buf, hits),
            Layer::List(list) => draw_list(state, list, ui, body, buf, hits),
            Layer::Panel(panel) => draw_panel(state, panel, ui, body, buf, hits),
            Layer::Prompt(prompt) => draw_prompt(prompt, ui, body, buf, hits),
        }
    }
}

/// Clears and frames an area of this size in the middle of `body`; returns its
/// inside.
fn window(
    title: &str,
    size: (usize, usize),
    ui: Ui<'_>,
    body: Rect,
    buf: &mut Buffer,
    hits: &mut HitMap,
) -> Rect {
    let fit = |n: usize, most: u16| u16::try_from(n).unwrap_or(most).min(most);
    let (width, height) = (fit(size.0 + 2, body.width), fit(size.1 + 2, body.height));
    let area = Rect {
        x: body.x + (body.width - width) / 2,
        y: body.y + (body.height - height) / 2,
        width,
        height,
    };
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.reset();
                cell.set_style(ui.theme.base);
            }
        }
    }
    frame(title, true, ui, area, buf);
    hits.push(area, Target::Layer);
    inner(area)
}

/// `text` cut at its end, with two dots.
fn cut_end(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(2)).collect();
    format!("{}..", kept.trim_end())
}

/// First row shown so that `row` is, of `rows` visible ones.
fn scroll_to(row: usize, rows: usize, count: usize) -> usize {
    row.saturating_sub(rows / 2).min(count.saturating_sub(rows))
}

/// `12-30 of 60` at the lower edge if not everything is shown.
fn position(first: usize, rows: usize, count: usize, ui: Ui<'_>, inside: Rect, buf: &mut Buffer) {
    if rows < count {
        let text = format!(" {}-{} of {count} ", first + 1, (first + rows).min(count));
        let clip = Rect {
            height: inside.height + 1,
            ..inside
        };
        put_right(
            buf,
            clip,
            inside.right(),
            inside.bottom(),
            &text,
            ui.style(Role::Dim),
        );
    }
}

fn field_line(label: &str, field: &TextField, ui: Ui<'_>, area: Rect, y: u16, buf: &mut Buffer) {
    let x = put(buf, area, area.x, y, label, ui.style(Role::Key));
    let text = field.text();
    // The end with the cursor is what is shown of a long text.
    let room = usize::from(area.right().saturating_sub(x)).saturating_sub(1);
    let skip = field.cursor().saturating_sub(room);
    let shown: String = text.chars().skip(skip).chain([' ']).collect();
    put(buf, area, x, y, &shown, ui.style(Role::Text));
    let cursor = x + (field.cursor() - skip) as u16;
    if let Some(cell) = buf.cell_mut((cursor, y)).filter(|_| cursor < area.right()) {
        cell.set_style(ui.style(Role::Selected));
    }
}

fn draw_page(
    state: &State,
    page: &Page,
    ui: Ui<'_>,
    body: Rect,
    buf: &mut Buffer,
    hits: &mut HitMap,
) {
    let lines = pages::lines(state, page);
    let filtering = page.typing || !page.filter.is_empty();
    let title = pages::title(state, page.kind);
    let chars = |line: &pages::Line| line.iter().map(|(t, _)| t.chars().count()).sum::<usize>();
    let longest = lines.iter().map(chars).max().unwrap_or(0);
    let width = (longest + 2).clamp(40, 104);
    let inside = window(
        &title,
        (width, lines.len() + usize::from(filtering)),
        ui,
        body,
        buf,
        hits,
    );
    let mut text = inside;
    if filtering && text.height > 0 {
        field_line("/", &page.filter, ui, inside, inside.y, buf);
        text.y += 1;
        text.height -= 1;
    }
    let rows = usize::from(text.height);
    let first = page.scroll.min(lines.len().saturating_sub(rows));
    for (y, line) in (text.y..text.bottom()).zip(lines.iter().skip(first)) {
        let parts: Vec<(&str, Role)> = line.iter().map(|(t, role)| (t.as_str(), *role)).collect();
        put_parts(buf, text, text.x + 1, y, &parts, ui);
    }
    if lines.is_empty() {
        put(
            buf,
            text,
            text.x,
            text.y,
            "no line has this text",
            ui.style(Role::Dim),
        );
    }
    position(first, rows, lines.len(), ui, inside, buf);
}

fn draw_list(
    state: &State,
    list: &List,
    ui: Ui<'_>,
    body: Rect,
    buf: &mut Buffer,
    hits: &mut HitMap,
) {
    let items = list::items(state, list);
    let filtering = list.typing || !list.filter.is_empty();
    let title = list::title(list.kind);
    let height = items.len().max(1) + usize::from(filtering);
    let inside = window(title, (96, height), ui, body, buf, hits);
    let mut text = inside;
    if filtering && text.height > 0 {
        field_line("/", &list.filter, ui, inside, inside.y, buf);
        text.y += 1;
        text.height -= 1;
    }
    let rows = usize::from(text.height);
    let first = scroll_to(list.row, rows, items.len());
    for (offset, (index, item)) in items.iter().enumerate().skip(first).take(rows).enumerate() {
        let line = Rect {
            y: text.y + offset as u16,
            height: 1,
            ..text
        };
        let selected = index == list.row;
        let mark = if selected { ui.glyphs.cursor } else { " " };
        let now = if item.current { "*" } else { " " };
        let head = format!("{mark}{now}{:<24} ", cut(&item.name, 24));
        let x = put(buf, line, line.x, line.y, &head, ui.style(Role::Text));
        let room = usize::from(line.right().saturating_sub(x));
        put(
            buf,
            line,
            x,
            line.y,
            &cut(&item.about, room),
            ui.style(Role::Dim),
        );
        if selected {
            buf.set_style(line, ui.style(Role::Selected));
        }
        hits.push(line, Target::Row(index));
    }
    if items.is_empty() {
        put(
            buf,
            text,
            text.x + 2,
            text.y,
            "nothing has this text",
            ui.style(Role::Dim),
        );
    }
    position(first, rows, items.len(), ui, inside, buf);
}

fn draw_panel(
    state: &State,
    panel: &Panel,
    ui: Ui<'_>,
    body: Rect,
    buf: &mut Buffer,
    hits: &mut HitMap,
) {
    const HELP_ROWS: u16 = 2;
    let rows = panel::rows(state, panel.kind);
    let title = panel::title(state, panel.kind);
    let notes = rows.iter().any(|row| !row.note.is_empty());
    let size = (
        if notes { 104 } else { 64 },
        rows.len() + usize::from(HELP_ROWS) + 1,
    );
    let inside = window(&title, size, ui, body, buf, hits);
    let list = Rect {
        height: inside.height.saturating_sub(HELP_ROWS + 1),
        ..inside
    };
    let visible = usize::from(list.height);
    let first = scroll_to(panel.row, visible, rows.len());
    let name_width = rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(32);
    let widest = rows.iter().map(|row| row.kind.width()).max().unwrap_or(0);
    let value_width = widest.max(12) as u16;
    let shown = rows.iter().enumerate().skip(first).take(visible);
    for (y, (index, row)) in (list.y..).zip(shown) {
        let line = Rect {
            y,
            height: 1,
            ..list
        };
        let selected = index == panel.row;
        let mark = if selected { ui.glyphs.cursor } else { " " };
        let name = format!("{mark} {:<name_width$} ", cut(&row.name, name_width));
        let role = match row.kind {
            Kind::Unused => Role::Dim,
            _ => Role::Text,
        };
        let x = put(buf, line, line.x, y, &name, ui.style(role));
        if let (true, Some(typed)) = (selected, &panel.typed) {
            field_line(
                "",
                typed,
                ui,
                Rect {
                    x,
                    width: line.right() - x,
                    ..line
                },
                y,
                buf,
            );
        } else {
            let value = row.kind.show(row.value);
            let role = if role == Role::Dim {
                role
            } else {
                Role::Header
            };
            put_right(buf, line, x + value_width, y, &value, ui.style(role));
            let x = x + value_width + 1;
            let x = put(buf, line, x, y, row.unit, ui.style(Role::Dim));
            let room = usize::from(line.right().saturating_sub(x + 1));
            let note = cut_end(&row.note, room);
            put(buf, line, x + 1, y, &note, ui.style(Role::Dim));
            if selected {
                buf.set_style(line, ui.style(Role::Selected));
            }
        }
        hits.push(line, Target::Row(index));
    }
    if let Some(row) = rows.get(panel.row) {
        let lines = wrap(&row.help, usize::from(inside.width).max(1));
        let top = inside.bottom().saturating_sub(HELP_ROWS);
        for (y, line) in (top..inside.bottom()).zip(lines) {
            put(buf, inside, inside.x, y, &line, ui.style(Role::Dim));
        }
    }
    position(first, visible, rows.len(), ui, inside, buf);
}

fn draw_prompt(prompt: &Prompt, ui: Ui<'_>, body: Rect, buf: &mut Buffer, hits: &mut HitMap) {
    let (title, label) = match prompt.kind {
        PromptKind::Seed => ("Seed (restarts)", "seed: "),
        PromptKind::Find => ("Select a CPU", "CPU: "),
    };
    let inside = window(title, (34, 1), ui, body, buf, hits);
    field_line(label, &prompt.field, ui, inside, inside.y, buf);
}
