//! Action -> state. Nothing here knows the terminal, so a whole session can be
//! a test.

use crate::sim::time::SEC;
use crate::sim::{CpuId, Ns};

use super::action::{Action, Effect};
use super::draw::Target;
use super::glyphs::GlyphSet;
use super::keymap::Context;
use super::layout::grid::{self, Fold, GridCell};
use super::layout::{self, Screen};
use super::list;
use super::pace::Speed;
use super::pages;
use super::panel;
use super::state::{
    Layer, List, ListKind, Page, PageKind, Pane, Panel, PanelKind, Prompt, PromptKind, State, Undo,
};
use super::text::TextField;
use super::theme::{Depth, Theme};

/// How far a step to the next newidle entry goes before it gives up: a second without one is worth telling.
const NEWIDLE_LIMIT: Ns = SEC;

/// Where keys go now, first context first.
pub fn contexts(state: &State) -> &'static [Context] {
    contexts_under(&state.layers)
}

/// Where keys would go with these layers open.
pub fn contexts_under(layers: &[Layer]) -> &'static [Context] {
    use Context::{Always, Global, List, Main, Page, Panel, Text};
    match layers.last() {
        None => &[Main, Global, Always],
        Some(Layer::Page(page)) if page.typing => &[Text, Always],
        Some(Layer::List(list)) if list.typing => &[Text, Always],
        Some(Layer::Panel(panel)) if panel.typed.is_some() => &[Text, Always],
        Some(Layer::Prompt(_)) => &[Text, Always],
        Some(Layer::Page(_)) => &[Page, Global, Always],
        Some(Layer::List(_)) => &[List, Global, Always],
        Some(Layer::Panel(_)) => &[Panel, Global, Always],
    }
}

/// Does what is asked; returns what only the rim can do.
pub fn update(state: &mut State, action: Action) -> Vec<Effect> {
    state.dirty = true;
    if !matches!(action, Action::Resize(..)) {
        state.notice = None;
    }
    match action {
        Action::Quit => state.quit = true,
        Action::Repaint => return vec![Effect::Repaint],
        Action::Suspend => return vec![Effect::Suspend],
        Action::Mouse => {
            state.mouse = !state.mouse;
            state.say(if state.mouse {
                "Mouse: clicks select here"
            } else {
                "Mouse: left to the terminal, to select text"
            });
            return vec![Effect::CaptureMouse(state.mouse)];
        }
        Action::Resize(width, height) => state.size = (width, height),
        Action::Click(x, y) => click(state, x, y),
        Action::Wheel(x, y, down) => wheel(state, x, y, down),
        Action::PanicForTest => panic!("asked for by a test"),
        action => match layer_action(state, &action) {
            Taken::Yes => {}
            Taken::No => return main_action(state, action),
            Taken::Then(next) => return update(state, next),
        },
    }
    Vec::new()
}

/// Whether the top layer took an action.
enum Taken {
    /// It did.
    Yes,
    /// It is not for a layer.
    No,
    /// It stands for another action, which comes next.
    Then(Action),
}

fn layer_action(state: &mut State, action: &Action) -> Taken {
    let taken = match (action, state.layers.last()) {
        (_, None) => false,
        (Action::Close | Action::Escape, _) => {
            close_layer(state, matches!(action, Action::Escape));
            true
        }
        (Action::Accept, Some(Layer::List(_))) => return accept_item(state),
        (_, Some(Layer::Page(_))) => page_action(state, action),
        (_, Some(Layer::List(_))) => list_action(state, action),
        (_, Some(Layer::Panel(_))) => panel_action(state, action),
        (_, Some(Layer::Prompt(_))) => prompt_action(state, action),
    };
    if taken { Taken::Yes } else { Taken::No }
}

/// Takes the selected row of the list and closes it.
fn accept_item(state: &mut State) -> Taken {
    let Some(Layer::List(list)) = state.layers.pop() else {
        return Taken::No;
    };
    let items = list::items(state, &list);
    let chosen = items
        .get(list.row)
        .and_then(|item| list::choose(state, list.kind, &item.name));
    chosen.map_or(Taken::Yes, Taken::Then)
}

