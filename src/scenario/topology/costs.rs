//! The cost block of a topology file: defaults, what a machine changes, and
//! where each figure comes from.

use super::Preset;
use super::file::{ByDistanceFile, CostsFile, TopologyFile};
use crate::scenario::problem::Report;
use crate::scenario::units::{Time, format_time};
use crate::sim::Ns;
use crate::sim::cost::{ByDistance, Costs};
use crate::sim::time::MS;
use crate::sim::topology::CAPACITY_SCALE;

/// Names of the costs and the source of their defaults.
const DEFAULT_SOURCES: [(&str, &str); 16] = [
    (
        "context_switch",
        "placement-and-pick.md 8.3: between the core part, 0.35 us, and a pipe ping-pong with its wakes, 1.07 us",
    ),
    ("tick", "placement-and-pick.md 8.3: 1 to 3 us"),
    (
        "wake_select",
        "placement-and-pick.md 8.3: remote wake, the part before the target is marked",
    ),
    (
        "wake_scan_per_cpu",
        "placement-and-pick.md 8.4: 20 to 40 ns in a quiet LLC",
    ),
    (
        "wake_send",
        "placement-and-pick.md 8.3: function-call IPI, send side",
    ),
    (
        "ipi",
        "placement-and-pick.md 8.3: 0.7 to 1.5 us to the handler; further by one line transfer",
    ),
    (
        "idle_exit",
        "placement-and-pick.md 8.2: true C1 exit is below 1 us",
    ),
    ("irq", "placement-and-pick.md 8.3: as an IPI handler"),
    (
        "balance_pass",
        "topologies.md, costs to start from: 0.3 us for SMT",
    ),
    (
        "balance_per_cpu",
        "topologies.md, costs to start from: newidle, per domain",
    ),
    (
        "detach",
        "placement-and-pick.md 8.4: 1 to 2 us in the LLC, 2 to 4 us across",
    ),
    ("blocked_update", "topologies.md, costs to start from"),
    (
        "balance_spread_permille",
        "placement-and-pick.md 8.4: tails of ten times the median under load",
    ),
    (
        "refill_per_mib",
        "placement-and-pick.md 8.5: L2 refill 15, other LLC 50, other socket 120 us per MB",
    ),
    (
        "l2_kib",
        "topologies.md: 1 MB per core on most of these machines",
    ),
    (
        "smt_speed",
        "placement-and-pick.md 8.6: a core of two busy threads gives 1.22",
    ),
];

/// Longest cost: ten thousand times a true one. Beyond it a machine does nothing
/// but kernel work, and the tail of the spread would overflow.
const LONGEST_COST: Ns = 10 * MS;

/// Largest L2 cache, 1 GiB: beyond it the unit was surely mistaken.
const MAX_L2_KIB: u32 = 1 << 20;

/// One cost for people: name, value with its unit, source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Field name; by distance as `ipi.cross_llc`.
    pub name: String,
    /// Value with its unit.
    pub value: String,
    /// Where it comes from.
    pub source: String,
    /// Whether the machine's file changes it.
    pub own: bool,
}

/// Every cost of a machine with its source.
pub fn cost_figures(preset: &Preset) -> Vec<Figure> {
    let default = Costs::default();
    let mut figures = Vec::new();
    for (field, default_source) in DEFAULT_SOURCES {
        let basis = preset.basis.get(field).map(String::as_str);
        let defaults = values(field, &default);
        for ((name, value), usual) in values(field, &preset.topology.costs)
            .into_iter()
            .zip(defaults)
        {
            // A cost by distance is often changed for one distance only.
            let own = value != usual.1;
            figures.push(Figure {
                name,
                source: basis.filter(|_| own).unwrap_or(default_source).into(),
                value,
                own,
            });
        }
    }
    figures
}

