//! What is on the screen: text, and beside it a second grid of role letters,
//! since plain snapshots drop colours and attributes.
//!
//! The scenes are made by hand: a change of the simulator does not change them.
#![cfg(feature = "app")]

use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use schedlab::scenario::{topology, workload};
use schedlab::session::{Change, NamedPolicy, NamedRules, Setup};
use schedlab::sim::time::{MS, US};
use schedlab::sim::{CpuId, gate};
use schedlab::tui::action::Action;
use schedlab::tui::draw::{draw, draw_scene};
use schedlab::tui::glyphs::GlyphSet;
use schedlab::tui::keymap::{BINDINGS, Key, dispatch};
use schedlab::tui::layout::grid::{self, Fold};
use schedlab::tui::list;
use schedlab::tui::pace::{Pace, Speed};
use schedlab::tui::scene::{Cell, CpuDetail, Doing, Flash, LevelColumn, Scene, Series, build};
use schedlab::tui::state::ListKind;
use schedlab::tui::state::{Looks, State};
use schedlab::tui::theme::Depth;
use schedlab::tui::update::{contexts, update};

fn state(machine: &str, size: (u16, u16), glyphs: GlyphSet) -> State {
    let text = workload::embedded("easywave").expect("is built in");
    let setup = Setup {
        topology: topology::embedded(machine).expect("is built in"),
        workload: Arc::new(workload::parse("easywave", text).expect("is valid")),
        policy: NamedPolicy {
            name: "ni-random".to_owned(),
            rules: gate::preset("ni-random").expect("is built in"),
        },
        rules: NamedRules::default(),
        history: None,
        seed: 1,
        timeline: Vec::new(),
    };
    let looks = Looks {
        theme: "dark".to_owned(),
        depth: Depth::True,
        glyphs,
        mouse: true,
    };
    State::new(setup, Pace::new(Speed::START, true), &looks, size)
}

/// Every state of a cell, some figures of every size.
fn scene(state: &State) -> Scene {
    let mut scene = build(state, 400);
    for (index, cell) in scene.cells.iter_mut().enumerate() {
        let (doing, nr_running) = match index % 9 {
            0 => (Doing::Run(1), 1),
            1 => (Doing::Spin(1), 1),
            2 => (Doing::Idle, 0),
            3 => (Doing::Starved, 0),
            4 => (Doing::Search, 0),
            5 => (Doing::Run(2), 3),
            6 => (Doing::Run(0), 12),
            7 => (Doing::Run(1), 1),
            _ => (Doing::Idle, 0),
        };
        let flash = match index % 9 {
            7 => Some(Flash::Pulled(CpuId(0))),
            8 => Some(Flash::Missed),
            _ => None,
        };
        *cell = Cell {
            doing,
            nr_running,
            flash,
        };
    }
    scene.header.now = 1_234_567_890;
    scene.waste.starved = 5;
    scene.waste.idle = 10;
    scene.waste.waiting = 68;
    scene.waste.why = vec![("dice", 3), ("cost gate", 2)];
    scene.waste.example = Some(3);
    scene.waste.lately = Some(8.1);
    scene.levels.avg_idle = 92_100;
    for (index, column) in scene.levels.columns.iter_mut().enumerate() {
        *column = LevelColumn {
            ratio: Some([71, 512, 1024, 0][index]),
            history: (0..400).map(|i| (i > 300).then_some(i % 1025)).collect(),
            calls: 112_345,
            runs: 22_393,
            pulls: 153,
            not_overloaded: 10_498,
            cost_gate: 0,
            policy: 90_518,
            max_cost: 4_270,
            closed: 3,
            ..column.clone()
        };
    }
    scene.cpu = CpuDetail {
        os_id: 3,
        place: "CCX 0, node 0, socket 0".to_owned(),
        doing: "idle, a task waits, 0 queued".to_owned(),
        avg_idle: 92_100,
        max_idle_balance_cost: 500_000,
        last_newidle: vec![
            "Newidle 1.20 us ago: searched SMT, the dice skipped MC, PKG; found nothing to pull."
                .to_owned(),
        ],
        last_pull: "Last pull 3.10 ms ago: w from CPU 12 (other LLC, newidle).".to_owned(),
        chances: vec!["SMT: ratio 71: 73 of 1024 calls search.".to_owned()],
        shares: [42.0, 3.1, 0.7],
        ..scene.cpu
    };
    for domain in &mut scene.cpu.domains {
        domain.ratio = Some(71);
        domain.max_cost = 12_500;
        domain.counts = [2_401, 1_209, 7];
    }
    for class in &mut scene.classes {
        class.alive = 47;
        class.done = 1_234_567;
        class.rate = Some(7_999.9);
    }
    scene.charts.bin = MS;
    for (index, series) in scene.charts.series.iter_mut().enumerate() {
        let scale = [8_000.0, 120.0, 3.5][index];
        *series = Series {
            bins: (0..400_u32)
                .map(|i| (i > 350 && i != 380).then(|| scale * f64::from(i % 10) / 9.0))
                .collect(),
            ..series.clone()
        };
    }
    scene
}

