//! From levels to the chains of all CPUs.

use std::collections::BTreeMap;

use super::groups::Groups;
use super::levels::{Level, levels};
use super::prune::prune;
use super::{GroupId, LevelName, SchedDomain, SchedDomains, SchedGroup, SdFlags};
use crate::sim::{CpuId, CpuMask, Topology};

/// Interval multiplier of a busy CPU, at every level.
const BUSY_FACTOR: u32 = 16;

/// A domain while the chain is being built.
pub(super) struct Draft {
    /// Index into the levels.
    pub(super) level: usize,
    pub(super) span: CpuMask,
    pub(super) flags: SdFlags,
    pub(super) groups: Vec<GroupId>,
    imb_numa_nr: u32,
}

/// Chain of each CPU; position in the chain is the level number. CPUs outside
/// of load balancing have an empty chain.
pub(super) struct Chains(pub(super) Vec<Vec<Draft>>);

impl Chains {
    /// The domain of `cpu` at `level`, if its chain gets that far.
    pub(super) fn at(&self, cpu: usize, level: usize) -> Option<&Draft> {
        self.0[cpu].get(level)
    }
}

pub(super) fn build(topology: &Topology) -> SchedDomains {
    let levels = levels(topology);
    let mut chains = chains(topology, &levels);
    let mut groups = Groups::build(&levels, &mut chains);
    for chain in &mut chains.0 {
        set_imb_numa_nr(chain);
    }
    for chain in &mut chains.0 {
        prune(chain, &mut groups);
    }
    finish(topology, &levels, chains, &groups)
}

/// Spans and flags, up to the first level that covers the partition.
fn chains(topology: &Topology, levels: &[Level]) -> Chains {
    let partition = topology.active();
    let capacities = Capacities::of(topology, &partition);
    let chain = |cpu: CpuId| {
        let mut chain: Vec<Draft> = Vec::new();
        if !partition.contains(cpu) {
            return chain;
        }
        for (index, level) in levels.iter().enumerate() {
            let mut span = level.masks[cpu.index()].and(&partition);
            if let Some(child) = chain.last_mut() {
                // Firmware can claim caches that cross; a domain holds at least
                // the one below.
                span = span.or(&child.span);
                if capacities.differ_in(&span) {
                    child.flags = child.flags.without(SdFlags::PREFER_SIBLING);
                }
            }
            let whole = span == partition;
            chain.push(Draft {
                level: index,
                flags: flags(topology, level, capacities.flags(&span)),
                span,
                groups: Vec::new(),
                imb_numa_nr: 0,
            });
            if whole {
                break;
            }
        }
        chain
    };
    Chains(topology.cpu_ids().map(chain).collect())
}

/// Flags a domain starts with (`balancing.md` 1.2).
fn flags(topology: &Topology, level: &Level, capacity_flags: SdFlags) -> SdFlags {
    let far = SdFlags::BALANCE_EXEC
        .with(SdFlags::BALANCE_FORK)
        .with(SdFlags::WAKE_AFFINE);
    let base = SdFlags::BALANCE_NEWIDLE
        .with(level.flags)
        .with(capacity_flags);
    if !level.flags.has(SdFlags::NUMA) {
        base.with(far).with(SdFlags::PREFER_SIBLING)
    } else if level.numa_distance <= topology.node_reclaim_distance {
        base.with(far)
    } else {
        base
    }
}

/// The distinct CPU capacities of the partition.
struct Capacities(Vec<CpuMask>);

impl Capacities {
    fn of(topology: &Topology, partition: &CpuMask) -> Self {
        let mut by_capacity = BTreeMap::<u32, CpuMask>::new();
        for cpu in partition.iter() {
            let capacity = topology.cpu(cpu).capacity;
            by_capacity.entry(capacity).or_default().insert(cpu);
        }
        Self(by_capacity.into_values().collect())
    }

    fn seen_in(&self, span: &CpuMask) -> usize {
        self.0.iter().filter(|cpus| cpus.intersects(span)).count()
    }

    fn differ_in(&self, span: &CpuMask) -> bool {
        self.seen_in(span) > 1
    }

    fn flags(&self, span: &CpuMask) -> SdFlags {
        match self.seen_in(span) {
            0 | 1 => SdFlags::default(),
            all if all == self.0.len() => {
                SdFlags::ASYM_CPUCAPACITY.with(SdFlags::ASYM_CPUCAPACITY_FULL)
            }
            _ => SdFlags::ASYM_CPUCAPACITY,
        }
    }
}

