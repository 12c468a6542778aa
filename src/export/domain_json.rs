//! A machine and its sched domains, in the form of the domain files that
//! `verify domains` reads.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::sim::domain::{self, GroupId, SchedDomain, SchedDomains, SdFlags};
use crate::sim::topology::{CAPACITY_SCALE, Cpu, Topology};
use crate::sim::{CpuId, CpuMask};

/// Ticks per tenth of a second of the kernels the files were read from (HZ 250).
const TICKS_PER_TENTH: usize = 25;

/// Writes the machine and the domains built for it.
pub fn write(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    let built = domain::build(topology);
    let definitions = Definitions::of(topology, &built);
    writeln!(out, "{{")?;
    write_head(topology, out)?;
    writeln!(out, "  \"nodes\": [")?;
    let nodes: Vec<_> = (0..topology.nodes.len())
        .map(|index| node(topology, index))
        .collect();
    writeln!(out, "{}\n  ],", nodes.join(",\n"))?;
    writeln!(out, "  \"per_cpu\": [")?;
    let cpus = topology.cpu_ids();
    let cpus: Vec<_> = cpus
        .map(|id| cpu(topology, &built, &definitions, id))
        .collect();
    writeln!(out, "{}\n  ],", cpus.join(",\n"))?;
    writeln!(out, "  \"domain_defs\": [")?;
    writeln!(out, "{}\n  ]\n}}", definitions.lines.join(",\n"))
}

fn write_head(topology: &Topology, out: &mut impl Write) -> io::Result<()> {
    let list = |keep: &dyn Fn(&Cpu) -> bool| quoted(&topology.os_list(&topology.mask_where(keep)));
    let online = topology.online().len();
    let max_interval = TICKS_PER_TENTH * online.saturating_sub(1).max(1);
    let highest = topology.cpus.last().map_or(0, |cpu| cpu.os_id);
    writeln!(out, "  \"name\": {},", quoted(&topology.id))?;
    writeln!(
        out,
        "  \"kernel\": \"schedlab {}\",",
        env!("CARGO_PKG_VERSION")
    )?;
    writeln!(out, "  \"cpus\": {},", topology.nr_cpus())?;
    writeln!(out, "  \"online\": {},", list(&|cpu| cpu.online))?;
    writeln!(out, "  \"possible\": {},", list(&|_| true))?;
    writeln!(out, "  \"isolated\": {},", list(&|cpu| cpu.isolated))?;
    writeln!(
        out,
        "  \"kernel_values\": {{\"node_reclaim_distance\": {}, \
         \"max_load_balance_interval_jiffies\": {max_interval}, \"nr_cpu_ids\": {}}},",
        topology.node_reclaim_distance,
        highest + 1
    )
}

fn node(topology: &Topology, index: usize) -> String {
    let node = &topology.nodes[index];
    let cpus = topology.mask_where(|cpu| cpu.node as usize == index && cpu.online);
    format!(
        "    {{\"node\": {}, \"cpus\": {}, \"distance\": {:?}}}",
        node.os_id,
        quoted(&topology.os_list(&cpus)),
        node.distances
    )
}

/// Names of what CPUs share, in the order of [`shared_ids`].
const SHARED: [&str; 5] = [
    "core_cpus",
    "l2_cpus",
    "l3_cpus",
    "die_cpus",
    "package_cpus",
];

fn shared_ids(cpu: &Cpu) -> [u32; 5] {
    [cpu.core, cpu.cluster, cpu.llc, cpu.die, cpu.package]
}