fn values(field: &str, costs: &Costs) -> Vec<(String, String)> {
    let one = |value: String| vec![(field.to_string(), value)];
    let by_distance = |by: &ByDistance| {
        [
            ("same_core", by.same_core),
            ("same_llc", by.same_llc),
            ("cross_llc", by.cross_llc),
            ("cross_node", by.cross_node),
        ]
        .map(|(distance, time)| (format!("{field}.{distance}"), format_time(time)))
        .to_vec()
    };
    match field {
        "context_switch" => one(format_time(costs.context_switch)),
        "tick" => one(format_time(costs.tick)),
        "wake_select" => one(format_time(costs.wake_select)),
        "wake_scan_per_cpu" => one(format_time(costs.wake_scan_per_cpu)),
        "wake_send" => one(format_time(costs.wake_send)),
        "ipi" => by_distance(&costs.ipi),
        "idle_exit" => one(format_time(costs.idle_exit)),
        "irq" => one(format_time(costs.irq)),
        "balance_pass" => one(format_time(costs.balance_pass)),
        "balance_per_cpu" => by_distance(&costs.balance_per_cpu),
        "detach" => by_distance(&costs.detach),
        "blocked_update" => one(format_time(costs.blocked_update)),
        "balance_spread_permille" => one(format!(
            "{:.3}",
            f64::from(costs.balance_spread_permille) / 1000.0
        )),
        "refill_per_mib" => by_distance(&costs.refill_per_mib),
        "l2_kib" => one(format!("{} KiB", costs.l2_kib)),
        "smt_speed" => one(format!(
            "{:.2}",
            f64::from(costs.smt_speed) / f64::from(CAPACITY_SCALE)
        )),
        other => unreachable!("{other} is no cost field"),
    }
}

/// The costs of the file over the defaults.
pub(super) fn validate(file: &TopologyFile, report: &mut Report) -> Costs {
    let given = &file.costs;
    check_basis(file, report);
    let default = Costs::default();
    if given.context_switch == Some(Time(0)) {
        report.at(
            "costs.context_switch",
            "a context switch takes no time, so two tasks that wake each other stop the clock",
            "give at least 1ns",
        );
    }
    let time = |given: Option<Time>, default: Ns| given.map_or(default, |time| time.0);
    let costs = Costs {
        context_switch: time(given.context_switch, default.context_switch),
        tick: time(given.tick, default.tick),
        wake_select: time(given.wake_select, default.wake_select),
        wake_scan_per_cpu: time(given.wake_scan_per_cpu, default.wake_scan_per_cpu),
        wake_send: time(given.wake_send, default.wake_send),
        ipi: by_distance(given.ipi, default.ipi),
        idle_exit: time(given.idle_exit, default.idle_exit),
        irq: time(given.irq, default.irq),
        balance_pass: time(given.balance_pass, default.balance_pass),
        balance_per_cpu: by_distance(given.balance_per_cpu, default.balance_per_cpu),
        detach: by_distance(given.detach, default.detach),
        blocked_update: time(given.blocked_update, default.blocked_update),
        balance_spread_permille: spread(given, default.balance_spread_permille, report),
        refill_per_mib: by_distance(given.refill_per_mib, default.refill_per_mib),
        l2_kib: l2_kib(given, default.l2_kib, report),
        smt_speed: smt_speed(given, default.smt_speed, report),
    };
    check_lengths(&costs, report);
    costs
}

/// No cost is absurdly long.
fn check_lengths(costs: &Costs, report: &mut Report) {
    let single = [
        ("context_switch", costs.context_switch),
        ("tick", costs.tick),
        ("wake_select", costs.wake_select),
        ("wake_scan_per_cpu", costs.wake_scan_per_cpu),
        ("wake_send", costs.wake_send),
        ("idle_exit", costs.idle_exit),
        ("irq", costs.irq),
        ("balance_pass", costs.balance_pass),
        ("blocked_update", costs.blocked_update),
    ];
    let by_distance = [
        ("ipi", &costs.ipi),
        ("balance_per_cpu", &costs.balance_per_cpu),
        ("detach", &costs.detach),
        ("refill_per_mib", &costs.refill_per_mib),
    ]
    .map(|(name, by)| {
        let longest = by.same_core.max(by.same_llc).max(by.cross_llc);
        (name, longest.max(by.cross_node))
    });
    for (name, time) in single.into_iter().chain(by_distance) {
        if time > LONGEST_COST {
            report.at(
                &format!("costs.{name}"),
                format!("`{name}` of {} is no cost of a kernel", format_time(time)),
                format!("allowed: up to {}", format_time(LONGEST_COST)),
            );
        }
    }
}

