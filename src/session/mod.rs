//! One world and the log of what the user changed.
//!
//! The explorer and headless runs drive a world only through a session, so
//! they cannot differ.

use std::sync::Arc;

use crate::sim::gate::{GatePolicy, History};
use crate::sim::rules::{self, DEFAULT_KERNEL, Kernel, Rules};
use crate::sim::shape::Shape;
use crate::sim::time::TICK_NS;
use crate::sim::trace::{TraceEvent, TraceKind};
use crate::sim::workload::{ClassId, Workload};
use crate::sim::world::{Boot, World};
use crate::sim::{CpuId, Ns, Topology};

/// Everything a run is made of: same setup, same event stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The machine.
    pub topology: Arc<Topology>,
    /// The mix of tasks.
    pub workload: Arc<Workload>,
    /// The newidle gate and the name it goes by.
    pub policy: NamedPolicy,
    /// All other rules and the kernel they go by.
    pub rules: NamedRules,
    /// What the machine did before; none = fresh from boot.
    pub history: Option<History>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Scripted changes, ascending by time.
    pub timeline: Vec<(Ns, Change)>,
}

/// A policy and its name, such as `ni-rate`; a changed field makes it
/// `ni-rate*`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPolicy {
    /// Name for people and results.
    pub name: String,
    /// The rules.
    pub rules: GatePolicy,
}

/// Rules and the kernel they go by, such as `6.12`; a changed rule makes it
/// `6.12*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRules {
    /// Name for people and results.
    pub name: String,
    /// The rules.
    pub rules: Rules,
}

impl NamedRules {
    /// The rules of a kernel.
    pub fn of(kernel: &Kernel) -> Self {
        Self {
            name: kernel.name.into(),
            rules: kernel.rules(),
        }
    }

    /// The kernel these rules go by, changed or not.
    pub fn kernel(&self) -> &'static Kernel {
        let name = self.name.trim_end_matches('*');
        rules::kernel(name).unwrap_or(&DEFAULT_KERNEL)
    }

    /// Other rules that go by the same kernel; the name has a star as long as
    /// they are not that kernel's.
    #[must_use]
    pub fn changed(&self, rules: Rules) -> Self {
        let kernel = self.kernel();
        let star = if rules == kernel.rules() { "" } else { "*" };
        Self {
            name: format!("{}{star}", kernel.name),
            rules,
        }
    }

    /// What differs from the kernel, such as `NO_SIS_UTIL` or `fork=random`.
    pub fn changes(&self) -> Vec<String> {
        self.rules.changes_from(&self.kernel().rules())
    }
}

impl Default for NamedRules {
    fn default() -> Self {
        Self::of(&DEFAULT_KERNEL)
    }
}

/// A change while the machine runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Another newidle policy, from the next decision on. Statistics stay.
    Policy(NamedPolicy),
    /// Other rules, from the next decision on.
    Rules(NamedRules),
    /// Another size or rate of one class; fields that are none stay.
    Mix {
        /// Which class.
        class: ClassId,
        /// New [`crate::sim::workload::Class::count`].
        count: Option<u32>,
        /// New share, thousandths.
        share_permille: Option<u32>,
        /// New rate, percent.
        intensity_pct: Option<u32>,
    },
}

/// A world being driven.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    setup: Setup,
    world: World,
    policy_name: String,
    rules: NamedRules,
    /// Scripted changes already made.
    made: usize,
    /// Changes the user made, and when.
    log: Vec<(Ns, Change)>,
}

impl Session {
    /// Boots the machine of `setup`.
    pub fn new(setup: Setup) -> Self {
        let shape = Arc::new(Shape::new(Arc::clone(&setup.topology)));
        Self::on(shape, setup)
    }

    fn on(shape: Arc<Shape>, setup: Setup) -> Self {
        let workload = Arc::clone(&setup.workload);
        let boot = Boot {
            policy: setup.policy.rules.clone(),
            rules: setup.rules.rules,
            history: setup.history,
            seed: setup.seed,
        };
        let world = World::new(shape, workload, boot);
        let mut session = Self {
            policy_name: setup.policy.name.clone(),
            rules: setup.rules.clone(),
            setup,
            world,
            made: 0,
            log: Vec::new(),
        };
        session.make_due_changes();
        session
    }

