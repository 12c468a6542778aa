//! The CSV form: a line of names and a line of values.

use std::io::{self, Write};

use super::{Newidle, Summary};
use crate::export::csv;

impl Summary {
    /// Writes one line of column names and one of values, ready to be stacked
    /// with the lines of other runs of the same workload and machine shape.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.columns();
        csv::row(out, columns.iter().map(|(name, _)| name))?;
        csv::row(out, columns.iter().map(|(_, value)| value))
    }

    /// Every value under its path in the JSON form, joined by dots.
    fn columns(&self) -> Vec<(String, String)> {
        let mut table = Columns(Vec::new());
        table.add("scenario", &self.scenario);
        table.add("topology", &self.topology);
        table.add("kernel", &self.kernel);
        table.add("changed_rules", self.changed_rules.join(" "));
        table.add("policy", &self.policy);
        table.add("seed", self.seed);
        table.add("simulated_ns", self.simulated_ns);
        if let Some(wall) = self.wall_ns {
            table.add("wall_ns", wall);
        }
        table.add("events", self.events);
        table.add("schedules", self.schedules);
        table.add("event_hash", &self.event_hash);
        for (class, throughput) in &self.throughput {
            table.add(&format!("throughput.{class}.value"), throughput.value);
            table.add(&format!("throughput.{class}.unit"), &throughput.unit);
        }
        table.newidle("newidle", &self.newidle);
        self.domain_columns(&mut table);
        table.add("migrations.same_core", self.migrations.same_core);
        table.add("migrations.same_llc", self.migrations.same_llc);
        table.add("migrations.cross_llc", self.migrations.cross_llc);
        table.add("migrations.cross_node", self.migrations.cross_node);
        table.add("idle_while_waiting_ns", self.idle_while_waiting_ns);
        let latency = self.wakeup_latency_ns;
        for (name, value) in [
            ("p50", latency.p50),
            ("p99", latency.p99),
            ("p999", latency.p999),
        ] {
            let value = value.map_or_else(String::new, |value| value.to_string());
            table.add(&format!("wakeup_latency_ns.{name}"), value);
        }
        table.0
    }

    fn domain_columns(&self, table: &mut Columns) {
        for (index, domain) in self.domains.iter().enumerate() {
            // Machines with several NUMA distances have several NUMA levels.
            let before = &self.domains[..index];
            let same = before.iter().filter(|other| other.name == domain.name);
            let path = match same.count() {
                0 => format!("domains.{}", domain.name),
                count => format!("domains.{}{}", domain.name, count + 1),
            };
            table.newidle(&path, &domain.newidle);
            table.add(&format!("{path}.ratio_mean"), domain.ratio_mean);
            let cost = domain.max_newidle_lb_cost_ns;
            for (name, value) in [
                ("min", cost.min),
                ("median", cost.median),
                ("max", cost.max),
            ] {
                table.add(&format!("{path}.max_newidle_lb_cost_ns.{name}"), value);
            }
        }
    }
}

struct Columns(Vec<(String, String)>);

impl Columns {
    fn add(&mut self, name: &str, value: impl ToString) {
        self.0.push((name.into(), value.to_string()));
    }

    fn newidle(&mut self, path: &str, newidle: &Newidle) {
        for (name, value) in [
            ("entries", newidle.entries),
            ("calls", newidle.calls),
            ("runs", newidle.runs),
            ("pulls", newidle.pulls),
            ("skips.not_overloaded", newidle.skips.not_overloaded),
            ("skips.cost_gate", newidle.skips.cost_gate),
            ("skips.policy", newidle.skips.policy),
        ] {
            self.add(&format!("{path}.{name}"), value);
        }
    }
}
