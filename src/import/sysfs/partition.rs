//! CPUs split into disjoint groups.

use std::collections::BTreeMap;

use super::Cpus;

/// Which group each CPU is in. A group goes by its lowest CPU; a CPU that was
/// never mentioned is a group of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Partition {
    lowest: BTreeMap<u32, u32>,
}

impl Partition {
    pub(super) fn of(&self, cpu: u32) -> u32 {
        self.lowest.get(&cpu).copied().unwrap_or(cpu)
    }

    /// CPUs with equal keys; a CPU without key stands alone.
    pub(super) fn from_keys<K: Ord>(cpus: &Cpus, key: impl Fn(u32) -> Option<K>) -> Self {
        let mut first = BTreeMap::new();
        let mut lowest = BTreeMap::new();
        for &cpu in cpus {
            let group = match key(cpu) {
                Some(key) => *first.entry(key).or_insert(cpu),
                None => cpu,
            };
            lowest.insert(cpu, group);
        }
        Self { lowest }
    }

    /// The sets the CPUs claim to be in, cut to `cpus`. Sets that overlap
    /// without being equal are joined, which is told.
    pub(super) fn from_sets(
        what: &str,
        cpus: &Cpus,
        set: impl Fn(u32) -> Option<Cpus>,
        notes: &mut Vec<String>,
    ) -> Self {
        let mut partition = Self::from_keys(cpus, Some);
        let claimed: BTreeMap<u32, Cpus> = cpus
            .iter()
            .map(|&cpu| {
                let mut claim = set(cpu).unwrap_or_default();
                claim.retain(|other| cpus.contains(other));
                claim.insert(cpu);
                (cpu, claim)
            })
            .collect();
        for (&cpu, claim) in &claimed {
            for &other in claim {
                partition.join(cpu, other);
            }
        }
        let agrees = |(&cpu, claim): (&u32, &Cpus)| claim.len() == partition.members(cpu);
        if !claimed.iter().all(agrees) {
            notes.push(format!(
                "the {what} maps of some CPUs overlap without being equal; they were joined"
            ));
        }
        partition
    }

    fn members(&self, cpu: u32) -> usize {
        let group = self.of(cpu);
        self.lowest
            .values()
            .filter(|&&lowest| lowest == group)
            .count()
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        if a == b {
            return;
        }
        let (keep, drop) = (a.min(b), a.max(b));
        for lowest in self.lowest.values_mut().filter(|lowest| **lowest == drop) {
            *lowest = keep;
        }
    }

    /// Joins groups until each group of `inner` lies in one of them. Returns
    /// whether anything changed.
    pub(super) fn widen_to_hold(&mut self, inner: &Self) -> bool {
        let before = self.clone();
        for (&cpu, &first) in &inner.lowest {
            self.join(cpu, first);
        }
        *self != before
    }
}
