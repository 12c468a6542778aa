//! Control groups of a workload file.

use serde::Deserialize;

use super::{File, find, names};
use crate::scenario::problem::Report;
use crate::sim::fair::{Cgroup, CgroupId, ROOT};

/// `cpu.weight` as the kernel takes it.
const WEIGHTS: std::ops::RangeInclusive<u32> = 1..=10_000;
/// `cpu.weight` of a group that says nothing.
const DEFAULT_WEIGHT: u32 = 100;
/// Shares of the default weight.
const DEFAULT_SHARES: u32 = 1_024;
/// Most groups: each has a queue on each CPU.
const MOST_GROUPS: usize = 64;

/// A control group, as people write it. Groups stand behind their parents.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupFile {
    pub(super) name: String,
    /// Group above; none is the root.
    parent: Option<String>,
    /// `cpu.weight`.
    #[serde(default = "default_weight")]
    weight: u32,
    /// `cpu.idle`.
    #[serde(default)]
    idle: bool,
}

const fn default_weight() -> u32 {
    DEFAULT_WEIGHT
}

impl File {
    /// The tree of groups, the root first.
    pub(super) fn groups(&self, report: &mut Report) -> Vec<Cgroup> {
        if self.groups.len() > MOST_GROUPS {
            report.at(
                "groups",
                format!("there are {} groups", self.groups.len()),
                format!("have at most {MOST_GROUPS}"),
            );
        }
        let mut groups = vec![Cgroup::root()];
        for (index, group) in self.groups.iter().enumerate() {
            let path = format!("groups[{index}]");
            let before = names(&self.groups[..index], |group| &group.name);
            let parent = group.parent.as_ref().and_then(|parent| {
                let path = format!("{path}.parent");
                find(report, &path, "group before this one", parent, &before)
            });
            if !WEIGHTS.contains(&group.weight) {
                report.at(
                    &format!("{path}.weight"),
                    format!("{} is no cpu.weight", group.weight),
                    format!("allowed: {} to {}", WEIGHTS.start(), WEIGHTS.end()),
                );
            }
            groups.push(Cgroup {
                name: group.name.clone(),
                parent: parent.map_or(ROOT, |index| index as CgroupId + 1),
                shares: shares(group.weight),
                idle: group.idle,
            });
        }
        groups
    }
}

/// Shares of a `cpu.weight`: 1024 for 100, rounded to nearest.
const fn shares(weight: u32) -> u32 {
    let weight = if weight > *WEIGHTS.end() {
        *WEIGHTS.end()
    } else {
        weight
    };
    (weight * DEFAULT_SHARES + DEFAULT_WEIGHT / 2) / DEFAULT_WEIGHT
}
