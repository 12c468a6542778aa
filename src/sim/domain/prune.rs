//! Removal of domains that add nothing (`balancing.md` 1.4).

use super::SdFlags;
use super::build::Draft;
use super::groups::Groups;

/// Takes the degenerate domains out of one CPU's chain.
///
/// Only the flags of the CPU's *own* group are mended when the domain below it
/// changes. Below NUMA that reaches everyone, since the groups are shared and
/// each is somebody's own. At NUMA it leaves the other groups with the flags of
/// the removed domain, as in booted kernels.
pub(super) fn prune(chain: &mut Vec<Draft>, groups: &mut Groups) {
    let mut at = 0;
    while at + 1 < chain.len() {
        if adds_nothing(&chain[at], &chain[at + 1]) {
            let parent = chain.remove(at + 1);
            let child_flags = chain[at].flags;
            if let Some(next) = chain.get(at + 1) {
                set_own_flags(next, child_flags, groups);
            }
            if parent.flags.has(SdFlags::PREFER_SIBLING) {
                chain[at].flags = child_flags.with(SdFlags::PREFER_SIBLING);
            }
        } else {
            at += 1;
        }
    }
    if chain.first().is_some_and(is_degenerate) {
        chain.remove(0);
        if let Some(lowest) = chain.first() {
            set_own_flags(lowest, SdFlags::default(), groups);
        }
    }
}

fn set_own_flags(domain: &Draft, flags: SdFlags, groups: &mut Groups) {
    if let Some(own) = domain.groups.first() {
        groups.drafts[own.0 as usize].flags = flags;
    }
}

/// Whether a domain does nothing even on its own.
fn is_degenerate(domain: &Draft) -> bool {
    let balances = domain.flags.0 & SdFlags::NEEDS_GROUPS.0 != 0 && domain.groups.len() > 1;
    domain.span.len() == 1 || !(balances || domain.flags.has(SdFlags::WAKE_AFFINE))
}

/// Whether `parent` does nothing that `child` does not.
fn adds_nothing(child: &Draft, parent: &Draft) -> bool {
    if is_degenerate(parent) {
        return true;
    }
    let counted = if parent.groups.len() > 1 {
        parent.flags
    } else {
        parent.flags.without(SdFlags::NEEDS_GROUPS)
    };
    child.span == parent.span && child.flags.has(counted)
}