fn text(buf: &Buffer) -> String {
    let width = usize::from(buf.area.width);
    let mut out = String::new();
    for row in buf.content().chunks(width) {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        writeln!(out, "{}", line.trim_end()).expect("strings take all text");
    }
    out
}

fn roles(buf: &Buffer, state: &State) -> String {
    let width = usize::from(buf.area.width);
    let mut out = String::new();
    for row in buf.content().chunks(width) {
        let letter = |cell: &ratatui::buffer::Cell| match cell.symbol() {
            " " => ' ',
            _ => state.theme.role_letter(cell.style()),
        };
        let line: String = row.iter().map(letter).collect();
        writeln!(out, "{}", line.trim_end()).expect("strings take all text");
    }
    out
}

fn shot(state: &State) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
    draw_scene(state, &scene(state), &mut buf);
    format!("{}\n{}", text(&buf), roles(&buf, state))
}

#[test]
fn the_main_screen_at_three_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let state = state("tr-9960x", (width, height), GlyphSet::Block);
        insta::assert_snapshot!(format!("main_{width}x{height}"), shot(&state));
    }
}

#[test]
fn many_and_few_cpus() {
    for machine in ["zen4c-2x128", "altra-2x80", "epyc-9r14-c7a-4xlarge"] {
        for (width, height) in [(80, 24), (200, 60)] {
            let state = state(machine, (width, height), GlyphSet::Block);
            insta::assert_snapshot!(format!("{machine}_{width}x{height}"), shot(&state));
        }
    }
}

#[test]
fn layers() {
    for (name, action) in [
        ("help", Action::Help),
        ("palette", Action::Palette),
        ("policies", Action::PickPolicy),
        ("fields", Action::EditPolicy),
        ("mix", Action::EditMix),
        ("kernels", Action::PickKernel),
        ("rules", Action::EditRules),
        ("realism", Action::Realism),
        ("seed", Action::EditSeed),
    ] {
        let mut state = state("tr-9960x", (80, 24), GlyphSet::Block);
        update(&mut state, action);
        insta::assert_snapshot!(format!("layer_{name}"), shot(&state));
    }
}

#[test]
fn the_ascii_set_draws_no_byte_above_127() {
    for machine in ["tr-9960x", "zen4c-2x128", "altra-2x80"] {
        for size in [(80, 24), (200, 60)] {
            let state = state(machine, size, GlyphSet::Ascii);
            let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            draw_scene(&state, &scene(&state), &mut buf);
            assert!(text(&buf).is_ascii(), "{machine} {size:?}");
        }
    }
}

