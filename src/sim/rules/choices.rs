//! Rules that are one of several, under the names the field uses for them.

use crate::sim::fair::PickRule;

/// Where a woken task goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WakeupRule {
    /// `select_idle_sibling()` of 6.12. Source: placement-and-pick.md 2.
    #[default]
    Stock612,
    /// The same of mainline 2026: the budget is tested before the mask, a
    /// SCHED_IDLE CPU is no target for a SCHED_IDLE task, and on asymmetric
    /// capacity whole idle cores come first. Source: placement-and-pick.md 2.6,
    /// 2.7.
    StockMainline,
    /// The other LLCs of the node are searched too ("sched/fair: Multi-LLC
    /// select_idle_sibling()", May 2023, not merged). Source:
    /// placement-and-pick.md 5.1.
    SisNode,
    /// The same with a budget over the whole node. Source: placement-and-pick.md
    /// 5.1.
    SisNodeUtil,
    /// A wholly idle core of the previous CPU comes before everything (CachyMod
    /// 0280, "prefer the previous cpu for wakeup"). Source:
    /// placement-and-pick.md 5.2.
    PreferIdleCore,
    /// Like scx_cosmos: idle CPUs are claimed, what finds none waits by deadline in
    /// a queue of the node, nothing is balanced. Stands in for the picking rule
    /// too. Source: placement-and-pick.md 5.4.
    Cosmos,
    /// The same with the published options `-m 0-5 -s 800 -l 8000 -f -c 1 -p 0`:
    /// what finds no idle CPU waits in the queue of its own one, in turns.
    CosmosRoundRobin,
}

/// Which of the idle CPUs of the idlest group a forked task gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForkRule {
    /// Among the shallowest idle the one that went idle last. Source:
    /// placement-and-pick.md 3.4.
    #[default]
    Recency,
    /// Among the shallowest idle the first ("Randomize equally shallow idle CPU
    /// picks", patch 1, September 2026). Source: placement-and-pick.md 3.5.
    First,
    /// Among the shallowest idle one at random (the same, patch 2).
    Random,
}

/// What placement makes of a CPU that runs nothing but SCHED_IDLE tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchedIdleRule {
    /// As good as an idle one, and on the slow path better (17346452b25b).
    #[default]
    Consistent,
    /// The same, but not for a SCHED_IDLE wakee (fd54d81c2c0e, "Skip SCHED_IDLE
    /// rq for SCHED_IDLE task").
    SkipForIdleWakee,
    /// Truly idle ones come first (RFC "Prioritize idle cpus over SCHED_IDLE
    /// ones", March 2025, patch 1). Source: placement-and-pick.md 4.3.
    IdleFirst,
    /// And on the slow path it is as busy as any (both patches of the RFC).
    IdleFirstNoSlow,
}

/// Which version of the balance pass. Source: `balancing.md` 11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BalanceRule {
    /// 6.12 and before.
    #[default]
    Stock612,
    /// Mainline 2026.
    Mainline,
}

/// When an idle period counts into `avg_idle`. Source: `balancing.md` 2.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AvgIdleRule {
    /// At the wakeup that ends it; a task that comes otherwise ends none.
    #[default]
    Wakeup,
    /// When the CPU leaves the idle task, measured or not (4b603f1551a7).
    LeaveIdle,
    /// The same, if a period was being measured.
    LeaveIdleGuarded,
}

/// A rule by name.
#[derive(Clone, Copy, Debug)]
pub struct Choice<T> {
    /// The rule.
    pub value: T,
    /// Its name, as on the command line and in scenarios.
    pub name: &'static str,
    /// Other names, as published results use them.
    pub aliases: &'static [&'static str],
    /// One line for people.
    pub about: &'static str,
}

const fn choice<T>(
    value: T,
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
) -> Choice<T> {
    Choice {
        value,
        name,
        aliases,
        about,
    }
}

