//! Rings of groups.

use std::collections::BTreeMap;

use super::build::{Chains, Draft};
use super::levels::Level;
use super::{GroupId, SdFlags};
use crate::sim::{CpuId, CpuMask};

/// A group while domains are still being removed.
pub(super) struct DraftGroup {
    pub(super) span: CpuMask,
    pub(super) balance_mask: CpuMask,
    pub(super) flags: SdFlags,
    /// Level whose shared state the group refers to.
    pub(super) sgc_level: usize,
}

/// All groups made so far.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) drafts: Vec<DraftGroup>,
    /// Groups below NUMA are one object for all CPUs: by level and lowest CPU.
    shared: BTreeMap<(usize, CpuId), GroupId>,
    /// Balance masks by level and span: the walk below asks the same thing for
    /// every CPU of a node.
    balance_masks: BTreeMap<(usize, CpuMask), CpuMask>,
}

impl Groups {
    fn push(&mut self, group: DraftGroup) -> GroupId {
        self.drafts.push(group);
        GroupId(self.drafts.len() as u32 - 1)
    }

    /// A ring for every domain of every chain.
    pub(super) fn build(levels: &[Level], chains: &mut Chains) -> Self {
        let mut groups = Self::default();
        for (index, level) in levels.iter().enumerate() {
            for cpu in 0..chains.0.len() {
                let Some(domain) = chains.at(cpu, index) else {
                    continue;
                };
                let ring = if level.flags.has(SdFlags::OVERLAP) {
                    groups.overlapping(index, CpuId::from_index(cpu), domain, chains)
                } else {
                    groups.disjoint(index, CpuId::from_index(cpu), domain, chains)
                };
                chains.0[cpu][index].groups = ring;
            }
        }
        groups
    }

    /// Below NUMA the domains one level down split the span cleanly.
    fn disjoint(
        &mut self,
        level: usize,
        cpu: CpuId,
        domain: &Draft,
        chains: &Chains,
    ) -> Vec<GroupId> {
        let mut covered = CpuMask::new();
        let mut ring = Vec::new();
        for other in cyclic(&domain.span, cpu) {
            if covered.contains(other) {
                continue;
            }
            let child = level
                .checked_sub(1)
                .and_then(|below| chains.at(other.index(), below));
            let span = child.map_or_else(|| CpuMask::of(other), |child| child.span.clone());
            covered = covered.or(&span);
            let flags = child.map(|child| child.flags).unwrap_or_default();
            let first = span.lowest().unwrap_or(other);
            let id = match self.shared.get(&(level, first)) {
                Some(&id) => id,
                None => {
                    let id = self.push(DraftGroup {
                        balance_mask: span.clone(),
                        span,
                        flags,
                        sgc_level: level,
                    });
                    self.shared.insert((level, first), id);
                    id
                }
            };
            ring.push(id);
        }
        ring
    }

    /// NUMA spans overlap, so every CPU makes its own ring: it goes round its
    /// span from itself, and whoever is not yet covered contributes the domain
    /// it has one level down.
    fn overlapping(
        &mut self,
        level: usize,
        cpu: CpuId,
        domain: &Draft,
        chains: &Chains,
    ) -> Vec<GroupId> {
        let mut covered = CpuMask::new();
        let mut ring = Vec::new();
        for other in cyclic(&domain.span, cpu) {
            // A CPU whose chain ended below this level already saw the whole
            // machine there; it has nothing to contribute (line of nodes).
            if covered.contains(other) || chains.at(other.index(), level).is_none() {
                continue;
            }
            // With a diameter of three or more the other CPU's lower domain can
            // reach out of this span. Then go down until it does not.
            let mut from = level;
            let below = |from: usize| chains.at(other.index(), from - 1);
            while from > 1 && below(from).is_some_and(|child| !child.span.is_subset(&domain.span)) {
                from -= 1;
            }
            let Some(child) = below(from) else {
                continue;
            };
            covered = covered.or(&child.span);
            let group = DraftGroup {
                span: child.span.clone(),
                balance_mask: self.balance_mask(from, &child.span, chains),
                flags: child.flags,
                sgc_level: from,
            };
            ring.push(self.push(group));
        }
        ring
    }

    /// CPUs of an overlapping group that may balance for it: those for which
    /// the group is exactly the domain below `level`.
    fn balance_mask(&mut self, level: usize, span: &CpuMask, chains: &Chains) -> CpuMask {
        if let Some(mask) = self.balance_masks.get(&(level, span.clone())) {
            return mask.clone();
        }
        let owns = |cpu: &CpuId| {
            chains.at(cpu.index(), level).is_some()
                && chains
                    .at(cpu.index(), level - 1)
                    .is_some_and(|child| child.span == *span)
        };
        let mask: CpuMask = span.iter().filter(owns).collect();
        self.balance_masks
            .insert((level, span.clone()), mask.clone());
        mask
    }
}

/// The members of `span` in ascending order from `cpu`, wrapping round.
fn cyclic(span: &CpuMask, cpu: CpuId) -> impl Iterator<Item = CpuId> + '_ {
    let from = span.iter().filter(move |&other| other >= cpu);
    from.chain(span.iter().take_while(move |&other| other < cpu))
}
