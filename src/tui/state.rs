//! Everything the explorer knows, and nothing of the terminal.

use std::sync::Arc;

use crate::scenario::rules::policy_of;
use crate::scenario::topology;
use crate::session::{Change, NamedPolicy, NamedRules, Session, Setup};
use crate::sim::rules::Kernel;
use crate::sim::time::TICK_NS;
use crate::sim::workload::ClassId;
use crate::sim::{CpuId, Ns, Topology};

use super::flashes::Flashes;
use super::glyphs::{GlyphSet, Glyphs};
use super::history::History;
use super::layout::Wish;
use super::layout::grid::Fold;
use super::pace::Pace;
use super::scene::{Columns, Shape};
use super::text::TextField;
use super::theme::{Depth, Theme};

/// A part of the main screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// The grid.
    Machine,
    /// Newidle by domain level.
    Levels,
    /// Charts over time.
    Charts,
    /// The selected CPU.
    Cpu,
    /// The task classes.
    Classes,
}

impl Pane {
    /// In the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Machine,
        Self::Levels,
        Self::Charts,
        Self::Cpu,
        Self::Classes,
    ];

    /// The key that focuses it.
    pub const fn number(self) -> usize {
        self as usize + 1
    }
}

/// What lies over the main screen; the last one gets the keys.
#[derive(Clone, Debug)]
pub enum Layer {
    /// Text to read.
    Page(Page),
    /// Something to choose from.
    List(List),
    /// Values to edit.
    Panel(Panel),
    /// One line to type.
    Prompt(Prompt),
}

/// Which page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Every key.
    Help,
    /// The last newidle decision of the selected CPU.
    Why,
    /// What the model leaves out.
    Realism,
}

/// Text to read.
#[derive(Clone, Debug)]
pub struct Page {
    /// Which.
    pub kind: PageKind,
    /// First line shown.
    pub scroll: usize,
    /// Only lines with this text.
    pub filter: TextField,
    /// The filter is being typed.
    pub typing: bool,
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// An action.
    Palette,
    /// A machine.
    Topology,
    /// A workload.
    Workload,
    /// A policy.
    Policy,
    /// A kernel.
    Kernel,
}

/// Something to choose from.
#[derive(Clone, Debug)]
pub struct List {
    /// What.
    pub kind: ListKind,
    /// Selected row among those shown.
    pub row: usize,
    /// Only rows with this text.
    pub filter: TextField,
    /// The filter is being typed.
    pub typing: bool,
}

/// Which values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelKind {
    /// The fields of the policy.
    Policy,
    /// The rules that can be chosen apart, and the feature flags.
    Rules,
    /// Count, share and intensity of each class.
    Mix,
}

/// Values to edit.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Which.
    pub kind: PanelKind,
    /// Selected row.
    pub row: usize,
    /// A value being typed.
    pub typed: Option<TextField>,
}

/// What is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// A seed.
    Seed,
    /// The number of a CPU.
    Find,
}

/// One line to type.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What.
    pub kind: PromptKind,
    /// The text.
    pub field: TextField,
}

/// A change that can be taken back.
#[derive(Clone, Debug)]
pub enum Undo {
    /// The policy before.
    Policy(NamedPolicy),
    /// The rules before.
    Rules(NamedRules),
    /// The policy and the rules before.
    Kernel(NamedPolicy, NamedRules),
    /// The figures of a class before.
    Mix(Change),
    /// The setup before, which runs anew.
    Setup(Box<Setup>),
}

/// A line in the footer until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What to say.
    pub text: String,
    /// Something failed.
    pub error: bool,
}

/// Most changes that can be taken back; older ones are forgotten.
const MAX_UNDO: usize = 100;

/// How things look to begin with.
#[derive(Clone, Debug)]
pub struct Looks {
    /// Name of the theme.
    pub theme: String,
    /// What the terminal can show.
    pub depth: Depth,
    /// Characters.
    pub glyphs: GlyphSet,
    /// Whether the mouse is captured.
    pub mouse: bool,
}

