//! The grid.
//!
//! ```text
//! +CCX 0 0-5,24-29----+   A1   runs a task of class A
//! |A1 A2!· A1~? A1   |   A2!  and one more waits
//! |A1 ○ A2<17 A1 A1  |   A2<17 pulled it from CPU 17
//! +-------------------+   ·  idle   ○ idle while a task waits   ? searching
//! ```
//!
//! Colour is never the only sign: letters, digits and marks tell it all.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::sim::CpuId;
use crate::tui::layout::Screen;
use crate::tui::layout::grid::{self, CellOf, Decor, Fold, GridCell, GridPlan};
use crate::tui::scene::{Cell, Doing, Flash, Scene};
use crate::tui::theme::Role;

use super::{HitMap, Target, Ui, cut, frame, put, put_parts, spark};

/// Title of the pane: what a cell is, and how many of what, as far as it fits.
pub fn title(scene: &Scene, plan: &GridPlan, width: u16) -> String {
    let mut parts = scene.shape.summary();
    if plan.fold != Fold::Threads {
        parts.insert(1, format!("a cell is a {}", plan.fold.noun()));
    }
    let mut title = String::from("Machine");
    for part in parts {
        if title.len() + 2 + part.len() + 6 > usize::from(width) {
            break;
        }
        title.push_str(", ");
        title.push_str(&part);
    }
    title
}

/// Grid and legend.
pub fn draw(
    scene: &Scene,
    screen: &Screen,
    selected: CpuId,
    ui: Ui<'_>,
    inside: Rect,
    buf: &mut Buffer,
    hits: &mut HitMap,
) {
    let area = screen.grid_area;
    let (cells, decor) = grid::place(&scene.shape, &screen.grid, area);
    // A list of CPUs is left out rather than cut: half of it misleads. And if one
    // does not fit, none is shown: the boxes are to look alike.
    let fits = |item: &Decor| item.text.len() + 4 <= usize::from(item.area.width);
    let lists = decor.iter().filter(|item| item.frame).all(fits);
    for item in &decor {
        draw_decor(item, lists, ui, area, buf);
    }
    let index = cell_of_cpu(scene, &cells);
    let selected_cell = index.get(selected.index()).copied().flatten();
    for (number, cell) in cells.iter().enumerate() {
        let merged = merge(scene, cell);
        let direction = merged.cell.flash.and_then(|flash| match flash {
            Flash::Pulled(from) => {
                let source = index.get(from.index()).copied().flatten()?;
                Some(direction(cell.area, cells[source].area))
            }
            Flash::Missed => None,
        });
        draw_cell(scene, cell, &merged, direction, ui, buf);
        if selected_cell == Some(number) {
            mark_selected(cell.area, ui, buf);
        }
        hits.push(cell.area, Target::Cpu(cell.first));
    }
    let used = area.bottom().saturating_sub(inside.y);
    let below = Rect {
        y: area.bottom(),
        height: inside.height.saturating_sub(used),
        ..inside
    };
    legend(scene, &screen.grid, ui, below, buf);
}

fn draw_decor(item: &Decor, list: bool, ui: Ui<'_>, clip: Rect, buf: &mut Buffer) {
    if item.frame {
        let name_end = item
            .text
            .match_indices(' ')
            .nth(1)
            .map_or(item.text.len(), |(i, _)| i);
        let text = if list {
            &item.text
        } else {
            &item.text[..name_end]
        };
        frame(text, false, ui, item.area, buf);
    } else {
        let style = ui.style(Role::Title);
        put(buf, clip, item.area.x, item.area.y, &item.text, style);
    }
}

/// For each CPU the cell it is in.
fn cell_of_cpu(scene: &Scene, cells: &[GridCell]) -> Vec<Option<usize>> {
    let mut index = vec![None; scene.shape.nr_cpus()];
    let mut by_group = std::collections::BTreeMap::new();
    for (number, cell) in cells.iter().enumerate() {
        match cell.of {
            CellOf::Cpu(cpu) => index[cpu.index()] = Some(number),
            CellOf::Core(group) | CellOf::Llc(group) | CellOf::Node(group) => {
                by_group.insert(group, number);
            }
            CellOf::More(_) => {}
        }
    }
    for (cpu, place) in scene.shape.places.iter().enumerate() {
        let group = match cells.first().map(|cell| cell.of) {
            Some(CellOf::Core(_)) => place.core,
            Some(CellOf::Llc(_)) => place.llc,
            Some(CellOf::Node(_)) => place.node,
            _ => continue,
        };
        index[cpu] = by_group.get(&group).copied();
    }
    index
}

