//! How a machine of any size fits an area.
//!
//! A plan is the first of a list of candidates, finest first, that fits: wide
//! cells in framed boxes, narrow cells, cells without frames, then one cell per
//! core, per LLC, per node. What is folded is counted, nothing is cut.

use ratatui::layout::Rect;

use crate::sim::CpuId;

use super::super::scene::{LlcShape, Place, Shape};

/// What one cell stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fold {
    /// A hardware thread.
    Threads,
    /// A core with its threads.
    Cores,
    /// A last-level cache with its cores.
    Llcs,
    /// A NUMA node.
    Nodes,
}

impl Fold {
    /// Finest first.
    pub const ALL: [Self; 4] = [Self::Threads, Self::Cores, Self::Llcs, Self::Nodes];

    /// What a cell is, for titles.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Threads => "CPU",
            Self::Cores => "core",
            Self::Llcs => "LLC",
            Self::Nodes => "node",
        }
    }
}

/// How a machine is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridPlan {
    /// What a cell is.
    pub fold: Fold,
    /// Columns of a cell.
    pub cell: u16,
    /// Boxes have frames.
    pub framed: bool,
    /// Rows between boxes without frames.
    pub gap: u16,
    /// Cells beside each other in a box.
    pub columns: usize,
    /// Columns and rows of a box.
    pub box_size: (u16, u16),
    /// Boxes beside each other.
    pub across: usize,
    /// Columns and rows of the whole.
    pub size: (u16, u16),
}

/// What a cell on the screen stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellOf {
    /// One CPU.
    Cpu(CpuId),
    /// A core, by its number over the machine.
    Core(usize),
    /// An LLC, by its number over the machine.
    Llc(usize),
    /// A node, by its index in the shape.
    Node(usize),
    /// Nodes that have no line: how many.
    More(usize),
}

/// A cell and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridCell {
    /// Where.
    pub area: Rect,
    /// What.
    pub of: CellOf,
    /// Its first CPU, selected with it.
    pub first: CpuId,
}

impl GridCell {
    /// Whether `cpu` is inside.
    pub fn contains(&self, cpu: CpuId, place: Place) -> bool {
        match self.of {
            CellOf::Cpu(own) => own == cpu,
            CellOf::Core(core) => place.core == core,
            CellOf::Llc(llc) => place.llc == llc,
            CellOf::Node(node) => place.node == node,
            CellOf::More(_) => false,
        }
    }
}

/// A box or heading to draw around the cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decor {
    /// Where.
    pub area: Rect,
    /// What it says.
    pub text: String,
    /// A frame, else a heading.
    pub frame: bool,
}

/// Columns of an LLC cell, widest first.
pub const LLC_CELLS: [u16; 3] = [20, 13, 7];

/// The finest plan that fits `width` x `height`, not finer than `want`; a plan
/// of nodes always does.
pub fn plan(shape: &Shape, width: u16, height: u16, want: Option<Fold>) -> GridPlan {
    candidates(shape, want, width)
        .find(|plan| plan.size.0 <= width && plan.size.1 <= height)
        .unwrap_or_else(|| nodes(shape, width))
}

/// As [`plan`], but only with cells wide enough for letter, count and mark.
pub fn roomy_plan(shape: &Shape, width: u16, height: u16, want: Option<Fold>) -> Option<GridPlan> {
    candidates(shape, want, width)
        .filter(|plan| plan.cell >= 3 && (want.is_some() || plan.fold == Fold::Threads))
        .find(|plan| plan.size.0 <= width && plan.size.1 <= height)
}

/// Cell width, frame, rows between boxes: best first. The first
/// [`ROOMY_STYLES`] have room for letter, count and mark.
const STYLES: [(u16, bool, u16); 14] = [
    (8, true, 0),
    (7, true, 0),
    (6, true, 0),
    (5, true, 0),
    (4, true, 0),
    (3, true, 0),
    (3, false, 1),
    (3, false, 0),
    (2, true, 0),
    (2, false, 1),
    (2, false, 0),
    (1, true, 0),
    (1, false, 1),
    (1, false, 0),
];
const ROOMY_STYLES: usize = 8;

fn candidates(
    shape: &Shape,
    want: Option<Fold>,
    width: u16,
) -> impl Iterator<Item = GridPlan> + '_ {
    let cores = shape.widest().0;
    // All cores of an LLC in one row before wide cells; narrow cells last.
    let (roomy, narrow) = STYLES.split_at(ROOMY_STYLES);
    let styles = [roomy, narrow].into_iter().flat_map(move |styles| {
        let rows = (1..=cores).map(move |rows| cores.div_ceil(rows));
        rows.flat_map(move |columns| styles.iter().map(move |style| (columns, *style)))
    });
    let boxes = [Fold::Threads, Fold::Cores]
        .into_iter()
        .flat_map(move |fold| {
            styles
                .clone()
                .map(move |(columns, style)| (fold, columns, style))
        })
        .filter_map(move |(fold, columns, (cell, framed, gap))| {
            let rows = cores.div_ceil(columns) * rows_per_core(shape, fold);
            let edge = if framed { 2 } else { 0 };
            let box_size = (
                clamp(columns * usize::from(cell)) + edge,
                clamp(rows) + edge,
            );
            let plan = GridPlan {
                fold,
                cell,
                framed,
                gap,
                columns,
                box_size,
                across: 1,
                size: (0, 0),
            };
            measured(shape, plan, width)
        });
    let llcs = LLC_CELLS.iter().filter_map(move |&cell| {
        let plan = GridPlan {
            fold: Fold::Llcs,
            cell,
            framed: false,
            gap: 0,
            columns: 1,
            box_size: (cell, 1),
            across: 1,
            size: (0, 0),
        };
        measured(shape, plan, width)
    });
    boxes
        .chain(llcs)
        .filter(move |plan| want.is_none_or(|want| plan.fold >= want))
}