fn by_distance(given: Option<ByDistanceFile>, default: ByDistance) -> ByDistance {
    let given = given.unwrap_or_default();
    let time = |given: Option<Time>, default: Ns| given.map_or(default, |time| time.0);
    ByDistance {
        same_core: time(given.same_core, default.same_core),
        same_llc: time(given.same_llc, default.same_llc),
        cross_llc: time(given.cross_llc, default.cross_llc),
        cross_node: time(given.cross_node, default.cross_node),
    }
}

fn spread(given: &CostsFile, default: u32, report: &mut Report) -> u32 {
    let spread = given.balance_spread_permille.unwrap_or(default);
    if spread > 3_000 {
        let what = format!("the spread is {spread} thousandths");
        report.at("costs.balance_spread_permille", what, "allowed: 0 to 3000");
    }
    spread
}

fn l2_kib(given: &CostsFile, default: u32, report: &mut Report) -> u32 {
    let size = given.l2_kib.unwrap_or(default);
    if !(1..=MAX_L2_KIB).contains(&size) {
        let what = format!("the L2 cache has {size} KiB");
        report.at("costs.l2_kib", what, format!("allowed: 1 to {MAX_L2_KIB}"));
    }
    size
}

fn smt_speed(given: &CostsFile, default: u32, report: &mut Report) -> u32 {
    let Some(fraction) = given.smt_speed else {
        return default;
    };
    if !(fraction > 0.0 && fraction <= 1.0) {
        let what = format!("`smt_speed` is {fraction}");
        report.at(
            "costs.smt_speed",
            what,
            "allowed: above 0, up to 1.0 (0.5 means SMT gains nothing)",
        );
        return default;
    }
    ((fraction * f64::from(CAPACITY_SCALE)).round() as u32).max(1)
}

/// A figure nobody can trace is worth nothing: each one given needs its basis,
/// and each basis its figure.
fn check_basis(file: &TopologyFile, report: &mut Report) {
    let given = &file.costs;
    let fields = [
        ("context_switch", given.context_switch.is_some()),
        ("tick", given.tick.is_some()),
        ("wake_select", given.wake_select.is_some()),
        ("wake_scan_per_cpu", given.wake_scan_per_cpu.is_some()),
        ("wake_send", given.wake_send.is_some()),
        ("ipi", given.ipi.is_some()),
        ("idle_exit", given.idle_exit.is_some()),
        ("irq", given.irq.is_some()),
        ("balance_pass", given.balance_pass.is_some()),
        ("balance_per_cpu", given.balance_per_cpu.is_some()),
        ("detach", given.detach.is_some()),
        ("blocked_update", given.blocked_update.is_some()),
        (
            "balance_spread_permille",
            given.balance_spread_permille.is_some(),
        ),
        ("refill_per_mib", given.refill_per_mib.is_some()),
        ("l2_kib", given.l2_kib.is_some()),
        ("smt_speed", given.smt_speed.is_some()),
    ];
    for (name, is_given) in fields {
        if is_given && !file.basis.contains_key(name) {
            let what = format!("`costs.{name}` has no basis");
            let remedy = format!("say where it comes from: basis: {{\"{name}\": \"...\"}}");
            report.at(&format!("costs.{name}"), what, remedy);
        }
    }
    for name in file.basis.keys() {
        if !fields.contains(&(name.as_str(), true)) {
            let what = format!("`basis` explains `{name}`, which `costs` does not give");
            report.at(
                &format!("basis.{name}"),
                what,
                "add the cost or drop the remark",
            );
        }
    }
}