/// Esc first leaves typing and clears the filter, then closes.
fn close_layer(state: &mut State, stepwise: bool) {
    if stepwise {
        match state.layers.last_mut() {
            Some(Layer::Page(Page { typing, filter, .. })) if *typing || !filter.is_empty() => {
                *typing = false;
                *filter = TextField::default();
                return;
            }
            Some(Layer::List(list))
                if list.kind != ListKind::Palette && (list.typing || !list.filter.is_empty()) =>
            {
                list.typing = false;
                list.filter = TextField::default();
                return;
            }
            Some(Layer::Panel(panel)) if panel.typed.is_some() => {
                panel.typed = None;
                return;
            }
            _ => {}
        }
    }
    state.layers.pop();
}

/// Editing keys; false if the action edits nothing.
fn edit(field: &mut TextField, action: &Action) -> bool {
    match action {
        Action::Insert(c) => field.insert(*c),
        Action::Paste(text) => field.paste(text),
        Action::Backspace => field.backspace(),
        Action::DeleteWord => field.delete_word(),
        Action::DeleteToStart => field.delete_to_start(),
        Action::TextStart => field.to_start(),
        Action::TextEnd => field.to_end(),
        _ => return false,
    }
    true
}

/// Moves a row number among `count` rows, half a page at a time where asked.
fn move_row(row: usize, count: usize, page: usize, action: &Action) -> Option<usize> {
    let last = count.saturating_sub(1);
    let half = (page / 2).max(1);
    let row = row.min(last);
    Some(match action {
        Action::Up => row.saturating_sub(1),
        Action::Down => (row + 1).min(last),
        Action::First => 0,
        Action::Last => last,
        Action::PageUp => row.saturating_sub(half),
        Action::PageDown => (row + half).min(last),
        _ => return None,
    })
}

/// Rows of a popup's inside on this screen.
fn page_rows(state: &State) -> usize {
    usize::from(state.size.1.saturating_sub(8)).max(1)
}

fn page_action(state: &mut State, action: &Action) -> bool {
    let rows = page_rows(state);
    let Some(Layer::Page(page)) = state.layers.last().cloned() else {
        return false;
    };
    let lines = pages::lines(state, &page).len();
    let Some(Layer::Page(page)) = state.layers.last_mut() else {
        return false;
    };
    if page.typing {
        if edit(&mut page.filter, action) {
            page.scroll = 0;
            return true;
        }
        if *action == Action::Accept {
            page.typing = false;
            return true;
        }
    }
    if *action == Action::Filter {
        page.typing = true;
        return true;
    }
    let furthest = lines.saturating_sub(rows);
    match move_row(page.scroll, furthest + 1, rows, action) {
        Some(scroll) => {
            page.scroll = scroll;
            true
        }
        None => false,
    }
}

fn list_action(state: &mut State, action: &Action) -> bool {
    let rows = page_rows(state);
    let Some(Layer::List(list)) = state.layers.last().cloned() else {
        return false;
    };
    let items = list::items(state, &list);
    let Some(Layer::List(list)) = state.layers.last_mut() else {
        return false;
    };
    if list.typing && edit(&mut list.filter, action) {
        list.row = 0;
        return true;
    }
    if *action == Action::Filter {
        list.typing = true;
        return true;
    }
    match move_row(list.row, items.len(), rows, action) {
        Some(row) => {
            list.row = row;
            true
        }
        None => false,
    }
}

