//! What never changes about a machine while it runs, laid out for loops.

use std::sync::Arc;

use super::domain::{self, SchedDomains};
use super::time::Ns;
use super::topology::{CAPACITY_SCALE, CpuId, Distance, Topology};

/// Entries in the table of cost factors: enough for a 3-sigma tail.
const SPREAD_STEPS: usize = 1024;

/// A machine, its sched domains and tables derived from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The machine.
    pub topology: Arc<Topology>,
    /// Its sched domains.
    pub domains: SchedDomains,
    /// Other SMT threads of each CPU's core, online ones.
    pub siblings: Vec<Vec<CpuId>>,
    /// Scheduler LLC of each CPU: index into `llcs`.
    pub llc_of: Vec<usize>,
    /// CPUs of each scheduler LLC, ascending.
    pub llcs: Vec<Vec<CpuId>>,
    /// Position of each CPU in its LLC.
    pub llc_pos: Vec<usize>,
    /// Online CPUs, ascending.
    pub online: Vec<CpuId>,
    /// Index of each CPU's lowest domain in flat per-domain tables.
    pub sd_base: Vec<usize>,
    /// Nominal cost of one pass over each domain.
    pub pass_cost: Vec<Ns>,
    /// Capacity of each group.
    pub group_capacity: Vec<u64>,
    /// Lognormal cost factors of median 1024 at equal steps of probability.
    spread: Vec<u64>,
    distances: Vec<Distance>,
}

impl Shape {
    /// Lays out `topology`.
    pub fn new(topology: Arc<Topology>) -> Self {
        let domains = domain::build(&topology);
        let ids: Vec<CpuId> = topology.cpu_ids().collect();
        let online: Vec<CpuId> = topology.online().iter().collect();
        let siblings = ids
            .iter()
            .map(|&id| {
                let core = topology.cpu(id).core;
                let others = online.iter().copied();
                others
                    .filter(|&c| c != id && topology.cpu(c).core == core)
                    .collect()
            })
            .collect();
        let (llc_of, llc_pos, llcs) = llc_tables(&domains, &ids);
        let distances = ids
            .iter()
            .flat_map(|&a| ids.iter().map(move |&b| (a, b)))
            .map(|(a, b)| topology.distance(a, b))
            .collect();
        let spread = spread_table(topology.costs.balance_spread_permille);
        let group_capacity = domains
            .groups
            .iter()
            .map(|g| {
                g.cpus
                    .iter()
                    .map(|&c| u64::from(topology.cpu(c).capacity))
                    .sum()
            })
            .collect();
        let mut shape = Self {
            siblings,
            llc_of,
            llcs,
            llc_pos,
            online,
            sd_base: Vec::new(),
            pass_cost: Vec::new(),
            group_capacity,
            spread,
            distances,
            topology,
            domains,
        };
        shape.lay_out_domains();
        shape
    }

    fn lay_out_domains(&mut self) {
        let costs = &self.topology.costs;
        for cpu in self.topology.cpu_ids() {
            self.sd_base.push(self.pass_cost.len());
            for sd in self.domains.of(cpu) {
                let reads: Ns = sd
                    .span
                    .iter()
                    .map(|other| costs.balance_per_cpu.at(self.distance(cpu, other)))
                    .sum();
                self.pass_cost.push(costs.balance_pass + reads);
            }
        }
    }

    /// How far apart two CPUs are.
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        self.distances[a.index() * self.topology.nr_cpus() + b.index()]
    }

    /// Flat index of the domain of `cpu` at `level` of its chain.
    pub fn sd(&self, cpu: CpuId, level: usize) -> usize {
        self.sd_base[cpu.index()] + level
    }

    /// Whether two CPUs share a last-level cache, as the scheduler sees it.
    pub fn share_cache(&self, a: CpuId, b: CpuId) -> bool {
        self.llc_of[a.index()] == self.llc_of[b.index()]
    }

    /// `nominal` scaled by the lognormal factor that 64 random bits choose.
    pub fn spread(&self, nominal: Ns, random: u64) -> Ns {
        let factor = self.spread[(random >> 54) as usize];
        // At least 1 ns: a pass of no cost would not be counted (balancing.md 3.1).
        (nominal * factor / u64::from(CAPACITY_SCALE)).max(1)
    }
}

type LlcTables = (Vec<usize>, Vec<usize>, Vec<Vec<CpuId>>);

fn llc_tables(domains: &SchedDomains, ids: &[CpuId]) -> LlcTables {
    let mut llcs: Vec<Vec<CpuId>> = Vec::new();
    let mut llc_of = Vec::new();
    let mut llc_pos = Vec::new();
    for &id in ids {
        let members: Vec<CpuId> = domains.llc[id.index()].iter().collect();
        // Offline CPUs have an empty mask: an LLC of their own.
        let members = if members.is_empty() {
            vec![id]
        } else {
            members
        };
        llc_pos.push(members.iter().position(|&c| c == id).unwrap_or(0));
        let known = llcs.iter().position(|llc| *llc == members);
        llc_of.push(known.unwrap_or_else(|| {
            llcs.push(members);
            llcs.len() - 1
        }));
    }
    (llc_of, llc_pos, llcs)
}

/// Quantiles of the standard normal distribution at the middles of
/// `SPREAD_STEPS` equal steps, by bisection (`libm`, so the same everywhere).
fn normal_quantiles() -> Vec<f64> {
    let cdf = |z: f64| 0.5 * libm::erfc(-z / core::f64::consts::SQRT_2);
    (0..SPREAD_STEPS)
        .map(|step| {
            let p = (step as f64 + 0.5) / SPREAD_STEPS as f64;
            let (mut low, mut high) = (-6.0, 6.0);
            // 30 halvings of 12 leave 1e-8, far below one unit of the tables.
            for _ in 0..30 {
                let middle = 0.5 * (low + high);
                if cdf(middle) < p {
                    low = middle
                } else {
                    high = middle
                }
            }
            0.5 * (low + high)
        })
        .collect()
}

fn spread_table(sigma_permille: u32) -> Vec<u64> {
    let sigma = f64::from(sigma_permille) / 1000.0;
    normal_quantiles()
        .iter()
        .map(|z| (libm::exp(sigma * z) * f64::from(CAPACITY_SCALE)) as u64)
        .collect()
}