/// Allowed NUMA imbalance, in tasks, at the first level above the LLC: one task
/// per LLC, or an eighth of the CPUs if there is but one LLC
/// (`placement-and-pick.md` 3.3).
#[must_use]
pub fn imb_numa_nr(span_weight: u32, llc_weight: u32) -> u32 {
    match span_weight / llc_weight.max(1) {
        1 => span_weight >> 3,
        llcs => llcs,
    }
    .max(1)
}

/// Allowed imbalance between NUMA groups (`balancing.md` 1.6).
fn set_imb_numa_nr(chain: &mut [Draft]) {
    let shares_llc = |domain: &Draft| domain.flags.has(SdFlags::SHARE_LLC);
    let Some(first) =
        (1..chain.len()).find(|&at| !shares_llc(&chain[at]) && shares_llc(&chain[at - 1]))
    else {
        return;
    };
    let weight = |at: usize| chain[at].span.len() as u32;
    let imb = imb_numa_nr(weight(first), weight(first - 1));
    let numa = (first + 1..chain.len()).find(|&at| chain[at].flags.has(SdFlags::NUMA));
    let unit = weight(numa.unwrap_or(first));
    for (at, domain) in chain.iter_mut().enumerate().skip(first) {
        let factor = if at == first {
            1
        } else {
            (domain.span.len() as u32 / unit).max(1)
        };
        domain.imb_numa_nr = imb * factor;
    }
}

/// Keeps the groups still in use, once each, and fills in the parameters.
fn finish(topology: &Topology, levels: &[Level], chains: Chains, drafts: &Groups) -> SchedDomains {
    let mut out = SchedDomains::default();
    let mut known = BTreeMap::new();
    let mut states = BTreeMap::new();
    let mut group = |level: usize, id: GroupId| {
        let draft = &drafts.drafts[id.0 as usize];
        let key = (level, &draft.span, &draft.balance_mask, draft.flags.0);
        *known.entry(key).or_insert_with(|| {
            let next = states.len() as u32;
            let state = (draft.sgc_level, draft.balance_mask.lowest());
            out.groups.push(SchedGroup {
                span: draft.span.clone(),
                balance_mask: draft.balance_mask.clone(),
                flags: draft.flags,
                cores: distinct_cores(topology, &draft.span),
                cpus: draft.span.iter().collect(),
                sgc: *states.entry(state).or_insert(next),
            });
            GroupId(out.groups.len() as u32 - 1)
        })
    };
    for chain in chains.0.into_iter().enumerate() {
        let (cpu, drafts) = chain;
        let mut domains = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let groups = draft.groups.iter().map(|&id| group(draft.level, id));
            let groups = groups.collect();
            domains.push(domain(cpu, draft, levels, groups));
        }
        out.per_cpu.push(domains);
    }
    out.nr_sgc = states.len() as u32;
    let llc = |cpu: CpuId| {
        let mut shared = out.of(cpu).iter().rev();
        shared
            .find(|domain| domain.flags.has(SdFlags::SHARE_LLC))
            .map_or_else(|| CpuMask::of(cpu), |domain| domain.span.clone())
    };
    out.llc = topology.cpu_ids().map(llc).collect();
    out
}

/// The finished domain of `cpu`, with the parameters of `balancing.md` 1.3.
fn domain(cpu: usize, draft: Draft, levels: &[Level], groups: Vec<GroupId>) -> SchedDomain {
    let level = &levels[draft.level];
    let weight = level.masks[cpu].len() as u32;
    let (imbalance_pct, cache_nice_tries) = match level.name {
        LevelName::Smt => (110, 0),
        LevelName::Cls | LevelName::Mc | LevelName::Pkg | LevelName::Node => (117, 1),
        LevelName::Numa => (117, 2),
    };
    SchedDomain {
        name: level.name,
        level: draft.level as u32,
        span: draft.span,
        flags: draft.flags,
        min_interval_ms: weight,
        max_interval_ms: 2 * weight,
        busy_factor: BUSY_FACTOR,
        imbalance_pct,
        cache_nice_tries,
        imb_numa_nr: draft.imb_numa_nr,
        groups,
        numa_distance: level.numa_distance,
    }
}

fn distinct_cores(topology: &Topology, span: &CpuMask) -> u32 {
    let mut cores: Vec<u32> = span.iter().map(|cpu| topology.cpu(cpu).core).collect();
    cores.sort_unstable();
    cores.dedup();
    cores.len() as u32
}