fn cpu(topology: &Topology, built: &SchedDomains, definitions: &Definitions, id: CpuId) -> String {
    let cpu = topology.cpu(id);
    let mut line = format!("    {{\"cpu\": {}, \"online\": {}", cpu.os_id, cpu.online);
    for (index, name) in SHARED.iter().enumerate() {
        let same = topology
            .mask_where(|other| other.online && shared_ids(other)[index] == shared_ids(cpu)[index]);
        let list = if cpu.online {
            quoted(&topology.os_list(&same))
        } else {
            "null".into()
        };
        line += &format!(", \"{name}\": {list}");
    }
    let node = topology.nodes[cpu.node as usize].os_id;
    let llc = &built.llc[id.index()];
    let attached = cpu.online && !cpu.isolated;
    let llc_id = llc.lowest().map_or(0, |cpu| topology.cpu(cpu).os_id);
    let (llc_id, llc_size) = if attached {
        (llc_id, llc.len())
    } else {
        (0, 0)
    };
    line += &format!(", \"node\": {node}, \"sd_llc_id\": {llc_id}, \"sd_llc_size\": {llc_size}");
    if cpu.capacity != CAPACITY_SCALE {
        line += &format!(", \"capacity\": {}", cpu.capacity);
    }
    let domains: Vec<_> = definitions.of_cpu[id.index()]
        .iter()
        .map(|(definition, start)| format!("[{definition}, {start}]"))
        .collect();
    line + &format!(", \"domains\": [{}]}}", domains.join(", "))
}

/// Every distinct domain once, and which one each CPU has.
struct Definitions {
    lines: Vec<String>,
    /// Per CPU and level: index of the line, place of the own group.
    of_cpu: Vec<Vec<(usize, usize)>>,
}

impl Definitions {
    fn of(topology: &Topology, built: &SchedDomains) -> Self {
        let mut known = BTreeMap::new();
        let mut lines = Vec::new();
        let mut place = |domain: &SchedDomain| {
            let mut ring = domain.groups.clone();
            let first = lowest_group(built, &ring);
            ring.rotate_left(first);
            let line = definition(topology, built, domain, &ring);
            let index = *known.entry(line.clone()).or_insert_with(|| {
                lines.push(line);
                lines.len() - 1
            });
            (index, (ring.len() - first) % ring.len())
        };
        let chains = built.per_cpu.iter();
        let of_cpu = chains
            .map(|chain| chain.iter().map(&mut place).collect())
            .collect();
        Self { lines, of_cpu }
    }
}

/// Place in the ring of the group that holds the lowest CPU.
fn lowest_group(built: &SchedDomains, ring: &[GroupId]) -> usize {
    let key = |&place: &usize| {
        let group = built.group(ring[place]);
        (group.span.lowest(), group.balance_cpu())
    };
    (0..ring.len()).min_by_key(key).unwrap_or(0)
}

fn definition(
    topology: &Topology,
    built: &SchedDomains,
    domain: &SchedDomain,
    ring: &[GroupId],
) -> String {
    let list = |mask: &CpuMask| quoted(&topology.os_list(mask));
    let groups: Vec<_> = ring.iter().map(|&id| built.group(id)).collect();
    let alike = groups.windows(2).all(|pair| pair[0].flags == pair[1].flags);
    let mut line = format!(
        "    {{\"name\": \"{}\", \"level\": {}, \"span\": {}, \"weight\": {}, \"flags\": {}, \
         \"min_interval\": {}, \"max_interval\": {}, \"busy_factor\": {}, \"imbalance_pct\": {}, \
         \"cache_nice_tries\": {}, \"imb_numa_nr\": {}, ",
        domain.name,
        domain.level,
        list(&domain.span),
        domain.span_weight(),
        flags(domain.flags),
        domain.min_interval_ms,
        domain.max_interval_ms,
        domain.busy_factor,
        domain.imbalance_pct,
        domain.cache_nice_tries,
        domain.imb_numa_nr
    );
    if alike {
        let of_all = groups.first().map(|group| group.flags).unwrap_or_default();
        line += &format!("\"groups_flags\": {}, ", flags(of_all));
    }
    let group = |group: &&domain::SchedGroup| {
        let id = topology.cpu(group.balance_cpu()).os_id;
        let mut text = format!("{{\"span\": {}, \"id\": {id}", list(&group.span));
        if group.balance_mask != group.span {
            text += &format!(", \"balance_mask\": {}", list(&group.balance_mask));
        }
        text += &format!(", \"cores\": {}", group.cores);
        if !alike {
            text += &format!(", \"flags\": {}", flags(group.flags));
        }
        text + "}"
    };
    let groups: Vec<_> = groups.iter().map(group).collect();
    line + &format!("\"groups\": [{}]}}", groups.join(", "))
}

fn flags(flags: SdFlags) -> String {
    let names: Vec<_> = flags.names().map(|name| format!("\"SD_{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