/// What is left, right, above or below: index into [`crate::tui::glyphs::Glyphs::pulled`].
fn direction(to: Rect, from: Rect) -> usize {
    let dx = i32::from(from.x) - i32::from(to.x);
    let dy = i32::from(from.y) - i32::from(to.y);
    // Rows are about twice as high as columns are wide.
    match (dx.abs() > 2 * dy.abs(), dx < 0, dy < 0) {
        (true, true, _) => 0,
        (true, false, _) => 1,
        (false, _, true) => 2,
        (false, _, false) => 3,
    }
}

/// CPUs of a cell taken together.
struct Merged {
    cell: Cell,
    cpus: usize,
    busy: usize,
    starved: usize,
    waiting: u32,
    pulled: usize,
}

fn merge(scene: &Scene, grid_cell: &GridCell) -> Merged {
    if let CellOf::Cpu(cpu) = grid_cell.of {
        let cell = scene.cells[cpu.index()];
        return merged(&[cell]);
    }
    let places = scene.shape.places.iter();
    let inside: Vec<Cell> = places
        .zip(&scene.cells)
        .enumerate()
        .filter(|(cpu, (place, _))| grid_cell.contains(CpuId::from_index(*cpu), **place))
        .map(|(_, (_, cell))| *cell)
        .collect();
    merged(&inside)
}

fn merged(cells: &[Cell]) -> Merged {
    let rank = |doing: Doing| match doing {
        Doing::Run(_) => 0,
        Doing::Spin(_) => 1,
        Doing::Search => 2,
        Doing::Starved => 3,
        Doing::Idle => 4,
        Doing::Offline => 5,
    };
    let busy = |cell: &&Cell| matches!(cell.doing, Doing::Run(_) | Doing::Spin(_));
    let is_pull = |cell: &&Cell| matches!(cell.flash, Some(Flash::Pulled(_)));
    let doing = cells.iter().map(|cell| cell.doing).min_by_key(|d| rank(*d));
    let pull = cells.iter().find(is_pull).and_then(|cell| cell.flash);
    Merged {
        cell: Cell {
            doing: doing.unwrap_or(Doing::Offline),
            nr_running: cells.iter().map(|cell| cell.nr_running).sum(),
            flash: pull.or_else(|| cells.iter().find_map(|cell| cell.flash)),
        },
        cpus: cells.len(),
        busy: cells.iter().filter(busy).count(),
        starved: cells.iter().filter(|c| c.doing == Doing::Starved).count(),
        waiting: cells.iter().map(|c| c.nr_running.saturating_sub(1)).sum(),
        pulled: cells.iter().filter(is_pull).count(),
    }
}

fn draw_cell(
    scene: &Scene,
    cell: &GridCell,
    merged: &Merged,
    direction: Option<usize>,
    ui: Ui<'_>,
    buf: &mut Buffer,
) {
    match cell.of {
        CellOf::Cpu(_) | CellOf::Core(_) => {
            draw_small(scene, cell.area, merged, direction, ui, buf);
        }
        CellOf::Llc(number) => draw_llc(number, cell.area, merged, direction, ui, buf),
        CellOf::Node(index) => draw_node(scene, index, cell.area, merged, ui, buf),
        CellOf::More(nodes) => {
            let text = format!("+{nodes} more nodes");
            put(
                buf,
                cell.area,
                cell.area.x,
                cell.area.y,
                &text,
                ui.style(Role::Warn),
            );
        }
    }
}