#[test]
fn without_colour_every_state_of_a_cell_looks_different() {
    let mut state = state("tr-9960x", (120, 40), GlyphSet::Block);
    state.theme = schedlab::tui::theme::Theme::resolve("dark", Depth::Mono);
    state.selected = CpuId(47);
    let mut buf = Buffer::empty(Rect::new(0, 0, 120, 40));
    draw_scene(&state, &scene(&state), &mut buf);
    assert!(buf.content().iter().all(|cell| {
        cell.style().fg == Some(ratatui::style::Color::Reset)
            && cell.style().bg == Some(ratatui::style::Color::Reset)
    }));
    let wish = state.wish();
    let screen = schedlab::tui::layout::screen(state.size, &state.shape, wish).expect("it fits");
    let (cells, _) = grid::place(&state.shape, &screen.grid, screen.grid_area);
    let look = |cpu: usize| -> String {
        let of = grid::CellOf::Cpu(CpuId::from_index(cpu));
        let cell = cells.iter().find(|cell| cell.of == of).expect("is drawn");
        let columns = cell.area.x..cell.area.right();
        columns.map(|x| buf[(x, cell.area.y)].symbol()).collect()
    };
    let mut looks: Vec<String> = (0..9).map(look).collect();
    looks.sort();
    looks.dedup();
    assert_eq!(looks.len(), 9, "{looks:?}");
}

#[test]
fn no_cpu_is_cut_silently_at_any_size() {
    for machine in topology::names() {
        let state = state(machine, (80, 24), GlyphSet::Block);
        for size in [(80, 24), (100, 30), (120, 40), (200, 60)] {
            let screen = schedlab::tui::layout::screen(size, &state.shape, state.wish());
            let screen = screen.expect("is large enough");
            let (cells, _) = grid::place(&state.shape, &screen.grid, screen.grid_area);
            for (cpu, place) in state.shape.places.iter().enumerate() {
                let cpu = CpuId::from_index(cpu);
                let whole = cells
                    .iter()
                    .find(|cell| cell.contains(cpu, *place))
                    .is_some_and(|cell| {
                        screen.grid.fold == Fold::Nodes || cell.area.width == screen.grid.cell
                    });
                assert!(whole, "{machine} {size:?} {cpu:?}");
            }
        }
    }
}

/// A small generator: the tests need no quality, only the same numbers again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

#[test]
fn ten_thousand_random_inputs_break_nothing() {
    let keys: Vec<Key> = BINDINGS
        .iter()
        .flat_map(|b| b.keys.iter().copied())
        .collect();
    let mut state = state("tr-9960x", (80, 24), GlyphSet::Block);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for round in 0..10_000 {
        let action = match dice.roll(20) {
            0 => Some(Action::Resize(dice.roll(220) as u16, dice.roll(70) as u16)),
            1 => Some(Action::Click(dice.roll(220) as u16, dice.roll(70) as u16)),
            2 => Some(Action::Wheel(
                dice.roll(220) as u16,
                dice.roll(70) as u16,
                true,
            )),
            3 => Some(Action::Paste("7 \u{1F600}\u{4e2d}\n".to_owned())),
            _ => {
                let key = match keys[dice.roll(keys.len() as u64) as usize] {
                    Key::AnyChar | Key::AnyDigit => {
                        Key::Char(char::from(b'0' + dice.roll(10) as u8))
                    }
                    key => key,
                };
                dispatch(contexts(&state), key)
            }
        };
        // Steps to the next newidle entry may simulate a second each.
        let slow = |action: &Action| matches!(action, Action::StepNewidle | Action::StepTick);
        if let Some(action) = action.filter(|action| !slow(action) || dice.roll(20) == 0) {
            update(&mut state, action);
        }
        if round % 10 == 0 {
            let until = state.session.now() + 20 * US;
            state.advance(until, 200);
            state.flashes.elapse(16);
            state.observe();
            let mut buf = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
            state.hits = draw(&state, &mut buf);
        }
        assert!(state.selected.index() < state.shape.nr_cpus());
        state.quit = false;
    }
}

