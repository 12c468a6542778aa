//! The JSON of a domain file.

use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, de};

use super::{DomainFile, ExpectedDomain, ExpectedGroup, Problem, Problems};
use crate::scenario::locate::Position;
use crate::sim::cost::Costs;
use crate::sim::cpumask::parse_cpulist;
use crate::sim::domain::{LevelName, SdFlags};
use crate::sim::topology::{CAPACITY_SCALE, Cpu, MAX_CPUS, Node, Topology};

/// What the file should have been; ends messages about its structure.
const EXPECTED: &str =
    "give a domain file, in the form that `schedlab topology NAME --format json` prints";

/// `node_reclaim_distance` where the file does not tell: all machines but AMD
/// Zen.
const DEFAULT_RECLAIM_DISTANCE: u32 = 30;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: String,
    #[serde(default)]
    isolated: CpuList,
    #[serde(default)]
    kernel_values: KernelValues,
    nodes: Vec<NodeRow>,
    per_cpu: Vec<CpuRow>,
    domain_defs: Vec<DomainDef>,
}

#[derive(Default, Deserialize)]
struct KernelValues {
    node_reclaim_distance: Option<u32>,
}

#[derive(Deserialize)]
struct NodeRow {
    node: u32,
    cpus: CpuList,
    distance: Vec<u32>,
}

/// The lists are null for a CPU that is offline.
#[derive(Deserialize)]
struct CpuRow {
    cpu: u32,
    online: bool,
    core_cpus: Option<CpuList>,
    l2_cpus: Option<CpuList>,
    l3_cpus: Option<CpuList>,
    die_cpus: Option<CpuList>,
    package_cpus: Option<CpuList>,
    node: Option<u32>,
    /// Only written for machines of unequal CPUs.
    capacity: Option<u32>,
    sd_llc_size: Option<u32>,
    /// Index of the definition and start in its ring.
    domains: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
struct DomainDef {
    name: Name,
    span: CpuList,
    flags: Flags,
    min_interval: u32,
    max_interval: u32,
    busy_factor: u32,
    imbalance_pct: u32,
    cache_nice_tries: u32,
    imb_numa_nr: u32,
    groups_flags: Option<Flags>,
    groups: Vec<GroupDef>,
}

#[derive(Deserialize)]
struct GroupDef {
    span: CpuList,
    id: u32,
    balance_mask: Option<CpuList>,
    cores: Option<u32>,
    flags: Option<Flags>,
}

/// A list such as `0-5,24-29`, ascending.
#[derive(Clone, Default)]
struct CpuList(Vec<u32>);

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut ids = parse_cpulist(&text).map_err(D::Error::custom)?;
        ids.sort_unstable();
        ids.dedup();
        Ok(Self(ids))
    }
}

struct Name(LevelName);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(match text.as_str() {
            "SMT" => LevelName::Smt,
            "CLS" => LevelName::Cls,
            "MC" => LevelName::Mc,
            "PKG" | "DIE" => LevelName::Pkg,
            "NODE" => LevelName::Node,
            "NUMA" => LevelName::Numa,
            _ => {
                return Err(de::Error::custom(format!(
                    "unknown domain level `{text}`; allowed: SMT, CLS, MC, PKG (or DIE), NODE, NUMA"
                )));
            }
        }))
    }
}

#[derive(Clone, Copy)]
struct Flags(SdFlags);

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut flags = SdFlags::default();
        for text in Vec::<String>::deserialize(deserializer)? {
            let name = match text.strip_prefix("SD_").unwrap_or(&text) {
                "SHARE_PKG_RESOURCES" => "SHARE_LLC",
                name => name,
            };
            let Some((flag, _)) = SdFlags::NAMES.iter().find(|(_, known)| *known == name) else {
                let known: Vec<_> = SdFlags::NAMES.iter().map(|(_, name)| *name).collect();
                return Err(de::Error::custom(format!(
                    "unknown domain flag `{text}`; allowed, behind `SD_`: {}",
                    known.join(", ")
                )));
            };
            flags = flags.with(*flag);
        }
        Ok(Self(flags))
    }
}

