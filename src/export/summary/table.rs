//! The table form, for people: at most 80 columns, units in the headings.

use std::io::{self, Write};

use super::{Domain, Newidle, Summary};
use crate::scenario::units::format_time;
use crate::sim::Ns;
use crate::sim::time::SEC;

impl Summary {
    /// Writes the table form.
    ///
    /// ```text
    ///                                                   skipped:
    /// NEWIDLE    entries     calls      runs    pulls not overl. cost gate    policy
    /// machine       6956        52        26        0       6930         0        26
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_head(out)?;
        self.write_throughput(out)?;
        self.write_newidle(out)?;
        self.write_levels(out)?;
        self.write_tasks(out)
    }

    fn write_head(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "scenario   {}", self.scenario)?;
        writeln!(out, "topology   {}", self.topology)?;
        writeln!(out, "kernel     {}", self.kernel)?;
        if !self.changed_rules.is_empty() {
            write_words("changed", &self.changed_rules, out)?;
        }
        writeln!(out, "policy     {}", self.policy)?;
        writeln!(out, "seed       {}", self.seed)?;
        writeln!(out, "simulated  {}", format_time(self.simulated_ns))?;
        if let Some(wall) = self.wall_ns {
            let wall = wall.max(1);
            writeln!(
                out,
                "wall       {:.3} s, {} context switches/s of wall time",
                wall as f64 / SEC as f64,
                self.schedules_per_wall_second(wall),
            )?;
        }
        writeln!(
            out,
            "events     {} ({} context switches), hash {}",
            self.events, self.schedules, self.event_hash
        )
    }

    /// Context switches per second of wall time.
    fn schedules_per_wall_second(&self, wall: Ns) -> u128 {
        u128::from(self.schedules) * u128::from(SEC) / u128::from(wall)
    }

    fn write_throughput(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{:<12} {:>16}  unit", "THROUGHPUT", "value")?;
        for (class, throughput) in &self.throughput {
            let value = throughput.value;
            writeln!(out, "{class:<12} {value:>16.1}  {}", throughput.unit)?;
        }
        Ok(())
    }

    fn write_newidle(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{:50}skipped:", "")?;
        writeln!(
            out,
            "{:<8} {:>9} {:>9} {:>9} {:>8} {:>10} {:>9} {:>9}",
            "NEWIDLE", "entries", "calls", "runs", "pulls", "not overl.", "cost gate", "policy"
        )?;
        let all = ("machine", &self.newidle);
        let levels = self.domains.iter();
        let levels = levels.map(|domain| (domain.name.as_str(), &domain.newidle));
        for (name, newidle) in [all].into_iter().chain(levels) {
            write_newidle_row(name, newidle, out)?;
        }
        Ok(())
    }

    fn write_levels(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\n{:<9} {:>15}   max_newidle_lb_cost, us: {:>6} {:>9} {:>9}",
            "GATE", "ratio, of 1024", "least", "median", "most"
        )?;
        for domain in &self.domains {
            let ratio = match self.keeps_ratio {
                true => format!("{:.1}", domain.ratio_mean),
                false => "-".into(),
            };
            write_level_row(domain, &ratio, out)?;
        }
        Ok(())
    }

    fn write_tasks(&self, out: &mut impl Write) -> io::Result<()> {
        let moved = &self.migrations;
        writeln!(out, "\nMIGRATIONS")?;
        for (name, count) in [
            ("same core", moved.same_core),
            ("same LLC", moved.same_llc),
            ("cross LLC", moved.cross_llc),
            ("cross node", moved.cross_node),
        ] {
            writeln!(out, "{name:<12} {count:>16}")?;
        }
        let waste = micros(self.idle_while_waiting_ns);
        writeln!(out, "\n{:<12} {:>16}", "WAITING", "us")?;
        writeln!(
            out,
            "{:<12} {waste:>16}  CPUs idle beside a waiting task",
            "idle"
        )?;
        let latency = self.wakeup_latency_ns;
        for (name, value) in [
            ("wakeup p50", latency.p50),
            ("wakeup p99", latency.p99),
            ("wakeup p99.9", latency.p999),
        ] {
            let value = value.map_or_else(|| "-".into(), micros);
            writeln!(out, "{name:<12} {value:>16}  from wakeup to running")?;
        }
        Ok(())
    }
}

/// Words behind a name, on as many lines of at most 80 columns as they need.
fn write_words(name: &str, words: &[String], out: &mut impl Write) -> io::Result<()> {
    let mut line = format!("{name:<10}");
    for word in words {
        if line.len() + 1 + word.len() > 80 {
            writeln!(out, "{line}")?;
            line = " ".repeat(10);
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

fn write_newidle_row(name: &str, newidle: &Newidle, out: &mut impl Write) -> io::Result<()> {
    let Newidle {
        entries,
        calls,
        runs,
        pulls,
        skips,
    } = newidle;
    writeln!(
        out,
        "{name:<8} {entries:>9} {calls:>9} {runs:>9} {pulls:>8} {:>10} {:>9} {:>9}",
        skips.not_overloaded, skips.cost_gate, skips.policy
    )
}

fn write_level_row(domain: &Domain, ratio: &str, out: &mut impl Write) -> io::Result<()> {
    let cost = domain.max_newidle_lb_cost_ns;
    writeln!(
        out,
        "{:<9} {ratio:>15} {:>33} {:>9} {:>9}",
        domain.name,
        micros(cost.min),
        micros(cost.median),
        micros(cost.max)
    )
}

/// Microseconds with one decimal.
fn micros(time: Ns) -> String {
    format!("{}.{}", time / 1_000, time % 1_000 / 100)
}