#[test]
fn changes_take_effect_at_once_and_can_be_taken_back() {
    let mut state = state("tr-9960x", (80, 24), GlyphSet::Block);
    state.advance(MS, u64::MAX);
    let press = |state: &mut State, key: Key| {
        if let Some(action) = dispatch(contexts(state), key) {
            update(state, action);
        }
    };
    press(&mut state, Key::Char('p'));
    press(&mut state, Key::Char('/'));
    for c in "plain".chars() {
        press(&mut state, Key::Char(c));
    }
    press(&mut state, Key::Enter);
    assert_eq!(state.session.policy_name(), "plain");
    assert_eq!(state.session.now(), MS, "another policy restarts nothing");

    press(&mut state, Key::Char('P'));
    press(&mut state, Key::Char('l'));
    assert_eq!(state.session.policy_name(), "plain*");
    assert!(!state.session.world().policy().cost_gate);
    press(&mut state, Key::Esc);
    press(&mut state, Key::Char('u'));
    assert_eq!(state.session.policy_name(), "plain");
    press(&mut state, Key::Char('u'));
    assert_eq!(state.session.policy_name(), "ni-random");

    press(&mut state, Key::Char('x'));
    press(&mut state, Key::Char('7'));
    press(&mut state, Key::Enter);
    assert_eq!(state.session.world().class(0).count, 7);
    press(&mut state, Key::Esc);

    press(&mut state, Key::Char('S'));
    press(&mut state, Key::Char('5'));
    press(&mut state, Key::Enter);
    assert_eq!((state.session.setup().seed, state.session.now()), (5, 0));
    assert_eq!(state.session.world().class(0).count, 7, "the mix is kept");
    press(&mut state, Key::Char('u'));
    assert_eq!(state.session.setup().seed, 1);
}

#[test]
fn the_rules_panel_at_two_more_sizes() {
    for (width, height) in [(120, 40), (200, 60)] {
        let mut state = state("tr-9960x", (width, height), GlyphSet::Block);
        update(&mut state, Action::EditRules);
        insta::assert_snapshot!(format!("layer_rules_{width}x{height}"), shot(&state));
    }
}

#[test]
fn rules_and_flags_switch_while_it_runs_and_can_be_taken_back() {
    let mut state = state("tr-9960x", (120, 40), GlyphSet::Block);
    state.advance(MS, u64::MAX);
    let press = |state: &mut State, keys: &str| {
        for c in keys.chars() {
            let key = if c == '\n' { Key::Enter } else { Key::Char(c) };
            if let Some(action) = dispatch(contexts(state), key) {
                update(state, action);
            }
        }
    };
    let said = |state: &State| state.notice.as_ref().map(|notice| notice.text.clone());
    let name = |state: &State| state.session.rules().name.clone();
    // The first row below the six rules is NI_RANDOM, the third SIS_UTIL.
    press(&mut state, "Fjjjjjjjj\n");
    assert_eq!(state.session.rules().changes(), ["NO_SIS_UTIL"]);
    assert_eq!(name(&state), "6.12*");
    assert_eq!(state.session.now(), MS, "a flag restarts nothing");
    let text = said(&state).expect("the footer tells it");
    assert!(text.starts_with("NO_SIS_UTIL: "), "{text}");
    press(&mut state, "\n");
    assert_eq!(name(&state), "6.12", "switched back, nothing differs");
    // The first row is the picking rule; left of CFS it is the last.
    press(&mut state, "ggh");
    let picks = state.session.rules().changes();
    assert_eq!(picks, ["pick=eevdf-6.12.0"]);
    press(&mut state, "quuu");
    assert_eq!(name(&state), "6.12");
    assert!(state.session.rules().changes().is_empty());

    press(&mut state, "K/6.1-cfs\n\n");
    assert_eq!(
        (name(&state).as_str(), state.session.policy_name()),
        ("6.1-cfs", "plain")
    );
    // Its fourth last flag is not in CFS's list: DELAY_ZERO.
    press(&mut state, "FGkkkkh");
    let text = said(&state).expect("the footer tells why not");
    assert_eq!(text, "DELAY_ZERO: not changed: not in cfs-6.1");
    press(&mut state, "qu");
    assert_eq!(
        (name(&state).as_str(), state.session.policy_name()),
        ("6.12", "ni-random")
    );
    // What was done is in the log, and the log makes the same world again.
    let mut again = schedlab::session::Session::new(state.session.setup().clone());
    for (at, change) in state.session.log() {
        again.advance_to(*at);
        again.apply(change.clone());
    }
    state.session.advance_to(3 * MS);
    again.advance_to(3 * MS);
    assert!(again == state.session);
}

