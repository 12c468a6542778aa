//! Account of CPUs that sit idle while a task they could run waits.
//!
//! A CPU's share is the time it was idle while at least one waiting task was
//! allowed on it. Changes happen at every switch, so the account must not touch
//! every CPU: CPUs with the same membership in all affinity sets form one
//! *region* with one running integral of "somebody waits", and a CPU reads the
//! integral when it goes idle and again when it leaves.
//!
//! Tasks pinned to one CPU are left out: where they wait, the CPU is busy.

use super::{CpuId, CpuMask, Ns};

/// CPUs that belong to the same affinity sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Region {
    waiting: u32,
    since: Ns,
    integral: Ns,
}

/// The account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waste {
    regions: Vec<Region>,
    /// Regions inside each affinity set.
    set_regions: Vec<Vec<usize>>,
    cpu_region: Vec<usize>,
    /// Per idle CPU, the integral when it went idle.
    marks: Vec<Option<Ns>>,
}

impl Waste {
    /// An account for `nr_cpus` CPUs and these affinity sets.
    pub fn new(nr_cpus: usize, sets: &[CpuMask]) -> Self {
        let mut signatures: Vec<Vec<bool>> = Vec::new();
        let cpu_region: Vec<usize> = (0..nr_cpus)
            .map(|cpu| {
                let cpu = CpuId::from_index(cpu);
                let signature: Vec<bool> = sets.iter().map(|set| set.contains(cpu)).collect();
                let known = signatures.iter().position(|s| *s == signature);
                known.unwrap_or_else(|| {
                    signatures.push(signature);
                    signatures.len() - 1
                })
            })
            .collect();
        let set_regions = (0..sets.len())
            .map(|set| {
                (0..signatures.len())
                    .filter(|&r| signatures[r][set])
                    .collect()
            })
            .collect();
        Self {
            regions: vec![Region::default(); signatures.len()],
            set_regions,
            cpu_region,
            marks: vec![None; nr_cpus],
        }
    }

    /// A task of this affinity set begins to wait.
    pub fn waits(&mut self, set: u16, now: Ns) {
        for &region in &self.set_regions[usize::from(set)] {
            let region = &mut self.regions[region];
            if region.waiting == 0 {
                region.since = now;
            }
            region.waiting += 1;
        }
    }

    /// A task of this affinity set no longer waits.
    pub fn served(&mut self, set: u16, now: Ns) {
        for &region in &self.set_regions[usize::from(set)] {
            let region = &mut self.regions[region];
            region.waiting -= 1;
            if region.waiting == 0 {
                region.integral += now - region.since;
            }
        }
    }

    /// `cpu` goes idle.
    pub fn goes_idle(&mut self, cpu: CpuId, now: Ns) {
        self.marks[cpu.index()] = Some(self.integral(cpu, now));
    }

    /// `cpu` leaves idle; returns how long somebody waited meanwhile.
    pub fn leaves_idle(&mut self, cpu: CpuId, now: Ns) -> Ns {
        let wasted = self.pending(cpu, now);
        self.marks[cpu.index()] = None;
        wasted
    }

    /// How long somebody has waited during the present idle period of `cpu`.
    pub fn pending(&self, cpu: CpuId, now: Ns) -> Ns {
        self.marks[cpu.index()].map_or(0, |mark| self.integral(cpu, now) - mark)
    }

    /// Whether `cpu` is idle and somebody it could run waits.
    pub fn wasting(&self, cpu: CpuId) -> bool {
        let region = &self.regions[self.cpu_region[cpu.index()]];
        self.marks[cpu.index()].is_some() && region.waiting > 0
    }

    fn integral(&self, cpu: CpuId, now: Ns) -> Ns {
        let region = &self.regions[self.cpu_region[cpu.index()]];
        let running = if region.waiting > 0 {
            now - region.since
        } else {
            0
        };
        region.integral + running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU0: CpuId = CpuId(0);
    const CPU1: CpuId = CpuId(1);

    #[test]
    fn only_idle_time_beside_a_waiting_task_counts() {
        let mut waste = Waste::new(2, &[CpuMask::first(2)]);
        waste.goes_idle(CPU0, 10);
        waste.waits(0, 20);
        waste.waits(0, 25);
        waste.served(0, 30);
        waste.served(0, 50);
        assert_eq!(waste.leaves_idle(CPU0, 90), 30);
        assert_eq!(waste.pending(CPU0, 95), 0);
    }

    #[test]
    fn a_task_counts_only_on_cpus_it_may_use() {
        let mut waste = Waste::new(2, &[CpuMask::first(2), CpuMask::of(CPU1)]);
        waste.goes_idle(CPU0, 0);
        waste.goes_idle(CPU1, 0);
        waste.waits(1, 10);
        assert_eq!(waste.pending(CPU0, 40), 0);
        assert_eq!(waste.pending(CPU1, 40), 30);
        waste.waits(0, 40);
        waste.served(1, 45);
        assert_eq!(waste.pending(CPU0, 50), 10);
        assert_eq!(waste.pending(CPU1, 50), 40);
    }
}