fn panel_action(state: &mut State, action: &Action) -> bool {
    let page = page_rows(state);
    let Some(Layer::Panel(panel)) = state.layers.last().cloned() else {
        return false;
    };
    let rows = panel::rows(state, panel.kind);
    let Some(row) = rows.get(panel.row) else {
        return false;
    };
    if let Some(mut typed) = panel.typed {
        if edit(&mut typed, action) {
            set_typed(state, Some(typed));
            return true;
        }
        if *action == Action::Accept {
            set_typed(state, None);
            match typed.text().trim().parse::<u64>() {
                Ok(value) => match row.kind.typed(value) {
                    Ok(value) => panel::set(state, panel.kind, panel.row, Some(value)),
                    Err(why) => state.complain(format!("{}: {why}", row.name)),
                },
                Err(_) => state.complain(format!("{}: type a whole number", row.name)),
            }
            return true;
        }
        return matches!(action, Action::Up | Action::Down);
    }
    let changes = matches!(action, Action::Left | Action::Right | Action::Accept);
    if changes && row.kind == super::params::Kind::Unused {
        state.complain(format!("{}: not changed: {}", row.name, row.note));
        return true;
    }
    match action {
        Action::Left | Action::Right => {
            let value = row.kind.step(row.value, *action == Action::Right);
            panel::set(state, panel.kind, panel.row, value);
        }
        Action::Insert(c) => set_typed(state, Some(TextField::new(&c.to_string()))),
        Action::Accept => {
            if matches!(
                row.kind,
                super::params::Kind::Switch | super::params::Kind::Choice(_)
            ) {
                let value = row.kind.step(row.value, true);
                panel::set(state, panel.kind, panel.row, value);
            } else {
                let text = row
                    .value
                    .map_or_else(String::new, |value| value.to_string());
                set_typed(state, Some(TextField::new(&text)));
            }
        }
        action => {
            let Some(row) = move_row(panel.row, rows.len(), page, action) else {
                return false;
            };
            if let Some(Layer::Panel(panel)) = state.layers.last_mut() {
                panel.row = row;
            }
        }
    }
    true
}

fn set_typed(state: &mut State, typed: Option<TextField>) {
    if let Some(Layer::Panel(panel)) = state.layers.last_mut() {
        panel.typed = typed;
    }
}

fn prompt_action(state: &mut State, action: &Action) -> bool {
    let Some(Layer::Prompt(prompt)) = state.layers.last_mut() else {
        return false;
    };
    if edit(&mut prompt.field, action) {
        return true;
    }
    if *action != Action::Accept {
        return matches!(action, Action::Up | Action::Down);
    }
    let (kind, text) = (prompt.kind, prompt.field.text());
    state.layers.pop();
    let number = text.trim().parse::<u64>();
    match (kind, number) {
        (PromptKind::Seed, Ok(seed)) => {
            let setup = state.setup();
            state.restart(crate::session::Setup { seed, ..setup }, true);
        }
        (PromptKind::Find, Ok(number)) => {
            let found = state
                .shape
                .os_ids
                .iter()
                .position(|id| u64::from(*id) == number);
            match found {
                Some(index) => state.selected = CpuId::from_index(index),
                None => state.complain(format!("no CPU {number} on this machine")),
            }
        }
        (_, Err(_)) => state.complain(format!("`{}` is not a whole number", text.trim())),
    }
    true
}

fn main_action(state: &mut State, action: Action) -> Vec<Effect> {
    match action {
        Action::Close if state.layers.is_empty() => state.quit = true,
        Action::Help => open_page(state, PageKind::Help),
        Action::Why => open_page(state, PageKind::Why),
        Action::Palette => open_list(state, ListKind::Palette),
        Action::PickTopology => open_list(state, ListKind::Topology),
        Action::PickWorkload => open_list(state, ListKind::Workload),
        Action::PickPolicy => open_list(state, ListKind::Policy),
        Action::EditPolicy => open_panel(state, PanelKind::Policy),
        Action::PickKernel => open_list(state, ListKind::Kernel),
        Action::EditRules => open_panel(state, PanelKind::Rules),
        Action::Realism => open_page(state, PageKind::Realism),
        Action::EditMix => open_panel(state, PanelKind::Mix),
        Action::EditSeed => open_prompt(state, PromptKind::Seed),
        Action::Find => open_prompt(state, PromptKind::Find),
        Action::Undo => undo(state),
        Action::Restart => {
            let setup = state.setup();
            state.restart(setup, false);
        }
        Action::Theme => next_theme(state),
        Action::Glyphs => next_glyphs(state),
        action => time_or_view(state, &action),
    }
    Vec::new()
}

