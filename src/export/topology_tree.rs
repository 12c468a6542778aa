//! A machine as a picture in text.
//!
//! ```text
//! package 0
//!   node 0
//!     LLC 0    0,24  1,25  2,26  3,27  4,28  5,29
//!     LLC 1    6,30  7,31  ...
//! ```
//!
//! One cell is a core with its threads; cores sharing an L2 cache stand in
//! square brackets. `-` marks an offline CPU, `*` an isolated one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::sim::cpumask::format_cpulist;
use crate::sim::domain::{self, SchedDomain, SchedDomains, SdFlags};
use crate::sim::topology::{CAPACITY_SCALE, Cpu, Topology};

/// Longest line, in columns.
const WIDTH: usize = 100;

/// Column at which the cores of an LLC start.
const INDENT: usize = 13;

/// Flags that nearly every domain has; only their absence is shown.
const USUAL: [SdFlags; 4] = [
    SdFlags::BALANCE_NEWIDLE,
    SdFlags::BALANCE_EXEC,
    SdFlags::BALANCE_FORK,
    SdFlags::WAKE_AFFINE,
];

/// Writes the machine: what it is made of, and its sched domains.
pub fn write(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}: {}", topology.id, topology.title)?;
    writeln!(out, "{}\n", counts(topology))?;
    write_tree(topology, out)?;
    write_distances(topology, out)?;
    write_kinds(topology, out)?;
    write_domains(topology, out)
}

