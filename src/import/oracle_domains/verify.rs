//! Comparison of the built tree with the file's.

use std::fmt;

use super::{DomainFile, ExpectedDomain, ExpectedGroup};
use crate::sim::cpumask::format_cpulist;
use crate::sim::domain::{self, SchedDomain, SchedDomains, SchedGroup, SdFlags};
use crate::sim::{CpuMask, Topology};

/// One value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Kernel's CPU number.
    pub cpu: u32,
    /// Name of the domain, with its place in the chain; empty for values of the
    /// CPU itself.
    pub domain: String,
    /// Field, in the file's spelling.
    pub field: String,
    /// Value of the file.
    pub expected: String,
    /// Value built here.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu {}", self.cpu)?;
        if !self.domain.is_empty() {
            write!(f, " {}", self.domain)?;
        }
        let Self {
            field,
            expected,
            got,
            ..
        } = self;
        write!(f, " {field}: expected {expected}, got {got}")
    }
}

/// Builds the domains of the file's machine and compares every domain of every
/// CPU. Empty means equal.
pub fn verify(file: &DomainFile) -> Vec<Mismatch> {
    let built = domain::build(&file.topology);
    let mut found = Vec::new();
    for id in file.topology.cpu_ids() {
        let mut compare = Compare {
            topology: &file.topology,
            built: &built,
            cpu: file.topology.cpu(id).os_id,
            domain: String::new(),
            found: &mut found,
        };
        compare.chain(&file.expected[id.index()], built.of(id));
        if let Some(expected) = file.llc_size[id.index()] {
            compare.domain.clear();
            let got = built.llc[id.index()].len() as u32;
            compare.value("sd_llc_size", &expected, &got);
        }
    }
    found
}

struct Compare<'a> {
    topology: &'a Topology,
    built: &'a SchedDomains,
    cpu: u32,
    domain: String,
    found: &'a mut Vec<Mismatch>,
}

impl Compare<'_> {
    fn value<T: PartialEq + fmt::Display>(&mut self, field: &str, expected: &T, got: &T) {
        if expected != got {
            self.found.push(Mismatch {
                cpu: self.cpu,
                domain: self.domain.clone(),
                field: field.into(),
                expected: expected.to_string(),
                got: got.to_string(),
            });
        }
    }

    fn chain(&mut self, expected: &[ExpectedDomain], got: &[SchedDomain]) {
        let names = |names: Vec<String>| match names.len() {
            0 => "none".to_string(),
            _ => names.join(" > "),
        };
        let want = names(expected.iter().map(|d| d.name.to_string()).collect());
        let have = names(got.iter().map(|d| d.name.to_string()).collect());
        self.domain.clear();
        self.value("domains", &want, &have);
        for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
            self.domain = format!("{}[{index}]", expected.name);
            self.one(expected, got);
        }
    }

    fn one(&mut self, expected: &ExpectedDomain, got: &SchedDomain) {
        self.value("name", &expected.name, &got.name);
        self.value(
            "span",
            &list(&expected.span),
            &self.topology.os_list(&got.span),
        );
        self.value("flags", &flags(expected.flags), &flags(got.flags));
        for (field, expected, got) in [
            ("min_interval", expected.min_interval, got.min_interval_ms),
            ("max_interval", expected.max_interval, got.max_interval_ms),
            ("busy_factor", expected.busy_factor, got.busy_factor),
            ("imbalance_pct", expected.imbalance_pct, got.imbalance_pct),
            (
                "cache_nice_tries",
                expected.cache_nice_tries,
                got.cache_nice_tries,
            ),
            ("imb_numa_nr", expected.imb_numa_nr, got.imb_numa_nr),
        ] {
            self.value(field, &expected, &got);
        }
        self.value("groups", &expected.ring.len(), &got.groups.len());
        for (place, (expected, &id)) in expected.ring.iter().zip(&got.groups).enumerate() {
            self.group(place, expected, self.built.group(id));
        }
    }

    fn group(&mut self, place: usize, expected: &ExpectedGroup, got: &SchedGroup) {
        let name = |field: &str| format!("groups[{place}].{field}");
        let os_list = |mask: &CpuMask| self.topology.os_list(mask);
        let (span, mask) = (os_list(&got.span), os_list(&got.balance_mask));
        let id = self.topology.cpu(got.balance_cpu()).os_id;
        self.value(&name("span"), &list(&expected.span), &span);
        self.value(&name("id"), &expected.id, &id);
        self.value(&name("balance_mask"), &list(&expected.balance_mask), &mask);
        self.value(&name("flags"), &flags(expected.flags), &flags(got.flags));
        if let Some(cores) = expected.cores {
            self.value(&name("cores"), &cores, &got.cores);
        }
    }
}

fn list(cpus: &[u32]) -> String {
    format_cpulist(cpus.iter().copied())
}

fn flags(flags: SdFlags) -> String {
    let names: Vec<_> = flags.names().collect();
    match names.len() {
        0 => "none".into(),
        _ => names.join(" "),
    }
}