pub(super) fn parse(source: &str, text: &str) -> Result<DomainFile, Problems> {
    let file: File = serde_json::from_str(text).map_err(|error| of_json(source, &error))?;
    let mut check = Check {
        source,
        text,
        problems: Vec::new(),
    };
    let file_cpus = check.cpus(&file);
    let nodes = check.nodes(&file);
    let expected = check.expected(&file);
    if !check.problems.is_empty() {
        return Err(Problems(check.problems));
    }
    let in_balancing = |row: &CpuRow| row.online && !file.isolated.0.contains(&row.cpu);
    let llc_size = file
        .per_cpu
        .iter()
        .map(|row| row.sd_llc_size.filter(|_| in_balancing(row)));
    Ok(DomainFile {
        llc_size: llc_size.collect(),
        topology: Topology {
            id: file.name.clone(),
            title: file.name.clone(),
            cpus: file_cpus,
            nodes,
            node_reclaim_distance: file
                .kernel_values
                .node_reclaim_distance
                .unwrap_or(DEFAULT_RECLAIM_DISTANCE),
            costs: Costs::default(),
        },
        expected,
        name: file.name,
    })
}

/// The problem behind an error of the JSON reader.
fn of_json(source: &str, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    // The reader ends its message with the place, which is told apart.
    let message = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(message, _)| message);
    let (what, remedy) = message.split_once("; ").unwrap_or((message, EXPECTED));
    Problem {
        source: source.into(),
        at: Some(Position {
            line: error.line(),
            column: error.column().max(1),
        }),
        what: what.into(),
        remedy: remedy.into(),
    }
}

/// Gathers everything that is wrong beyond the structure.
struct Check<'a> {
    source: &'a str,
    text: &'a str,
    problems: Vec<Problem>,
}