/// The letter of what runs, or the mark of not running.
fn letter(scene: &Scene, doing: Doing, ui: Ui<'_>) -> (String, Role) {
    let class = |index: usize| {
        let letter = scene.classes.get(index).map_or('?', |class| class.letter);
        (letter.to_string(), Role::class(index))
    };
    match doing {
        Doing::Offline => (ui.glyphs.offline.to_owned(), Role::Dim),
        Doing::Idle => (ui.glyphs.idle.to_owned(), Role::Idle),
        Doing::Starved => (ui.glyphs.starved.to_owned(), Role::Starved),
        Doing::Search => (ui.glyphs.search.to_owned(), Role::Search),
        Doing::Run(index) | Doing::Spin(index) => class(index),
    }
}

/// Count in `width` columns; what does not fit is `+`.
fn count(value: u32, width: usize) -> String {
    let text = match value {
        0 => String::new(),
        n if n.to_string().len() > width => "+".to_owned(),
        n => n.to_string(),
    };
    format!("{text:>width$}")
}

/// A CPU or core: letter, count, mark, and from where a task was pulled.
fn draw_small(
    scene: &Scene,
    area: Rect,
    merged: &Merged,
    direction: Option<usize>,
    ui: Ui<'_>,
    buf: &mut Buffer,
) {
    let cell = merged.cell;
    let (letter, role) = letter(scene, cell.doing, ui);
    let overloaded = merged.waiting > 0;
    let count_role = if overloaded { Role::Overload } else { role };
    let pulled = matches!(cell.flash, Some(Flash::Pulled(_)));
    if area.width < 3 {
        let narrow = narrow_style(pulled, ui);
        let busy = matches!(cell.doing, Doing::Run(_) | Doing::Spin(_));
        let spins = matches!(cell.doing, Doing::Spin(_));
        let count = count(cell.nr_running, 1);
        let (first, second) = match (area.width, overloaded) {
            (1, true) if busy => (count.as_str(), ""),
            (1, false) if spins => (ui.glyphs.spin, ""),
            (_, true) => (letter.as_str(), count.as_str()),
            (_, false) if spins => (letter.as_str(), ui.glyphs.spin),
            _ => (letter.as_str(), ""),
        };
        let first_role = if area.width == 1 { count_role } else { role };
        let style = |role| ui.style(role).patch(narrow);
        let x = put(buf, area, area.x, area.y, first, style(first_role));
        put(buf, area, x, area.y, second, style(count_role));
        return;
    }
    let digits = if area.width >= 5 { 2 } else { 1 };
    let (mark, mark_role) = match (cell.flash, cell.doing) {
        (Some(Flash::Pulled(_)), _) => (ui.glyphs.pulled[direction.unwrap_or(0)], Role::Pull),
        (Some(Flash::Missed), Doing::Idle | Doing::Starved) => (ui.glyphs.miss, Role::Miss),
        (_, _) if overloaded => (ui.glyphs.overload, Role::Overload),
        (_, Doing::Spin(_)) => (ui.glyphs.spin, role),
        _ => (" ", role),
    };
    let count = count(cell.nr_running, digits);
    let parts = [
        (letter.as_str(), role),
        (count.as_str(), count_role),
        (mark, mark_role),
    ];
    let x = put_parts(buf, area, area.x, area.y, &parts, ui);
    if let Some(Flash::Pulled(from)) = cell.flash {
        let number = scene.shape.os_ids[from.index()].to_string();
        // A number that does not fit would be another number.
        if number.len() <= usize::from(area.right() - x) {
            put(buf, area, x, area.y, &number, ui.style(Role::Pull));
        }
    }
}

/// In cells without room for a mark a pull is underlined: reversed would look
/// like the selection.
fn narrow_style(pulled: bool, ui: Ui<'_>) -> Style {
    if pulled {
        ui.style(Role::Pull)
            .remove_modifier(Modifier::REVERSED)
            .add_modifier(Modifier::UNDERLINED)
    } else {
        Style::new()
    }
}