/// The state of the explorer.
#[derive(Debug)]
pub struct State {
    /// Machines offered beside the presets.
    pub machines: Vec<Arc<Topology>>,
    /// The machine that runs.
    pub session: Session,
    /// The boxes of the machine.
    pub shape: Arc<Shape>,
    /// Which domain of a CPU is in which column of the level table.
    pub columns: Columns,
    /// Speed and pause.
    pub pace: Pace,
    /// What the charts show.
    pub history: History,
    /// Marks of pulls and misses.
    pub flashes: Flashes,
    /// The selected CPU.
    pub selected: CpuId,
    /// The focused pane.
    pub focus: Pane,
    /// Only the focused pane.
    pub zoom: bool,
    /// Coarsest wanted grid.
    pub fold: Option<Fold>,
    /// Level table of the selected CPU only.
    pub scope_cpu: bool,
    /// Level table per second.
    pub rates: bool,
    /// What lies on top.
    pub layers: Vec<Layer>,
    /// Changes, oldest first.
    pub undo: Vec<Undo>,
    /// A line in the footer.
    pub notice: Option<Notice>,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Colours.
    pub theme: Theme,
    /// What the terminal can show.
    pub depth: Depth,
    /// Characters.
    pub glyphs: &'static Glyphs,
    /// The mouse is captured.
    pub mouse: bool,
    /// What is where, from the last time it was drawn.
    pub hits: super::draw::HitMap,
    /// Leave the program.
    pub quit: bool,
    /// Something on the screen changed.
    pub dirty: bool,
}

impl State {
    /// The explorer at the start of a run.
    pub fn new(setup: Setup, pace: Pace, looks: &Looks, size: (u16, u16)) -> Self {
        let session = Session::new(setup);
        let shape = Arc::new(Shape::new(session.world().topology()));
        let columns = Columns::new(session.world().domains());
        let mut state = Self {
            flashes: Flashes::new(shape.nr_cpus()),
            selected: CpuId(0),
            focus: Pane::Machine,
            zoom: false,
            fold: None,
            scope_cpu: false,
            rates: false,
            layers: Vec::new(),
            undo: Vec::new(),
            notice: None,
            size,
            theme: Theme::resolve(&looks.theme, looks.depth),
            depth: looks.depth,
            glyphs: looks.glyphs.glyphs(),
            mouse: looks.mouse,
            hits: super::draw::HitMap::default(),
            quit: false,
            dirty: true,
            machines: Vec::new(),
            session,
            shape,
            columns,
            pace,
            history: History::default(),
        };
        state.history.set_speed(state.pace.chart_speed());
        state.observe();
        state
    }

    /// Offers machines beside the presets; the one the run began on stays among
    /// them.
    pub fn offer(&mut self, machines: Vec<Arc<Topology>>) {
        let begun = Arc::clone(&self.session.setup().topology);
        for machine in machines.into_iter().chain([begun]) {
            let preset = topology::preset(&machine.id).is_some();
            let offered = self.machines.iter().any(|known| known.id == machine.id);
            if !preset && !offered {
                self.machines.push(machine);
            }
        }
    }

    /// What the layout depends on.
    pub fn wish(&self) -> Wish {
        Wish {
            focus: self.focus,
            zoom: self.zoom,
            fold: self.fold,
            classes: self.session.world().classes().len(),
        }
    }

    /// Goes on to `until`, or less if that takes more than `max_events`.
    /// Returns whether `until` was reached.
    pub fn advance(&mut self, until: Ns, mut max_events: u64) -> bool {
        while self.session.now() < until {
            let border = self.history.next_border(self.session.now()).min(until);
            let before = self.session.now();
            let done = self.session.advance(border, max_events);
            self.record();
            max_events = max_events.saturating_sub(done);
            if max_events == 0 || self.session.now() == before {
                break;
            }
        }
        self.dirty = true;
        self.session.now() >= until
    }

    /// Goes on to the next tick.
    pub fn step_tick(&mut self) {
        let next = (self.session.now() / TICK_NS + 1) * TICK_NS;
        self.advance(next, u64::MAX);
    }

    /// Goes on to the next newidle entry, at most `limit` of simulated time;
    /// returns the CPU that entered.
    pub fn step_newidle(&mut self, limit: Ns) -> Option<CpuId> {
        let end = self.session.now() + limit;
        // From border to border of the charts' bins, so that they have no gap.
        while self.session.now() < end {
            let now = self.session.now();
            let border = self.history.next_border(now).min(end);
            let entered = self.session.step_newidle(border - now);
            self.record();
            if entered.is_some() {
                return entered;
            }
        }
        None
    }