/// The choice of this name or alias.
pub fn choice_of<T>(table: &'static [Choice<T>], name: &str) -> Option<&'static Choice<T>> {
    table
        .iter()
        .find(|choice| choice.name == name || choice.aliases.contains(&name))
}

/// Wakeup placements.
pub const WAKEUP: [Choice<WakeupRule>; 7] = [
    choice(
        WakeupRule::Stock612,
        "stock-6.12",
        &["stock"],
        "select_idle_sibling() of 6.12",
    ),
    choice(
        WakeupRule::StockMainline,
        "stock-ml",
        &[],
        "select_idle_sibling() of mainline 2026",
    ),
    choice(
        WakeupRule::SisNode,
        "sis-node",
        &[],
        "SIS_NODE: search the other LLCs of the node too (May 2023)",
    ),
    choice(
        WakeupRule::SisNodeUtil,
        "sis-node-util",
        &["sis-node+sis-util"],
        "SIS_NODE with a budget for the node",
    ),
    choice(
        WakeupRule::PreferIdleCore,
        "prefer-idle-core",
        &[],
        "stay on the previous core while it is wholly idle (CachyMod 0280)",
    ),
    choice(
        WakeupRule::Cosmos,
        "cosmos",
        &[],
        "like scx_cosmos: idle CPUs are claimed, deadlines, no balancing",
    ),
    choice(
        WakeupRule::CosmosRoundRobin,
        "cosmos-rr",
        &["scx-cosmos"],
        "the same with -m 0-5 -s 800 -l 8000 -c 1: turns on each CPU",
    ),
];

/// Fork placements.
pub const FORK: [Choice<ForkRule>; 3] = [
    choice(
        ForkRule::Recency,
        "recency",
        &["slowpath-shallowest-recent"],
        "of equally shallow idle CPUs the one that went idle last",
    ),
    choice(
        ForkRule::First,
        "first",
        &[],
        "of equally shallow idle CPUs the first",
    ),
    choice(
        ForkRule::Random,
        "random",
        &["slowpath-random"],
        "of equally shallow idle CPUs one at random",
    ),
];

/// Places of SCHED_IDLE CPUs in placement.
pub const SCHED_IDLE: [Choice<SchedIdleRule>; 4] = [
    choice(
        SchedIdleRule::Consistent,
        "consistent",
        &["sched-idle-preferred"],
        "as good as idle, better on the slow path (17346452b25b)",
    ),
    choice(
        SchedIdleRule::SkipForIdleWakee,
        "skip-for-idle-wakee",
        &[],
        "the same, but not for SCHED_IDLE wakees (fd54d81c2c0e)",
    ),
    choice(
        SchedIdleRule::IdleFirst,
        "idle-first",
        &[],
        "idle CPUs first (RFC of March 2025, patch 1)",
    ),
    choice(
        SchedIdleRule::IdleFirstNoSlow,
        "idle-first-no-slow",
        &["sched-idle-not-special"],
        "idle CPUs first, no favour on the slow path (both patches)",
    ),
];

/// Balance passes.
pub const BALANCE: [Choice<BalanceRule>; 2] = [
    choice(BalanceRule::Stock612, "6.12", &[], "as in 6.12"),
    choice(
        BalanceRule::Mainline,
        "mainline",
        &["ml"],
        "as in mainline 2026",
    ),
];

/// Samplings of `avg_idle`.
pub const AVG_IDLE: [Choice<AvgIdleRule>; 3] = [
    choice(
        AvgIdleRule::Wakeup,
        "wakeup",
        &[],
        "at the wakeup that ends an idle period",
    ),
    choice(
        AvgIdleRule::LeaveIdle,
        "leave-idle",
        &[],
        "whenever the idle task is left (4b603f1551a7)",
    ),
    choice(
        AvgIdleRule::LeaveIdleGuarded,
        "leave-idle-guarded",
        &[],
        "the same, if a period was being measured",
    ),
];

/// Picking rules.
pub const PICK: [Choice<PickRule>; 6] = [
    choice(PickRule::Cfs61, "cfs-6.1", &["cfs"], "CFS of 6.1"),
    choice(
        PickRule::Eevdf2023,
        "eevdf-2023",
        &["eevdf-early"],
        "the sched/eevdf branch of March 2023",
    ),
    choice(
        PickRule::Eevdf612First,
        "eevdf-6.12.0",
        &[],
        "EEVDF of the first 6.12",
    ),
    choice(
        PickRule::Eevdf612,
        "eevdf-6.12",
        &[],
        "EEVDF of late 6.12 stable",
    ),
    choice(
        PickRule::Eevdf617,
        "eevdf-6.17",
        &[],
        "EEVDF of 6.17 to 6.19",
    ),
    choice(
        PickRule::EevdfMainline,
        "eevdf-ml",
        &[],
        "EEVDF of mainline 2026",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_name_and_its_published_names() {
        fn check<T>(table: &'static [Choice<T>]) {
            let mut all: Vec<&str> = Vec::new();
            for entry in table {
                all.push(entry.name);
                all.extend(entry.aliases);
            }
            for name in &all {
                assert!(choice_of(table, name).is_some(), "{name}");
            }
            let before = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), before);
        }
        check(&WAKEUP);
        check(&FORK);
        check(&SCHED_IDLE);
        check(&BALANCE);
        check(&AVG_IDLE);
        check(&PICK);
        let random = choice_of(&FORK, "slowpath-random").map(|choice| choice.value);
        assert_eq!(random, Some(ForkRule::Random));
    }
}
