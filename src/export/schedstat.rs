//! A run in the form of /proc/schedstat, version 15, 16 or 17, as the
//! kernel of the world has it.
//!
//! For tools that read the kernel's file: a `cpu` line per online CPU, followed
//! by its domains, lowest first. Source: `balancing.md` section 8.
//!
//! What is not modelled prints as 0: yields, exec and fork balancing counts, and
//! affine wakeups.

use std::io::{self, Write};

use crate::sim::CpuMask;
use crate::sim::stats::{LbStats, SdStats};
use crate::sim::time::{HZ, jiffies};
use crate::sim::world::World;

/// The kernel's tick counter at boot: five minutes before it wraps.
const BOOT_JIFFIES: u64 = (1 << 32) - 300 * HZ;

/// Writes the counters of a world.
///
/// # Errors
///
/// What the writer says.
pub fn write(world: &World, out: &mut impl Write) -> io::Result<()> {
    let topology = world.topology();
    let version = world.rules().schedstat;
    writeln!(out, "version {version}")?;
    writeln!(out, "timestamp {}", BOOT_JIFFIES + jiffies(world.now()))?;
    for cpu in topology.online().iter() {
        let s = world.cpu_stats(cpu);
        writeln!(
            out,
            "cpu{} {} 0 {} {} {} {} {} {} {}",
            topology.cpu(cpu).os_id,
            s.yld_count,
            s.sched_count,
            s.sched_goidle,
            s.ttwu_count,
            s.ttwu_local,
            s.rq_cpu_time,
            s.run_delay,
            s.pcount,
        )?;
        for (level, domain) in world.domains().of(cpu).iter().enumerate() {
            let mask = hex_mask(&domain.span, |id| topology.cpu(id).os_id);
            write!(out, "domain{level}")?;
            if version >= 17 {
                write!(out, " {}", domain.name)?;
            }
            write!(out, " {mask}")?;
            write_counters(world.domain(cpu, level).stats, version, out)?;
        }
    }
    Ok(())
}

fn write_counters(stats: &SdStats, version: u32, out: &mut impl Write) -> io::Result<()> {
    // Up to version 15 the idle block comes before the busy one.
    let order = match version {
        ..=15 => [1, 0, 2],
        _ => [0, 1, 2],
    };
    for block in order.map(|index| &stats.lb[index]) {
        for value in block_fields(block, version) {
            write!(out, " {value}")?;
        }
    }
    let active = [stats.alb_count, stats.alb_failed, stats.alb_pushed];
    // sbe_* and sbf_*: the kernel never counts them either.
    let exec_and_fork = [0; 6];
    let wakeups = [stats.ttwu_wake_remote, stats.ttwu_move_affine, 0];
    for value in active.iter().chain(&exec_and_fork).chain(&wakeups) {
        write!(out, " {value}")?;
    }
    writeln!(out)
}

fn block_fields(lb: &LbStats, version: u32) -> Vec<u64> {
    let mut fields = vec![lb.lb_count, lb.lb_balanced, lb.lb_failed];
    let imbalances = [
        lb.lb_imbalance_load,
        lb.lb_imbalance_util,
        lb.lb_imbalance_task,
        lb.lb_imbalance_misfit,
    ];
    if version >= 17 {
        fields.extend(imbalances);
    } else {
        // One sum of unlike units.
        fields.push(imbalances.iter().sum());
    }
    fields.extend([lb.lb_gained, lb.lb_hot_gained, lb.lb_nobusyq, lb.lb_nobusyg]);
    fields
}

/// A mask as the kernel prints it: words of eight hex digits, highest first.
fn hex_mask(mask: &CpuMask, os_id: impl Fn(crate::sim::CpuId) -> u32) -> String {
    let mut words: Vec<u32> = Vec::new();
    for id in mask.iter().map(os_id) {
        let word = id as usize / 32;
        words.resize(words.len().max(word + 1), 0);
        words[word] |= 1 << (id % 32);
    }
    let mut digits = String::new();
    for word in words.iter().rev() {
        digits = match digits.as_str() {
            "" => format!("{word:x}"),
            higher => format!("{higher},{word:08x}"),
        };
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rules::Rules;
    use crate::sim::testing::{hogs, machine, world};
    use crate::sim::time::MS;

    #[test]
    fn the_file_has_the_kernels_shape() {
        let shape = machine(2, 2, 2);
        let mut world = world(&shape, &hogs(11), "plain");
        world.set_rules(Rules {
            schedstat: 17,
            ..Rules::default()
        });
        world.run_until(100 * MS, u64::MAX);
        let mut text = Vec::new();
        write(&world, &mut text).expect("a Vec takes everything");
        let text = String::from_utf8(text).expect("ASCII");
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split(' ').collect()).collect();
        assert_eq!(lines[0], ["version", "17"]);
        // 100 ms at HZ 1000 after 2^32 - 300,000.
        assert_eq!(lines[1], ["timestamp", "4294667396"]);
        // Eight CPUs with SMT, MC and PKG each.
        assert_eq!(lines.len(), 2 + 8 * 4);
        assert_eq!(lines[2].len(), 1 + 9);
        assert_eq!(lines[3][..3], ["domain0", "SMT", "11"]);
        assert_eq!(lines[5][..3], ["domain2", "PKG", "ff"]);
        assert!(
            lines
                .iter()
                .skip(3)
                .step_by(4)
                .all(|line| line.len() == 3 + 45)
        );
        // Eleven hogs on eight CPUs: no CPU ever idles after the start.
        let busy: u64 = lines
            .iter()
            .filter(|line| line[0].starts_with("cpu"))
            .map(|line| line[7].parse::<u64>().expect("a number"))
            .sum();
        assert_eq!(busy, 8 * 100 * MS);
    }

    #[test]
    fn older_versions_have_fewer_fields_and_another_order() {
        let stats = SdStats {
            lb: [100, 200, 300].map(|first| LbStats {
                lb_count: first,
                lb_imbalance_load: 1,
                lb_imbalance_task: 2,
                ..LbStats::default()
            }),
            ..SdStats::default()
        };
        let fields = |version| {
            let mut text = Vec::new();
            write_counters(&stats, version, &mut text).expect("a Vec takes everything");
            let text = String::from_utf8(text).expect("ASCII");
            text.split_whitespace()
                .map(|field| field.parse::<u64>().expect("a number"))
                .collect::<Vec<_>>()
        };
        // 3 blocks of 11 + 12, busy first.
        let v17 = fields(17);
        assert_eq!((v17.len(), v17[0], v17[11], v17[22]), (45, 100, 200, 300));
        assert_eq!(v17[3..7], [1, 0, 2, 0]);
        // 3 blocks of 8 + 12, one sum of imbalances; 15 has the idle block first.
        let v16 = fields(16);
        assert_eq!((v16.len(), v16[0], v16[8], v16[16]), (36, 100, 200, 300));
        assert_eq!(v16[3], 3);
        let v15 = fields(15);
        assert_eq!((v15.len(), v15[0], v15[8], v15[16]), (36, 200, 100, 300));
    }

    #[test]
    fn masks_are_words_of_eight_digits() {
        let mask = CpuMask::first(48);
        assert_eq!(hex_mask(&mask, |id| u32::from(id.0)), "ffff,ffffffff");
        let high: CpuMask = [crate::sim::CpuId(64)].into_iter().collect();
        assert_eq!(hex_mask(&high, |id| u32::from(id.0)), "1,00000000,00000000");
    }
}
