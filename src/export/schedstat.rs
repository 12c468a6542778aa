//! A run in the form of /proc/schedstat, version 17.
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
    writeln!(out, "version 17")?;
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
            write!(out, "domain{level} {} {mask}", domain.name)?;
            write_counters(world.domain(cpu, level).stats, out)?;
        }
    }
    Ok(())
}

fn write_counters(stats: &SdStats, out: &mut impl Write) -> io::Result<()> {
    for block in &stats.lb {
        for value in block_fields(block) {
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

const fn block_fields(lb: &LbStats) -> [u64; 11] {
    [
        lb.lb_count,
        lb.lb_balanced,
        lb.lb_failed,
        lb.lb_imbalance_load,
        lb.lb_imbalance_util,
        lb.lb_imbalance_task,
        lb.lb_imbalance_misfit,
        lb.lb_gained,
        lb.lb_hot_gained,
        lb.lb_nobusyq,
        lb.lb_nobusyg,
    ]
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
    use crate::sim::testing::{hogs, machine, world};
    use crate::sim::time::MS;

    #[test]
    fn the_file_has_the_kernels_shape() {
        let shape = machine(2, 2, 2);
        let mut world = world(&shape, &hogs(11), "plain");
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
    fn masks_are_words_of_eight_digits() {
        let mask = CpuMask::first(48);
        assert_eq!(hex_mask(&mask, |id| u32::from(id.0)), "ffff,ffffffff");
        let high: CpuMask = [crate::sim::CpuId(64)].into_iter().collect();
        assert_eq!(hex_mask(&high, |id| u32::from(id.0)), "1,00000000,00000000");
    }
}
