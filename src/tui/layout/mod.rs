//! Where everything goes, from 1x1 to as large as terminals get.
//!
//! ```text
//! header
//! who is idle while others wait, and why
//! +-- Machine ------+ +-- Levels --+
//! |                 | |            |
//! +-----------------+ +------------+
//! +-- CPU ----------+ +-- Charts --+
//! +-----------------+ |            |
//! +-- Classes ------+ |            |
//! +-----------------+ +------------+
//! what is not modelled
//! keys
//! ```
//!
//! Panes vanish in the order Classes, CPU; a vanished pane that is focused
//! takes the place of the charts. Below [`MIN_SIZE`] there is one message.

pub mod grid;

use ratatui::layout::Rect;

use super::draw::levels::TABLE_ROWS;
use super::scene::Shape;
use super::state::Pane;
use grid::{Fold, GridPlan};

/// Least columns and rows.
pub const MIN_SIZE: (u16, u16) = (80, 24);

/// Least columns of the right side.
const SIDE_COLUMNS: u16 = 38;
/// Least rows of the CPU pane.
const CPU_ROWS: u16 = 7;
/// Rows of the CPU pane that show everything.
const CPU_ROWS_FULL: u16 = 16;

/// The parts of the screen.
#[derive(Clone, Debug)]
pub struct Screen {
    /// First line.
    pub header: Rect,
    /// Second line.
    pub banner: Rect,
    /// Panes that are shown.
    pub panes: Vec<(Pane, Rect)>,
    /// Where popups may be.
    pub body: Rect,
    /// Last but one line.
    pub note: Rect,
    /// Last line.
    pub footer: Rect,
    /// The grid of the machine pane.
    pub grid: GridPlan,
    /// Where the grid is; empty if the machine pane is not shown.
    pub grid_area: Rect,
}

/// What the layout depends on besides the size.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Focused pane.
    pub focus: Pane,
    /// Only that pane.
    pub zoom: bool,
    /// Coarsest wanted cell; none = the finest that fits.
    pub fold: Option<Fold>,
    /// Number of task classes.
    pub classes: usize,
}

/// The screen of `size`, or none if that is too small.
pub fn screen(size: (u16, u16), shape: &Shape, wish: Wish) -> Option<Screen> {
    let (width, height) = size;
    if width < MIN_SIZE.0 || height < MIN_SIZE.1 {
        return None;
    }
    let line = |y: u16| Rect::new(0, y, width, 1);
    let body = Rect::new(0, 2, width, height - 4);
    let mut screen = Screen {
        header: line(0),
        banner: line(1),
        panes: Vec::new(),
        body,
        note: line(height - 2),
        footer: line(height - 1),
        grid: grid::plan(shape, 0, 0, wish.fold),
        grid_area: Rect::ZERO,
    };
    if wish.zoom {
        screen.panes.push((wish.focus, body));
        if wish.focus == Pane::Machine {
            place_grid(&mut screen, shape, body, wish);
        }
    } else {
        arrange(&mut screen, shape, wish);
    }
    Some(screen)
}

/// Inside of a frame.
pub fn inner(area: Rect) -> Rect {
    Rect::new(
        area.x + area.width.min(1),
        area.y + area.height.min(1),
        area.width.saturating_sub(2),
        area.height.saturating_sub(2),
    )
}

/// Rows under the grid that explain letters and marks, on a screen this wide.
fn legend_rows(width: u16) -> u16 {
    if width >= 160 { 2 } else { 3 }
}

/// Rows of the level table with its frame: all of them, or all but one.
fn levels_rows(height: u16) -> u16 {
    TABLE_ROWS + if height >= 30 { 2 } else { 1 }
}

fn place_grid(screen: &mut Screen, shape: &Shape, pane: Rect, wish: Wish) {
    let inside = inner(pane);
    let legend = legend_rows(screen.body.width);
    let room = inside.height.saturating_sub(legend);
    let roomy = grid::roomy_plan(shape, inside.width, room, wish.fold);
    let any = grid::plan(shape, inside.width, room, wish.fold);
    screen.grid = roomy.unwrap_or(any);
    screen.grid_area = Rect {
        height: room.min(screen.grid.size.1),
        ..inside
    };
}

fn arrange(screen: &mut Screen, shape: &Shape, wish: Wish) {
    let body = screen.body;
    let legend = legend_rows(body.width);
    let most = body.width - SIDE_COLUMNS - 2;
    let shared = body.height.saturating_sub(CPU_ROWS + 2 + legend);
    let alone = body.height - 2 - legend;
    let (plan, with_cpu) = match grid::roomy_plan(shape, most, shared, wish.fold) {
        Some(plan) => (plan, true),
        None => {
            let plan = grid::plan(shape, most, alone, wish.fold);
            (plan, plan.size.1 <= shared)
        }
    };
    let wanted = (plan.size.0 + 2).max(body.width * 45 / 100).max(40);
    let left_width = wanted.min(body.width - SIDE_COLUMNS);
    let (left, side) = (
        Rect {
            width: left_width,
            ..body
        },
        Rect {
            x: body.x + left_width,
            width: body.width - left_width,
            ..body
        },
    );

    let mut shown = vec![Pane::Machine, Pane::Levels];
    let machine_rows = if with_cpu {
        plan.size.1 + 2 + legend
    } else {
        left.height
    };
    let (machine, below) = split(left, machine_rows);
    screen.panes.push((Pane::Machine, machine));
    place_grid(screen, shape, machine, wish);
    if with_cpu {
        let classes_rows = rows_of_classes(wish.classes);
        let cpu_rows = if below.height >= CPU_ROWS_FULL + classes_rows {
            below.height - classes_rows
        } else {
            below.height
        };
        let (cpu, classes) = split(below, cpu_rows);
        screen.panes.push((Pane::Cpu, cpu));
        shown.push(Pane::Cpu);
        if !classes.is_empty() {
            screen.panes.push((Pane::Classes, classes));
            shown.push(Pane::Classes);
        }
    }

    let (levels, rest) = split(side, levels_rows(side.height));
    screen.panes.push((Pane::Levels, levels));
    fill_side(screen, rest, &shown, wish);
}

/// Charts, and what found no room on the left if there is plenty here.
fn fill_side(screen: &mut Screen, mut rest: Rect, shown: &[Pane], wish: Wish) {
    const CHARTS_ROWS: u16 = 14;
    for (pane, rows) in [
        (Pane::Cpu, CPU_ROWS_FULL),
        (Pane::Classes, rows_of_classes(wish.classes)),
    ] {
        if !shown.contains(&pane) && rest.height >= CHARTS_ROWS + rows {
            let (area, below) = split(rest, rows);
            screen.panes.push((pane, area));
            rest = below;
        }
    }
    let hidden = !screen.panes.iter().any(|(pane, _)| *pane == wish.focus);
    let last = if hidden { wish.focus } else { Pane::Charts };
    screen.panes.push((last, rest));
}

fn rows_of_classes(classes: usize) -> u16 {
    u16::try_from(classes).unwrap_or(20).min(20) + 3
}

fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (
        Rect {
            height: rows,
            ..area
        },
        Rect {
            y: area.y + rows,
            height: area.height - rows,
            ..area
        },
    )
}