fn time_or_view(state: &mut State, action: &Action) {
    match action {
        Action::Pause => state.pace.paused = !state.pace.paused,
        Action::StepEvent | Action::StepTick | Action::StepNewidle => step(state, action),
        Action::Faster => set_speed(state, state.pace.speed.faster()),
        Action::Slower => set_speed(state, state.pace.speed.slower()),
        Action::RealTime => set_speed(state, Speed::REAL_TIME),
        Action::FullSpeed => set_speed(state, Speed::Full),
        Action::Left | Action::Right | Action::Up | Action::Down => move_selection(state, action),
        Action::First => state.selected = CpuId(0),
        Action::Last => state.selected = CpuId::from_index(state.shape.nr_cpus() - 1),
        Action::NextIdle => next_idle(state),
        Action::NextPane => state.focus = cycle(state.focus, 1),
        Action::PrevPane => state.focus = cycle(state.focus, Pane::ALL.len() - 1),
        Action::Focus(pane) => state.focus = *pane,
        Action::Zoom => state.zoom = !state.zoom,
        Action::Accept => {
            state.zoom = !(state.zoom && state.focus == Pane::Cpu);
            state.focus = Pane::Cpu;
        }
        Action::Escape => state.zoom = false,
        Action::Scope => state.scope_cpu = !state.scope_cpu,
        Action::Rates => state.rates = !state.rates,
        Action::Fold => next_fold(state),
        _ => {}
    }
}

fn cycle(pane: Pane, by: usize) -> Pane {
    Pane::ALL[(pane as usize + by) % Pane::ALL.len()]
}

fn set_speed(state: &mut State, speed: Speed) {
    state.pace.set_speed(speed);
    state.history.set_speed(state.pace.chart_speed());
}

fn step(state: &mut State, action: &Action) {
    state.pace.paused = true;
    state.flashes.fade();
    match action {
        Action::StepEvent => {
            state.session.step_event();
        }
        Action::StepTick => state.step_tick(),
        _ => match state.step_newidle(NEWIDLE_LIMIT) {
            Some(cpu) => state.selected = cpu,
            None => state.say("No newidle attempt within a simulated second"),
        },
    }
    state.observe();
}

fn next_fold(state: &mut State) {
    state.fold = match state.fold {
        None => Some(Fold::Threads),
        Some(fold) => Fold::ALL.into_iter().find(|next| *next > fold),
    };
    state.say(match state.fold {
        None => "Grid: the finest cells that fit".to_owned(),
        Some(fold) => format!(
            "Grid: one cell per {}, or coarser if that does not fit",
            fold.noun()
        ),
    });
}

fn next_theme(state: &mut State) {
    if state.depth == Depth::Mono {
        state.say("The terminal or NO_COLOR asks for no colours: every theme looks alike");
        return;
    }
    let names: Vec<&str> = super::theme::names().collect();
    let now = names.iter().position(|name| *name == state.theme.name);
    let next = names[now.map_or(0, |index| (index + 1) % names.len())];
    state.theme = Theme::resolve(next, state.depth);
    state.say(format!("Theme: {next}"));
}

fn next_glyphs(state: &mut State) {
    let (set, name) = match state.glyphs.set {
        GlyphSet::Block => (GlyphSet::Braille, "blocks and braille"),
        GlyphSet::Braille => (GlyphSet::Ascii, "ASCII"),
        GlyphSet::Ascii => (GlyphSet::Block, "blocks"),
    };
    state.glyphs = set.glyphs();
    state.say(format!("Drawing with {name}"));
}

fn next_idle(state: &mut State) {
    let world = state.session.world();
    let count = state.shape.nr_cpus();
    let starting = state.selected.index();
    let found = (1..=count)
        .map(|offset| CpuId::from_index((starting + offset) % count))
        .find(|cpu| world.cpu(*cpu).idle_beside_waiting);
    match found {
        Some(cpu) => state.selected = cpu,
        None => state.say("No CPU is idle while a task waits at this moment"),
    }
}

fn undo(state: &mut State) {
    let Some(undo) = state.undo.pop() else {
        state.say("Nothing to undo");
        return;
    };
    let depth = state.undo.len();
    match undo {
        Undo::Policy(policy) => {
            state.say(format!("Undone: policy is {} again", policy.name));
            state.set_policy(policy);
        }
        Undo::Rules(rules) => {
            let changes = rules.changes();
            let but = match changes.is_empty() {
                true => String::new(),
                false => format!(" but {}", changes.join(" ")),
            };
            state.say(format!("Undone: rules of {}{but}", rules.kernel().name));
            state.set_rules(rules);
        }
        Undo::Kernel(policy, rules) => {
            let text = format!(
                "Undone: kernel {}, policy {} again",
                rules.name, policy.name
            );
            state.set_policy(policy);
            state.set_rules(rules);
            state.say(text);
        }
        Undo::Mix(change) => {
            if let crate::session::Change::Mix {
                class,
                count,
                share_permille,
                intensity_pct,
            } = change
            {
                state.set_mix(class, count, share_permille, intensity_pct);
            }
            state.say("Undone: the mix is as before");
        }
        Undo::Setup(setup) => {
            state.restart(*setup, false);
            state.say("Undone: machine, workload and seed are as before; restarted");
        }
    }
    // Taking back is not itself a change to be taken back.
    state.undo.truncate(depth);
}