/// ` 12 ▆ 14/16   3w<` in 20 columns, less in fewer.
fn draw_llc(
    number: usize,
    area: Rect,
    merged: &Merged,
    direction: Option<usize>,
    ui: Ui<'_>,
    buf: &mut Buffer,
) {
    let bar = spark(merged.busy as f64, merged.cpus as f64, ui.glyphs);
    let waiting = merged.waiting.min(999);
    let busy = merged.busy;
    let (head, tail) = match area.width {
        20.. => (
            format!("{number:>3} "),
            format!("{busy:>3}/{:<3}{waiting:>4}w", merged.cpus),
        ),
        13.. => (format!("{number:>3} "), format!("{busy:>3}{waiting:>4}w")),
        _ => (String::new(), format!("{busy:>2}{:>3}", waiting.min(99))),
    };
    let role = match (merged.waiting > 0, merged.starved > 0) {
        (_, true) => Role::Starved,
        (true, _) => Role::Overload,
        _ => Role::Text,
    };
    let (mark, mark_role) = match (direction, merged.starved > 0) {
        (Some(direction), _) => (ui.glyphs.pulled[direction], Role::Pull),
        (None, true) => (ui.glyphs.starved, Role::Starved),
        (None, false) => (" ", Role::Text),
    };
    let parts = [
        (head.as_str(), Role::Dim),
        (bar, Role::GraphA),
        (tail.as_str(), role),
        (mark, mark_role),
    ];
    put_parts(buf, area, area.x, area.y, &parts, ui);
}

fn draw_node(scene: &Scene, index: usize, area: Rect, m: &Merged, ui: Ui<'_>, buf: &mut Buffer) {
    let node = &scene.shape.nodes[index];
    let idle = m.cpus - m.busy;
    let text = format!(
        "node {:>2}: {:>4}/{} busy, {idle:>4} idle, {:>4} waiting, {:>3} pulls",
        node.node, m.busy, m.cpus, m.waiting, m.pulled
    );
    let role = if m.starved > 0 {
        Role::Starved
    } else {
        Role::Text
    };
    put(buf, area, area.x, area.y, &text, ui.style(role));
}

fn mark_selected(area: Rect, ui: Ui<'_>, buf: &mut Buffer) {
    let style = ui.style(Role::Selected);
    buf.set_style(area.intersection(buf.area), style);
}

/// Letters and marks explained, as many lines as there are.
fn legend(scene: &Scene, plan: &GridPlan, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let g = ui.glyphs;
    let mut items: Vec<(String, Role, String)> = scene
        .classes
        .iter()
        .enumerate()
        .filter(|(_, class)| !class.external)
        .map(|(index, class)| {
            let name = cut(&class.name, 16);
            (class.letter.to_string(), Role::class(index), name)
        })
        .collect();
    let from = if plan.cell >= 6 && plan.fold <= Fold::Cores {
        (format!("{}17", g.pulled[0]), "pulled from 17")
    } else {
        (g.pulled[0].to_owned(), "pulled")
    };
    let mut add = |mark: &str, role: Role, text: &str| {
        items.push((mark.to_owned(), role, text.to_owned()));
    };
    match plan.fold {
        Fold::Threads | Fold::Cores => {
            add(g.idle, Role::Idle, "idle");
            add(g.starved, Role::Starved, "idle, a task waits");
            add(g.search, Role::Search, "search");
            add(g.spin, Role::Text, "spin");
            add(g.overload, Role::Overload, "2+ tasks");
            add(&from.0, Role::Pull, from.1);
            add(g.miss, Role::Miss, "missed");
        }
        Fold::Llcs => {
            items.clear();
            let mut add = |mark: &str, role: Role, text: &str| {
                items.push((mark.to_owned(), role, text.to_owned()));
            };
            add("12", Role::Dim, "LLC");
            add("14/16", Role::Text, "CPUs busy");
            add("3w", Role::Overload, "tasks waiting");
            add(g.starved, Role::Starved, "idle, a task waits");
            add(g.pulled[0], Role::Pull, "pulled");
        }
        Fold::Nodes => items.clear(),
    }
    let (mut x, mut y) = (area.x, area.y);
    for (mark, role, text) in &items {
        let width = (mark.chars().count() + 1 + text.chars().count()) as u16;
        if x > area.x && x + width > area.right() {
            x = area.x;
            y += 1;
        }
        let parts = [
            (mark.as_str(), *role),
            (" ", Role::Dim),
            (text.as_str(), Role::Dim),
        ];
        x = put_parts(buf, area, x, y, &parts, ui) + 2;
    }
}