#[test]
fn every_row_on_realism_has_three_cells_and_is_on_its_page() {
    let rows: Vec<_> = schedlab::tui::pages::realism_rows().collect();
    assert!(rows.len() > 10);
    assert!(
        rows.iter().flatten().all(|cell| !cell.is_empty()),
        "{rows:?}"
    );
    let mut state = state("tr-9960x", (80, 24), GlyphSet::Block);
    update(&mut state, Action::Realism);
    let Some(schedlab::tui::state::Layer::Page(page)) = state.layers.last() else {
        panic!("the page is open");
    };
    let headings = schedlab::tui::pages::lines(&state, page);
    let count = headings
        .iter()
        .filter(|line| !line[0].0.starts_with(' '))
        .count();
    assert!(count >= rows.len());
}

#[test]
fn every_hint_in_the_footer_is_a_row_of_the_help() {
    let mut state = state("tr-9960x", (200, 60), GlyphSet::Block);
    update(&mut state, Action::Help);
    let Some(schedlab::tui::state::Layer::Page(page)) = state.layers.last() else {
        panic!("help is open");
    };
    let lines = schedlab::tui::pages::lines(&state, page);
    let all: String = lines
        .iter()
        .flatten()
        .map(|(text, _)| text.as_str())
        .collect();
    for binding in BINDINGS {
        assert!(all.contains(binding.help), "{}", binding.name);
    }
}

#[test]
fn the_key_table_of_the_readme_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("there is a README");
    let (start, end) = ("<!-- keys -->\n", "<!-- /keys -->");
    let (before, rest) = readme.split_once(start).expect("the README has the block");
    let (block, after) = rest.split_once(end).expect("the block is closed");
    let table = schedlab::tui::keymap::markdown();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, format!("{before}{start}{table}{end}{after}")).expect("writable");
    } else {
        assert_eq!(block, table, "run with UPDATE_GOLDEN=1 to rewrite it");
    }
}

#[test]
fn a_machine_of_the_users_own_is_offered_and_can_be_chosen() {
    let mut state = state("tr-9960x", (120, 40), GlyphSet::Block);
    let mut own = (*topology::embedded("epyc-2ccd").expect("is built in")).clone();
    own.id = "host".to_owned();
    state.offer(vec![Arc::new(own)]);
    assert_eq!(
        state.machines.len(),
        1,
        "the running preset is not offered twice"
    );
    assert_eq!(list::choose(&mut state, ListKind::Topology, "host"), None);
    assert_eq!(state.session.world().topology().online().len(), 16);
}

#[test]
fn the_work_chart_stays_with_the_class_a_workload_lists_first() {
    let mut state = state("tr-9960x", (120, 40), GlyphSet::Block);
    let mix = Change::Mix {
        class: 0,
        count: Some(0),
        share_permille: None,
        intensity_pct: None,
    };
    // Without a master no step is done, but daemons wake.
    state.session.apply(mix);
    state.session.advance_to(10 * MS);
    let done: Vec<u64> = (state.session.world().classes().iter())
        .map(|class| class.done)
        .collect();
    assert!(done[0] < done[2], "{done:?}");
    let work = &build(&state, 10).charts.series[0];
    assert_eq!(work.unit, "steps/s");
}