    /// What the run was started with.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The machine as it is now.
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Simulated time.
    pub const fn now(&self) -> Ns {
        self.world.now()
    }

    /// Name of the policy in force.
    pub fn policy_name(&self) -> &str {
        &self.policy_name
    }

    /// The other rules in force and the kernel they go by.
    pub const fn rules(&self) -> &NamedRules {
        &self.rules
    }

    /// Changes the user made so far, and when.
    pub fn log(&self) -> &[(Ns, Change)] {
        &self.log
    }

    /// Starts over with another setup.
    pub fn restart(&mut self, setup: Setup) {
        let same_machine = setup.topology == self.setup.topology;
        *self = if same_machine {
            Self::on(self.world.shape(), setup)
        } else {
            Self::new(setup)
        };
    }

    /// Makes a change now.
    pub fn apply(&mut self, change: Change) {
        self.log.push((self.now(), change.clone()));
        self.make(change);
    }

    /// Runs to `until`, scripted changes included.
    pub fn advance_to(&mut self, until: Ns) {
        while self.now() < until {
            self.advance(until, u64::MAX);
        }
    }

    /// Runs at most `max_events` events and not beyond `until`. Returns the
    /// events run; fewer than asked means that `until` was reached.
    pub fn advance(&mut self, until: Ns, max_events: u64) -> u64 {
        let mut done = 0;
        while done < max_events {
            let stop = self.next_change().map_or(until, |at| at.min(until));
            done += self.world.run_until(stop, max_events - done);
            if done < max_events {
                self.make_due_changes();
                if stop >= until {
                    break;
                }
            }
        }
        done
    }

    /// Runs one event. Returns what it did, empty at the end of all events.
    pub fn step_event(&mut self) -> Vec<TraceEvent> {
        self.world.trace_mut().record(true);
        if let Some(time) = self.world.next_event_time() {
            match self.next_change() {
                Some(at) if at <= time => {
                    self.world.run_until(at, 0);
                    self.advance(at, 1);
                }
                _ => {
                    self.world.step();
                }
            }
        }
        let events = self.world.trace_mut().take();
        self.world.trace_mut().record(false);
        events
    }

    /// Runs to the next tick.
    pub fn step_tick(&mut self) {
        let next = (self.now() / TICK_NS + 1) * TICK_NS;
        self.advance_to(next);
    }

    /// Runs to the next newidle entry, at most `limit` of simulated time.
    /// Returns the CPU that entered.
    pub fn step_newidle(&mut self, limit: Ns) -> Option<CpuId> {
        let end = self.now() + limit;
        loop {
            match self.world.next_event_time() {
                Some(time) if time <= end => {}
                _ => {
                    self.advance_to(end);
                    return None;
                }
            }
            let events = self.step_event();
            let entry = events
                .iter()
                .find(|event| event.kind == TraceKind::NewidleStart);
            if let Some(entry) = entry {
                return Some(entry.cpu);
            }
        }
    }

    fn next_change(&self) -> Option<Ns> {
        self.setup.timeline.get(self.made).map(|(at, _)| *at)
    }

    fn make_due_changes(&mut self) {
        while self.next_change().is_some_and(|at| at <= self.now()) {
            let change = self.setup.timeline[self.made].1.clone();
            self.made += 1;
            self.make(change);
        }
    }

    fn make(&mut self, change: Change) {
        match change {
            Change::Policy(policy) => {
                self.policy_name = policy.name;
                self.world.set_policy(policy.rules);
            }
            Change::Rules(rules) => {
                self.world.set_rules(rules.rules);
                self.rules = rules;
            }
            Change::Mix {
                class,
                count,
                share_permille,
                intensity_pct,
            } => {
                self.world
                    .set_mix(class, count, share_permille, intensity_pct);
            }
        }
    }
}