    /// Looks at every CPU for what must be marked.
    pub fn observe(&mut self) {
        let world = self.session.world();
        for index in 0..self.shape.nr_cpus() {
            let cpu = CpuId::from_index(index);
            self.flashes.observe(cpu, &world.cpu(cpu));
        }
        self.record();
        self.dirty = true;
    }

    fn record(&mut self) {
        let now = self.session.now();
        if self.history.is_due(now) {
            let sample = super::scene::sample(self.session.world(), &self.columns, self.selected);
            self.history.record(now, &sample);
        }
    }

    /// Runs `setup` from time zero; remembers the one before.
    pub fn restart(&mut self, setup: Setup, undoable: bool) {
        let before = self.setup();
        self.session.restart(setup);
        if undoable {
            self.remember(Undo::Setup(Box::new(before)));
        }
        self.shape = Arc::new(Shape::new(self.session.world().topology()));
        self.columns = Columns::new(self.session.world().domains());
        self.flashes = Flashes::new(self.shape.nr_cpus());
        self.history.clear();
        self.pace.restart();
        if self.selected.index() >= self.shape.nr_cpus() {
            self.selected = CpuId(0);
        }
        self.observe();
    }

    /// What runs now, with every change made since the start.
    ///
    /// Scripted changes of a scenario stay scripted.
    pub fn setup(&self) -> Setup {
        let world = self.session.world();
        let mut setup = self.session.setup().clone();
        setup.policy = NamedPolicy {
            name: self.session.policy_name().to_owned(),
            rules: world.policy().clone(),
        };
        setup.rules = self.session.rules().clone();
        let mut workload = Arc::unwrap_or_clone(setup.workload);
        for (class, now) in workload.classes.iter_mut().zip(world.classes()) {
            class.count = now.count;
            class.share_permille = now.share_permille;
            class.intensity_pct = now.intensity_pct;
        }
        setup.workload = Arc::new(workload);
        setup
    }

    /// Whether the mix is not the one the run started with.
    pub fn is_mixed(&self) -> bool {
        let classes = &self.session.setup().workload.classes;
        let now = self.session.world().classes();
        classes.iter().zip(now).any(|(class, now)| {
            (class.count, class.share_permille, class.intensity_pct)
                != (now.count, now.share_permille, now.intensity_pct)
        })
    }

    /// Another policy, from the next decision on.
    pub fn set_policy(&mut self, policy: NamedPolicy) {
        let before = self.setup().policy;
        if before != policy {
            self.remember(Undo::Policy(before));
            self.session.apply(Change::Policy(policy));
            self.dirty = true;
        }
    }

    /// Other rules, from the next decision on.
    pub fn set_rules(&mut self, rules: NamedRules) {
        let before = self.session.rules().clone();
        if before != rules {
            self.remember(Undo::Rules(before));
            self.session.apply(Change::Rules(rules));
            self.dirty = true;
        }
    }

    /// All rules of a kernel and its policy, from the next decision on.
    pub fn set_kernel(&mut self, kernel: &Kernel) {
        let before = self.setup();
        let (policy, rules) = (policy_of(kernel), NamedRules::of(kernel));
        if before.policy == policy && before.rules == rules {
            return;
        }
        self.remember(Undo::Kernel(before.policy, before.rules));
        self.say(format!("Kernel {}, policy {}", rules.name, policy.name));
        self.session.apply(Change::Policy(policy));
        self.session.apply(Change::Rules(rules));
        self.dirty = true;
    }

    /// Other figures of a class; fields that are none stay.
    pub fn set_mix(
        &mut self,
        class: ClassId,
        count: Option<u32>,
        share_permille: Option<u32>,
        intensity_pct: Option<u32>,
    ) {
        let world = self.session.world();
        let now = world.class(class);
        let before = Change::Mix {
            class,
            count: count.map(|_| now.count),
            share_permille: share_permille.map(|_| now.share_permille),
            intensity_pct: intensity_pct.map(|_| now.intensity_pct),
        };
        let change = Change::Mix {
            class,
            count,
            share_permille,
            intensity_pct,
        };
        if before != change {
            self.remember(Undo::Mix(before));
            self.session.apply(change);
            self.dirty = true;
        }
    }

    fn remember(&mut self, undo: Undo) {
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(undo);
    }

    /// Something to say in the footer.
    pub fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            error: false,
        });
    }

    /// Something that failed, in the footer.
    pub fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            error: true,
        });
    }
}
