//! The rules that are one of several, as a table that every front reads.

use super::{AVG_IDLE, BALANCE, Choice, FEATURES, FORK, Features, PICK, Rules, SCHED_IDLE, WAKEUP};

/// One of the rules that can be chosen apart.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its name, as on the command line and in scenarios.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Names of its choices.
    pub names: &'static [&'static str],
    /// One line on each choice.
    pub abouts: &'static [&'static str],
    /// Other names of each choice.
    pub aliases: &'static [&'static [&'static str]],
    /// Which choice is in force.
    pub get: fn(&Rules) -> usize,
    /// Takes the choice of this index.
    pub set: fn(&mut Rules, usize),
}

const fn names<T: Copy, const N: usize>(table: &[Choice<T>; N]) -> [&'static str; N] {
    let mut out = [""; N];
    let mut index = 0;
    while index < N {
        out[index] = table[index].name;
        index += 1;
    }
    out
}

const fn abouts<T: Copy, const N: usize>(table: &[Choice<T>; N]) -> [&'static str; N] {
    let mut out = [""; N];
    let mut index = 0;
    while index < N {
        out[index] = table[index].about;
        index += 1;
    }
    out
}

const fn aliases<T: Copy, const N: usize>(table: &[Choice<T>; N]) -> [&'static [&'static str]; N] {
    let mut out: [&'static [&'static str]; N] = [&[]; N];
    let mut index = 0;
    while index < N {
        out[index] = table[index].aliases;
        index += 1;
    }
    out
}

fn index_of<T: PartialEq>(table: &[Choice<T>], value: &T) -> usize {
    let found = table.iter().position(|choice| choice.value == *value);
    found.expect("every value of a rule is in its table")
}

macro_rules! part {
    ($name:literal, $about:literal, $table:ident, $field:ident, $set:expr) => {
        Part {
            name: $name,
            about: $about,
            names: &const { names(&$table) },
            abouts: &const { abouts(&$table) },
            aliases: &const { aliases(&$table) },
            get: |rules| index_of(&$table, &rules.$field),
            set: |rules, index| $set(rules, $table[index].value),
        }
    };
}

/// The rules that can be chosen apart. The picking rule comes first, because it
/// brings its own switches.
pub static PARTS: [Part; 6] = [
    part!("pick", "which task runs next", PICK, pick, Rules::set_pick),
    part!(
        "wakeup",
        "where a woken task goes",
        WAKEUP,
        wakeup,
        |rules: &mut Rules, value| rules.wakeup = value
    ),
    part!(
        "fork",
        "which idle CPU of the idlest group a forked task gets",
        FORK,
        fork,
        |rules: &mut Rules, value| rules.fork = value
    ),
    part!(
        "sched_idle",
        "what placement makes of CPUs that run only SCHED_IDLE tasks",
        SCHED_IDLE,
        sched_idle,
        |rules: &mut Rules, value| rules.sched_idle = value
    ),
    part!(
        "balance",
        "version of the balance pass",
        BALANCE,
        balance,
        |rules: &mut Rules, value| rules.balance = value
    ),
    part!(
        "avg_idle",
        "when an idle period counts into avg_idle",
        AVG_IDLE,
        avg_idle,
        |rules: &mut Rules, value| rules.avg_idle = value
    ),
];

impl Part {
    /// Index of the choice of this name or alias.
    pub fn find(&self, name: &str) -> Option<usize> {
        (0..self.names.len())
            .find(|&index| self.names[index] == name || self.aliases[index].contains(&name))
    }

    /// Name of the choice in force.
    pub fn now(&self, rules: &Rules) -> &'static str {
        self.names[(self.get)(rules)]
    }
}

impl Rules {
    /// What these rules have other than `base`, as it is asked for on the command
    /// line: `wakeup=sis-node`, `NO_SIS_UTIL`. Switches that came with another
    /// picking rule are not listed.
    pub fn changes_from(&self, base: &Self) -> Vec<String> {
        let mut expected = base.features;
        if self.pick != base.pick {
            expected.fair = Features::of(self.pick).fair;
        }
        let mut now = self.features;
        let parts = PARTS
            .iter()
            .filter(|part| (part.get)(self) != (part.get)(base));
        let mut changes: Vec<String> = parts
            .map(|part| format!("{}={}", part.name, part.now(self)))
            .collect();
        for feature in &FEATURES {
            let name = feature.name;
            let on = now.by_name(name).is_some_and(|switch| *switch);
            if expected.by_name(name).is_some_and(|switch| *switch != on) {
                changes.push(format!("{}{name}", if on { "" } else { "NO_" }));
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::fair::PickRule;

    #[test]
    fn every_choice_of_every_part_can_be_taken_and_read_back() {
        for part in &PARTS {
            for (index, name) in part.names.iter().enumerate() {
                let mut rules = Rules::default();
                (part.set)(&mut rules, index);
                assert_eq!(part.now(&rules), *name);
                assert_eq!(part.find(name), Some(index));
            }
        }
    }

    #[test]
    fn changes_are_named_as_they_are_asked_for() {
        let base = Rules::default();
        let mut rules = base;
        assert!(rules.changes_from(&base).is_empty());
        assert!(rules.features.set("NO_SIS_UTIL"));
        (PARTS[2].set)(&mut rules, 2);
        assert_eq!(rules.changes_from(&base), ["fork=random", "NO_SIS_UTIL"]);
        // CFS brings its own switches: they are no change of their own.
        rules = base;
        rules.set_pick(PickRule::Cfs61);
        assert_eq!(rules.changes_from(&base), ["pick=cfs-6.1"]);
    }
}
