//! Decisions in words, with their numbers.

use crate::sim::CpuId;
use crate::sim::gate::{GatePolicy, PickRule};
use crate::sim::topology::Distance;
use crate::sim::view::{NewidleEnd, NewidleOutcome};
use crate::sim::world::World;

use super::Shape;
use crate::tui::numbers::time;

/// Everything about the last newidle entry and the last pull of a CPU.
pub fn explain(world: &World, shape: &Shape, cpu: CpuId) -> Vec<String> {
    let mut lines = last_newidle(world, shape, cpu);
    lines.push(last_pull(world, shape, cpu));
    lines.extend(chances(world, cpu));
    lines
}

/// How the last newidle entry went.
pub fn last_newidle(world: &World, shape: &Shape, cpu: CpuId) -> Vec<String> {
    let Some(outcome) = world.cpu(cpu).last_newidle else {
        return vec!["It has not gone idle yet.".to_owned()];
    };
    let name = |level: usize| world.domains().of(cpu)[level].name.to_string();
    let names = |levels: u32| {
        let chain = 0..world.domains().of(cpu).len();
        let chosen: Vec<String> = chain.filter(|i| levels >> i & 1 == 1).map(name).collect();
        chosen.join(", ")
    };
    let ago = time(world.now().saturating_sub(outcome.at));
    let mut lines = Vec::new();
    let mut did = Vec::new();
    if outcome.searched != 0 {
        did.push(format!("searched {}", names(outcome.searched)));
    }
    if outcome.skipped != 0 {
        let who = skipper(world.policy());
        did.push(format!("{who} skipped {}", names(outcome.skipped)));
    }
    let did = if did.is_empty() {
        String::new()
    } else {
        format!("{}; ", did.join(", "))
    };
    let end = end(&outcome, name, world, shape, cpu);
    lines.push(format!("Newidle {ago} ago: {did}{end}"));
    lines
}

fn skipper(policy: &GatePolicy) -> &'static str {
    match policy.pick {
        PickRule::Accumulator => "the accumulator",
        PickRule::None => "the policy",
        PickRule::Dice | PickRule::All => "the dice",
    }
}

fn end(
    outcome: &NewidleOutcome,
    name: impl Fn(usize) -> String,
    world: &World,
    shape: &Shape,
    cpu: CpuId,
) -> String {
    match outcome.end {
        NewidleEnd::NotOverloaded => {
            "no runqueue had two tasks (rd->overloaded 0), so it did not look.".to_owned()
        }
        NewidleEnd::CostGate { level, cost } => format!(
            "the cost gate stopped it before {}: avg_idle {} < {} (time spent + max_newidle_lb_cost).",
            name(level),
            time(outcome.avg_idle),
            time(cost)
        ),
        NewidleEnd::Nothing if outcome.searched == 0 => "so it searched nothing.".to_owned(),
        NewidleEnd::Nothing => "found nothing to pull.".to_owned(),
        NewidleEnd::Pulled { level } => {
            let from = world.cpu(cpu).last_pull.map_or_else(String::new, |pull| {
                format!(" from CPU {}", shape.os_ids[pull.from.index()])
            });
            format!("pulled a task at {}{from}.", name(level))
        }
        NewidleEnd::Woken => "a task was woken here meanwhile.".to_owned(),
    }
}

/// The last pull.
pub fn last_pull(world: &World, shape: &Shape, cpu: CpuId) -> String {
    let Some(pull) = world.cpu(cpu).last_pull else {
        return "No task was pulled here yet.".to_owned();
    };
    let distance = match world.topology().distance(cpu, pull.from) {
        Distance::SameCpu | Distance::SameCore => "same core",
        Distance::SameLlc => "same LLC",
        Distance::CrossLlc => "other LLC",
        Distance::CrossNode => "other node",
    };
    let by = if pull.newidle { "newidle" } else { "periodic" };
    let letter = world.class(pull.class).letter;
    format!(
        "Last pull {} ago: {letter} from CPU {} ({distance}, {by}).",
        time(world.now().saturating_sub(pull.at)),
        shape.os_ids[pull.from.index()]
    )
}

/// What each level's ratio means for the next call.
pub fn chances(world: &World, cpu: CpuId) -> Vec<String> {
    let policy = world.policy();
    let chain = world.domains().of(cpu);
    (0..chain.len())
        .map(|level| {
            let domain = world.domain(cpu, level);
            let (ratio, cost) = (domain.gate.newidle_ratio, domain.gate.max_newidle_lb_cost);
            let chance = match policy.pick {
                PickRule::All => "every call searches".to_owned(),
                PickRule::None => "no call searches".to_owned(),
                PickRule::Dice | PickRule::Accumulator => {
                    format!(
                        "ratio {ratio}: {} of 1024 calls search",
                        searches(policy, ratio)
                    )
                }
            };
            format!(
                "{}: {chance}; max_newidle_lb_cost {}.",
                domain.name,
                time(cost)
            )
        })
        .collect()
}

/// Calls in 1024 that search at this ratio (`balancing.md` 4.1 and 4.7).
fn searches(policy: &GatePolicy, ratio: u32) -> u32 {
    if policy.no_dice_at_full && ratio >= 1024 {
        return 1024;
    }
    let weight = ratio.saturating_add(1).max(policy.floor);
    match policy.pick {
        // `d1k <= weight` searches: one outcome more than the weight.
        PickRule::Dice => weight.saturating_add(1).min(1024),
        _ => weight.min(1024),
    }
}