fn counts(topology: &Topology) -> String {
    let online = topology.online().len();
    let distinct = |key: fn(&Cpu) -> u32| {
        let mut keys: Vec<u32> = topology
            .cpus
            .iter()
            .filter(|cpu| cpu.online)
            .map(key)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys.len()
    };
    let mut text = [
        (distinct(|cpu| cpu.package), "package"),
        (topology.nodes.len(), "NUMA node"),
        (distinct(|cpu| cpu.llc), "LLC"),
        (distinct(|cpu| cpu.core), "core"),
        (online, "CPU"),
    ]
    .map(|(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
    .join(", ");
    let offline = topology.nr_cpus() - online;
    if offline > 0 {
        text += &format!(", {offline} more offline");
    }
    text
}

fn write_tree(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    // Ids of packages and LLCs carry no meaning of their own: number them in
    // the order of their lowest CPU.
    let mut tree = BTreeMap::<(usize, u32), BTreeMap<usize, Vec<&Cpu>>>::new();
    let mut package_order = Order::default();
    let mut llc_order = Order::default();
    for cpu in &topology.cpus {
        let package = package_order.of(cpu.package);
        let llc = llc_order.of(cpu.llc);
        let below = tree.entry((package, cpu.node)).or_default();
        below.entry(llc).or_default().push(cpu);
    }
    let mut last_package = None;
    let mut rows = Vec::new();
    for ((package, node), llcs) in tree {
        if last_package != Some(package) {
            rows.push(Row::Head(format!("package {package}")));
            last_package = Some(package);
        }
        let os_id = topology.nodes[node as usize].os_id;
        rows.push(Row::Head(format!("  node {os_id}")));
        for (llc, cpus) in llcs {
            rows.push(Row::Llc(llc, cells(&cpus)));
        }
    }
    let empty = |index: &usize| !topology.cpus.iter().any(|cpu| cpu.node as usize == *index);
    for index in (0..topology.nodes.len()).filter(empty) {
        let os_id = topology.nodes[index].os_id;
        rows.push(Row::Head(format!("node {os_id} without CPUs")));
    }
    write_rows(&rows, out)
}

/// A line of the tree, before the common width of the cells is known.
enum Row {
    /// A package or node.
    Head(String),
    /// An LLC and its cells.
    Llc(usize, Vec<String>),
}

fn write_rows(rows: &[Row], out: &mut impl Write) -> io::Result<()> {
    let lengths = rows.iter().flat_map(|row| match row {
        Row::Head(_) => &[],
        Row::Llc(_, cells) => cells.as_slice(),
    });
    let width = lengths.map(String::len).max().unwrap_or(0);
    for row in rows {
        match row {
            Row::Head(text) => writeln!(out, "{text}")?,
            Row::Llc(number, cells) => write_llc(*number, cells, width, out)?,
        }
    }
    Ok(())
}

/// Numbers things in the order they are first seen.
#[derive(Default)]
struct Order(BTreeMap<u32, usize>);

impl Order {
    fn of(&mut self, id: u32) -> usize {
        let next = self.0.len();
        *self.0.entry(id).or_insert(next)
    }
}

/// The cores of an LLC, one text each; a shared L2 cache makes one of several.
fn cells(cpus: &[&Cpu]) -> Vec<String> {
    let mut cores = Vec::<(u32, u32, String)>::new();
    for cpu in cpus {
        let mark = match (cpu.online, cpu.isolated) {
            (false, _) => "-",
            (true, true) => "*",
            (true, false) => "",
        };
        let thread = format!("{}{mark}", cpu.os_id);
        match cores.iter_mut().find(|(core, ..)| *core == cpu.core) {
            Some((_, _, text)) => *text += &format!(",{thread}"),
            None => cores.push((cpu.core, cpu.cluster, thread)),
        }
    }
    cores.sort_by_key(|(_, cluster, _)| cores_order(cpus, *cluster));
    cores
        .chunk_by(|a, b| a.1 == b.1)
        .map(|cluster| {
            let cores: Vec<&str> = cluster.iter().map(|(_, _, text)| text.as_str()).collect();
            match cores.as_slice() {
                [one] => (*one).to_string(),
                several => format!("[{}]", several.join(" ")),
            }
        })
        .collect()
}

fn write_llc(
    number: usize,
    cells: &[String],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let per_line = ((WIDTH - INDENT) / (width + 2)).max(1);
    for (index, cells) in cells.chunks(per_line).enumerate() {
        let name = if index == 0 {
            format!("    LLC {number}")
        } else {
            String::new()
        };
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:<width$}")).collect();
        let line = format!("{name:<INDENT$}{}", cells.join("  "));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Place of a cluster: that of its lowest CPU.
fn cores_order(cpus: &[&Cpu], cluster: u32) -> usize {
    let mut places = cpus.iter();
    places.position(|cpu| cpu.cluster == cluster).unwrap_or(0)
}

fn write_distances(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    if topology.nodes.len() < 2 {
        return Ok(());
    }
    let limit = topology.node_reclaim_distance;
    writeln!(
        out,
        "\nNUMA distances (fork, exec and wakeup stop beyond {limit})"
    )?;
    let ids = topology
        .nodes
        .iter()
        .map(|node| format!("{:>5}", node.os_id));
    writeln!(out, "       {}", ids.collect::<String>())?;
    for node in &topology.nodes {
        let row = node
            .distances
            .iter()
            .map(|distance| format!("{distance:>5}"));
        writeln!(out, "  {:>5}{}", node.os_id, row.collect::<String>())?;
    }
    Ok(())
}

fn write_kinds(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    let mut kinds = BTreeMap::<(u32, u32), Vec<u32>>::new();
    for cpu in &topology.cpus {
        kinds
            .entry((cpu.capacity, cpu.speed))
            .or_default()
            .push(cpu.os_id);
    }
    if kinds.len() == 1 && kinds.contains_key(&(CAPACITY_SCALE, CAPACITY_SCALE)) {
        return Ok(());
    }
    writeln!(out, "\nKinds of CPUs (of {CAPACITY_SCALE})")?;
    for ((capacity, speed), cpus) in kinds.into_iter().rev() {
        let cpus = format_cpulist(cpus.into_iter());
        writeln!(
            out,
            "  capacity {capacity:>4}  speed {speed:>4}  CPUs {cpus}"
        )?;
    }
    Ok(())
}

fn write_domains(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    let built = domain::build(topology);
    let mut classes = BTreeMap::<Vec<String>, Vec<u32>>::new();
    let mut order = Vec::new();
    for id in topology.cpu_ids() {
        let rows: Vec<String> = built.of(id).iter().map(|d| row(&built, d)).collect();
        let cpus = classes.entry(rows.clone()).or_default();
        if cpus.is_empty() {
            order.push(rows);
        }
        cpus.push(topology.cpu(id).os_id);
    }
    writeln!(out, "\nSched domains, lowest first")?;
    for rows in order {
        let cpus = format_cpulist(classes[&rows].iter().copied());
        if rows.is_empty() {
            writeln!(out, "  CPUs {cpus}: none")?;
            continue;
        }
        writeln!(out, "  CPUs {cpus}")?;
        writeln!(out, "    name  CPUs  groups x CPUs  interval     flags")?;
        for row in rows {
            writeln!(out, "    {row}")?;
        }
    }
    let names: Vec<_> = USUAL.iter().flat_map(|flag| flag.names()).collect();
    writeln!(
        out,
        "Flags: {} unless shown with a minus.",
        names.join(", ")
    )
}

fn row(built: &SchedDomains, domain: &SchedDomain) -> String {
    let mut weights: Vec<u32> = domain
        .groups
        .iter()
        .map(|&id| built.group(id).weight())
        .collect();
    weights.sort_unstable();
    weights.dedup();
    let weights: Vec<_> = weights.iter().map(ToString::to_string).collect();
    let groups = format!("{} x {}", domain.groups.len(), weights.join("/"));
    let interval = format!("{}-{} ms", domain.min_interval_ms, domain.max_interval_ms);
    let absent = USUAL.iter().filter(|flag| !domain.flags.has(**flag));
    let mut flags: Vec<String> = absent
        .flat_map(|flag| flag.names().map(|name| format!("-{name}")))
        .collect();
    let usual = USUAL
        .iter()
        .fold(SdFlags::default(), |all, flag| all.with(*flag));
    flags.extend(domain.flags.without(usual).names().map(str::to_string));
    format!(
        "{:<5} {:>4}  {groups:<13}  {interval:<11}  {}",
        domain.name,
        domain.span_weight(),
        flags.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::cost::Costs;
    use crate::sim::topology::Node;

    fn machine() -> Topology {
        let cpu = |os_id: u32| Cpu {
            os_id,
            online: os_id != 7,
            isolated: os_id == 6,
            core: if os_id < 4 { os_id / 2 } else { os_id },
            cluster: if os_id < 4 { os_id / 2 } else { 4 },
            llc: 9,
            die: 0,
            package: 3,
            node: 0,
            capacity: 1024,
            speed: if os_id < 4 { 1024 } else { 614 },
        };
        let node = |os_id| Node {
            os_id,
            distances: vec![10, 20],
        };
        Topology {
            id: "toy".into(),
            title: "two big cores, one module".into(),
            cpus: (0..8).map(cpu).collect(),
            nodes: vec![node(0), node(4)],
            node_reclaim_distance: 30,
            costs: Costs::default(),
        }
    }

    #[test]
    fn a_machine_is_drawn_with_its_odd_cpus_marked() {
        let mut out = Vec::new();
        write(&machine(), &mut out).expect("memory takes everything");
        let text = String::from_utf8(out).expect("text");
        let wanted = "\
toy: two big cores, one module
1 package, 2 NUMA nodes, 1 LLC, 5 cores, 7 CPUs, 1 more offline

package 0
  node 0
    LLC 0    0,1          2,3          [4 5 6* 7-]
node 4 without CPUs

NUMA distances (fork, exec and wakeup stop beyond 30)
           0    4
      0   10   20
      4   10   20

Kinds of CPUs (of 1024)
  capacity 1024  speed 1024  CPUs 0-3
  capacity 1024  speed  614  CPUs 4-7

Sched domains, lowest first
  CPUs 0-3
    name  CPUs  groups x CPUs  interval     flags
    SMT      2  2 x 1          2-4 ms       SHARE_CPUCAPACITY SHARE_LLC PREFER_SIBLING
    MC       6  3 x 2          7-14 ms      SHARE_LLC PREFER_SIBLING
  CPUs 4-5
    name  CPUs  groups x CPUs  interval     flags
    CLS      2  2 x 1          3-6 ms       CLUSTER SHARE_LLC PREFER_SIBLING
    MC       6  3 x 2          7-14 ms      SHARE_LLC PREFER_SIBLING
  CPUs 6-7: none
Flags: BALANCE_NEWIDLE, BALANCE_EXEC, BALANCE_FORK, WAKE_AFFINE unless shown with a minus.
";
        assert_eq!(text, wanted);
    }

    #[test]
    fn large_caches_wrap_within_the_width() {
        let mut large = machine();
        let cpu = large.cpus[0].clone();
        large.cpus = (0..64)
            .map(|os_id| Cpu {
                os_id,
                core: os_id,
                cluster: os_id,
                ..cpu.clone()
            })
            .collect();
        let mut out = Vec::new();
        write(&large, &mut out).expect("memory takes everything");
        let text = String::from_utf8(out).expect("text");
        let tree: Vec<&str> = text
            .lines()
            .take_while(|line| !line.starts_with("NUMA"))
            .collect();
        assert!(tree.iter().all(|line| line.len() <= WIDTH));
        let words = tree.join(" ");
        let numbers: Vec<&str> = words.split_whitespace().collect();
        assert!((0..64).all(|os_id| numbers.contains(&os_id.to_string().as_str())));
    }
}