impl Check<'_> {
    /// Reports a problem at the row whose `key` is `number`.
    fn report(&mut self, key: &str, number: u32, what: String, remedy: &str) {
        self.problems.push(Problem {
            source: self.source.into(),
            at: Some(row_position(self.text, key, number)),
            what,
            remedy: remedy.into(),
        });
    }

    fn cpus(&mut self, file: &File) -> Vec<Cpu> {
        if file.per_cpu.is_empty() || file.per_cpu.len() > MAX_CPUS {
            let count = file.per_cpu.len();
            let what = format!("`per_cpu` holds {count} CPUs");
            self.report("cpu", 0, what, "a machine has 1 to 1024 CPUs");
        }
        for pair in file.per_cpu.windows(2) {
            if pair[1].cpu <= pair[0].cpu {
                let what = format!("CPU {} comes after CPU {}", pair[1].cpu, pair[0].cpu);
                let remedy = "list every CPU once, in ascending order";
                self.report("cpu", pair[1].cpu, what, remedy);
            }
        }
        file.per_cpu.iter().map(|row| self.cpu(file, row)).collect()
    }

    fn cpu(&mut self, file: &File, row: &CpuRow) -> Cpu {
        let lowest = |list: &Option<CpuList>| list.as_ref()?.0.first().copied();
        let core = lowest(&row.core_cpus).unwrap_or(row.cpu);
        let cluster = lowest(&row.l2_cpus).unwrap_or(core);
        Cpu {
            os_id: row.cpu,
            online: row.online,
            isolated: file.isolated.0.contains(&row.cpu),
            core,
            cluster,
            llc: lowest(&row.l3_cpus).unwrap_or(cluster),
            die: lowest(&row.die_cpus).unwrap_or(core),
            package: lowest(&row.package_cpus).unwrap_or(core),
            node: self.node(file, row),
            capacity: row.capacity.unwrap_or(CAPACITY_SCALE),
            speed: row.capacity.unwrap_or(CAPACITY_SCALE),
        }
    }

    /// Index of the CPU's node; an offline CPU may have none and takes the
    /// first.
    fn node(&mut self, file: &File, row: &CpuRow) -> u32 {
        let named = |node: &NodeRow| Some(node.node) == row.node;
        let listed = |node: &NodeRow| node.cpus.0.contains(&row.cpu);
        let index = match row.node {
            Some(_) => file.nodes.iter().position(named),
            None => file.nodes.iter().position(listed),
        };
        if let (None, Some(node)) = (index, row.node) {
            let what = format!("CPU {} is on node {node}, which `nodes` lacks", row.cpu);
            self.report("cpu", row.cpu, what, "add the node or correct the number");
        }
        index.unwrap_or(0) as u32
    }

    fn nodes(&mut self, file: &File) -> Vec<Node> {
        if file.nodes.is_empty() {
            let what = "`nodes` is empty".into();
            self.report("node", 0, what, "a machine has at least one node");
        }
        for row in &file.nodes {
            if row.distance.len() != file.nodes.len() {
                let (has, needs) = (row.distance.len(), file.nodes.len());
                let what = format!("node {} has {has} distances for {needs} nodes", row.node);
                self.report("node", row.node, what, "give one distance per node");
            }
        }
        let node = |row: &NodeRow| Node {
            os_id: row.node,
            distances: row.distance.clone(),
        };
        file.nodes.iter().map(node).collect()
    }

    fn expected(&mut self, file: &File) -> Vec<Vec<ExpectedDomain>> {
        let mut chains = Vec::new();
        let mut built = BTreeMap::new();
        for row in &file.per_cpu {
            let mut chain = Vec::new();
            for &(def, start) in &row.domains {
                match file.domain_defs.get(def) {
                    Some(found) if start < found.groups.len() => {
                        let domain = built
                            .entry((def, start))
                            .or_insert_with(|| expected_domain(found, start));
                        chain.push(domain.clone());
                    }
                    _ => {
                        let what = format!(
                            "CPU {} has domain [{def}, {start}], which `domain_defs` lacks",
                            row.cpu
                        );
                        let remedy = "name the index of a definition and of a group in its ring";
                        self.report("cpu", row.cpu, what, remedy);
                    }
                }
            }
            chains.push(chain);
        }
        chains
    }
}

fn expected_domain(def: &DomainDef, start: usize) -> ExpectedDomain {
    let group = |group: &GroupDef| ExpectedGroup {
        span: group.span.0.clone(),
        id: group.id,
        balance_mask: group.balance_mask.as_ref().unwrap_or(&group.span).0.clone(),
        cores: group.cores,
        flags: group
            .flags
            .or(def.groups_flags)
            .map(|flags| flags.0)
            .unwrap_or_default(),
    };
    let mut ring: Vec<_> = def.groups.iter().map(group).collect();
    ring.rotate_left(start);
    ExpectedDomain {
        name: def.name.0,
        span: def.span.0.clone(),
        flags: def.flags.0,
        min_interval: def.min_interval,
        max_interval: def.max_interval,
        busy_factor: def.busy_factor,
        imbalance_pct: def.imbalance_pct,
        cache_nice_tries: def.cache_nice_tries,
        imb_numa_nr: def.imb_numa_nr,
        ring,
    }
}

/// Where `"key": number` stands in the text; its beginning if nowhere.
fn row_position(text: &str, key: &str, number: u32) -> Position {
    let quoted = format!("\"{key}\"");
    let is_row = |&(at, _): &(usize, &str)| {
        let rest = text[at + quoted.len()..].trim_start();
        let Some(rest) = rest.strip_prefix(':').map(str::trim_start) else {
            return false;
        };
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..digits].parse() == Ok(number)
    };
    let at = text
        .match_indices(&quoted)
        .find(is_row)
        .map_or(0, |(at, _)| at);
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: text[line_start..at].chars().count() + 1,
    }
}