fn open_page(state: &mut State, kind: PageKind) {
    let same = |layer: &Layer| matches!(layer, Layer::Page(page) if page.kind == kind);
    if state.layers.last().is_some_and(same) {
        state.layers.pop();
        return;
    }
    state.layers.push(Layer::Page(Page {
        kind,
        scroll: 0,
        filter: TextField::default(),
        typing: false,
    }));
}

fn open_list(state: &mut State, kind: ListKind) {
    let list = List {
        kind,
        row: 0,
        filter: TextField::default(),
        typing: kind == ListKind::Palette,
    };
    let items = list::items(state, &list);
    let row = items.iter().position(|item| item.current).unwrap_or(0);
    state.layers.push(Layer::List(List { row, ..list }));
}

fn open_panel(state: &mut State, kind: PanelKind) {
    state.layers.push(Layer::Panel(Panel {
        kind,
        row: 0,
        typed: None,
    }));
}

fn open_prompt(state: &mut State, kind: PromptKind) {
    state.layers.push(Layer::Prompt(Prompt {
        kind,
        field: TextField::default(),
    }));
}

fn click(state: &mut State, x: u16, y: u16) {
    match state.hits.at(x, y) {
        Some(Target::Cpu(cpu)) => {
            state.selected = cpu;
            state.focus = Pane::Machine;
        }
        Some(Target::Pane(pane)) if state.layers.is_empty() => state.focus = pane,
        Some(Target::Row(row)) => match state.layers.last_mut() {
            Some(Layer::List(list)) => list.row = row,
            Some(Layer::Panel(panel)) => panel.row = row,
            _ => {}
        },
        _ => {}
    }
}

fn wheel(state: &mut State, x: u16, y: u16, down: bool) {
    let over_layer = matches!(state.hits.at(x, y), Some(Target::Row(_) | Target::Layer));
    if over_layer {
        let action = if down { Action::Down } else { Action::Up };
        layer_action(state, &action);
    }
}

/// The screen as it would be drawn now.
fn screen(state: &State) -> Option<Screen> {
    layout::screen(state.size, &state.shape, state.wish())
}

/// To the nearest cell in a direction; cells in line with the present one
/// before those that are nearer but aside.
fn move_selection(state: &mut State, action: &Action) {
    let Some(screen) = screen(state) else {
        return;
    };
    let (cells, _) = grid::place(&state.shape, &screen.grid, screen.grid_area);
    let place = state.shape.places[state.selected.index()];
    let Some(from) = cells
        .iter()
        .find(|cell| cell.contains(state.selected, place))
    else {
        step_number(state, action);
        return;
    };
    let distance = |to: &GridCell| {
        let dx = i32::from(to.area.x) - i32::from(from.area.x);
        let dy = i32::from(to.area.y) - i32::from(from.area.y);
        let (along, aside) = match action {
            Action::Left => (-dx, dy),
            Action::Right => (dx, dy),
            Action::Up => (-dy, dx),
            _ => (dy, dx),
        };
        (along > 0).then(|| (aside.abs(), along))
    };
    let reachable = cells
        .iter()
        .filter_map(|cell| Some((distance(cell)?, cell)));
    if let Some((_, cell)) = reachable.min_by_key(|(distance, _)| *distance) {
        state.selected = cell.first;
    }
}

/// Without a grid on the screen, arrows go through the CPUs by number.
fn step_number(state: &mut State, action: &Action) {
    let index = state.selected.index();
    let index = match action {
        Action::Left | Action::Up => index.saturating_sub(1),
        _ => (index + 1).min(state.shape.nr_cpus() - 1),
    };
    state.selected = CpuId::from_index(index);
}