fn rows_per_core(shape: &Shape, fold: Fold) -> usize {
    match fold {
        Fold::Threads => shape.widest().1,
        _ => 1,
    }
}

/// The plan with as many boxes beside each other as `width` takes, evened out:
/// four boxes where three fit stand two by two.
fn measured(shape: &Shape, plan: GridPlan, width: u16) -> Option<GridPlan> {
    let step = plan.box_size.0 + side_gap(&plan);
    let fit = usize::from((width + side_gap(&plan)) / step);
    let most = shape.nodes.iter().map(|node| node.llcs.len()).max()?;
    if fit == 0 {
        return None;
    }
    let across = most.div_ceil(most.div_ceil(fit));
    let height: usize = shape
        .nodes
        .iter()
        .map(|node| {
            let rows = node.llcs.len().div_ceil(across);
            let box_rows = rows * usize::from(plan.box_size.1);
            box_rows + rows.saturating_sub(1) * usize::from(plan.gap)
        })
        .sum::<usize>()
        + heading_rows(shape);
    Some(GridPlan {
        across,
        size: (clamp(across) * step - side_gap(&plan), clamp(height)),
        ..plan
    })
}

fn side_gap(plan: &GridPlan) -> u16 {
    u16::from(!plan.framed)
}

/// One heading per node, if there are several.
fn heading_rows(shape: &Shape) -> usize {
    match shape.nodes.len() {
        1 => 0,
        many => many,
    }
}

fn clamp(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX).min(4_000)
}

fn nodes(shape: &Shape, width: u16) -> GridPlan {
    GridPlan {
        fold: Fold::Nodes,
        cell: width,
        framed: false,
        gap: 0,
        columns: 1,
        box_size: (width, 1),
        across: 1,
        size: (width, clamp(shape.nodes.len())),
    }
}

/// Cells and decoration of `plan` in `area`, clipped to it.
pub fn place(shape: &Shape, plan: &GridPlan, area: Rect) -> (Vec<GridCell>, Vec<Decor>) {
    let mut cells = Vec::new();
    let mut decor = Vec::new();
    if plan.fold == Fold::Nodes {
        place_nodes(shape, area, &mut cells);
        return (cells, decor);
    }
    let step = plan.box_size.0 + side_gap(plan);
    let mut top = area.y;
    for node in &shape.nodes {
        if heading_rows(shape) > 0 {
            decor.push(Decor {
                area: Rect::new(area.x, top, plan.size.0, 1).intersection(area),
                text: format!("socket {}, node {}", node.package, node.node),
                frame: false,
            });
            top += 1;
        }
        for (index, llc) in node.llcs.iter().enumerate() {
            let (column, row) = (index % plan.across, index / plan.across);
            let x = area.x + clamp(column) * step;
            let y = top + clamp(row) * (plan.box_size.1 + plan.gap);
            let outer = Rect::new(x, y, plan.box_size.0, plan.box_size.1);
            place_box(shape, plan, llc, outer, area, &mut cells, &mut decor);
        }
        let rows = clamp(node.llcs.len().div_ceil(plan.across));
        top += rows * plan.box_size.1 + rows.saturating_sub(1) * plan.gap;
    }
    (cells, decor)
}

fn place_box(
    shape: &Shape,
    plan: &GridPlan,
    llc: &LlcShape,
    outer: Rect,
    clip: Rect,
    cells: &mut Vec<GridCell>,
    decor: &mut Vec<Decor>,
) {
    let mut push = |area: Rect, of: CellOf, first: CpuId| {
        let area = area.intersection(clip);
        if !area.is_empty() {
            cells.push(GridCell { area, of, first });
        }
    };
    if plan.fold == Fold::Llcs {
        push(outer, CellOf::Llc(llc.number), llc.cores[0][0]);
        return;
    }
    let mut inner = outer;
    if plan.framed {
        decor.push(Decor {
            area: outer.intersection(clip),
            text: format!("{} {} {}", shape.llc_noun, llc.number, llc.cpulist),
            frame: true,
        });
        inner = Rect::new(outer.x + 1, outer.y + 1, outer.width - 2, outer.height - 2);
    }
    let per_core = clamp(rows_per_core(shape, plan.fold));
    for (index, core) in llc.cores.iter().enumerate() {
        let x = inner.x + clamp(index % plan.columns) * plan.cell;
        let y = inner.y + clamp(index / plan.columns) * per_core;
        if plan.fold == Fold::Cores {
            let number = shape.places[core[0].index()].core;
            push(Rect::new(x, y, plan.cell, 1), CellOf::Core(number), core[0]);
            continue;
        }
        for (thread, &cpu) in core.iter().enumerate() {
            let area = Rect::new(x, y + clamp(thread), plan.cell, 1);
            push(area, CellOf::Cpu(cpu), cpu);
        }
    }
}

fn place_nodes(shape: &Shape, area: Rect, cells: &mut Vec<GridCell>) {
    let lines = usize::from(area.height);
    let folds = shape.nodes.len() > lines;
    let shown = if folds {
        lines.saturating_sub(1)
    } else {
        shape.nodes.len()
    };
    let line = |index: usize| Rect::new(area.x, area.y + clamp(index), area.width, 1);
    for (index, node) in shape.nodes.iter().take(shown).enumerate() {
        cells.push(GridCell {
            area: line(index),
            of: CellOf::Node(index),
            first: node.llcs[0].cores[0][0],
        });
    }
    if folds && lines > 0 {
        cells.push(GridCell {
            area: line(shown),
            of: CellOf::More(shape.nodes.len() - shown),
            first: shape.nodes[shown].llcs[0].cores[0][0],
        });
    }
}
