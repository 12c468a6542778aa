//! Golden vectors of the newidle gates, replayed through the product's own
//! gate code (`balancing.md` 4.10).
//!
//! A vector file holds inputs, the rules of each policy as flags, and what came
//! of them: state rows now and then, decision counts, and checksums over every
//! step. The rules are taken from the flags and never from a policy's name, so
//! a file may hold combinations no kernel had.

mod multi;
mod single;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::scenario::locate::Position;
use crate::scenario::problem::{Problem, suggest};
use crate::sim::Ns;
use crate::sim::gate::{Bump, GatePolicy, PickRule, preset};
use crate::sim::idle::{MIGRATION_COST_NS, updated_avg_idle};
use crate::sim::time::HZ;

/// Times beyond this (13 days) are refused: sums of them must not overflow.
const LONGEST_NS: Ns = 1 << 50;

/// A vector file.
#[derive(Debug, Deserialize)]
pub struct VectorFile {
    format: u32,
    hz: u64,
    migration_cost_ns: Ns,
    bump_cap_ns: Ns,
    policies: BTreeMap<String, Rules>,
    #[serde(default)]
    input_columns: Vec<String>,
    #[serde(default)]
    state_columns: Vec<String>,
    #[serde(default)]
    multi_input_columns: Vec<String>,
    #[serde(default)]
    multi_columns: Vec<String>,
    #[serde(default)]
    single: BTreeMap<String, single::Sequence>,
    #[serde(default)]
    multi: BTreeMap<String, multi::Sequence>,
    avg_idle: Option<AvgIdle>,
}

/// The rules of one policy, as the file spells them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    gate: bool,
    pick: Pick,
    stats: bool,
    rate_shift: Option<u32>,
    clamp: bool,
    skip_at_full: bool,
    bump: bool,
    count_periodic: bool,
    reset_pos: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Pick {
    All,
    Dice,
    Bresenham,
    None,
}

/// Chained updates of one average.
#[derive(Debug, Deserialize)]
struct AvgIdle {
    initial: Ns,
    columns: Vec<String>,
    rows: Vec<[Ns; 3]>,
}

/// A value that came out otherwise than the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the input sequence.
    pub sequence: String,
    /// Name of the policy; none for the chained averages.
    pub policy: Option<String>,
    /// Step, from 1; none for values over the whole sequence.
    pub step: Option<u64>,
    /// Column, `counts.<decision>` or `checksums.<column>`.
    pub field: String,
    /// Value in the file.
    pub expected: i64,
    /// Value of the product's code.
    pub got: i64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sequence {}", self.sequence)?;
        if let Some(policy) = &self.policy {
            write!(f, ", policy {policy}")?;
        }
        match self.step {
            Some(step) => write!(f, ", step {step}")?,
            None => f.write_str(", whole sequence")?,
        }
        write!(
            f,
            ", {}: expected {}, got {}",
            self.field, self.expected, self.got
        )
    }
}

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Sequences replayed, each policy of one counted.
    pub replays: usize,
    /// Values compared.
    pub compared: usize,
    /// Every difference, in the order of the file's names.
    pub mismatches: Vec<Mismatch>,
}

/// Reads a vector file; `source` names it in problems.
pub fn parse(source: &str, text: &str) -> Result<VectorFile, Problem> {
    let file: VectorFile = serde_json::from_str(text).map_err(|error| Problem {
        source: source.into(),
        at: Some(Position {
            line: error.line().max(1),
            column: error.column().max(1),
        }),
        what: reason(&error),
        remedy: "correct the JSON here or just before; the form is that of format 1".into(),
    })?;
    check(source, text, &file)?;
    Ok(file)
}

/// The reader's reason without the place, which is shown in front of it.
fn reason(error: &serde_json::Error) -> String {
    let full = error.to_string();
    match full.rfind(" at line ") {
        Some(end) => full[..end].into(),
        None => full,
    }
}

/// Replays everything in `file`.
pub fn replay(file: &VectorFile) -> Outcome {
    let mut check = Checker::default();
    for (name, sequence) in &file.single {
        for (policy, expected) in &sequence.results {
            check.begin(name, Some(policy));
            single::replay(&file.rules(policy), sequence, expected, &mut check);
        }
    }
    for (name, sequence) in &file.multi {
        for (policy, expected) in &sequence.results {
            check.begin(name, Some(policy));
            multi::replay(&file.rules(policy), sequence, expected, &mut check);
        }
    }
    if let Some(chain) = &file.avg_idle {
        check.begin("avg_idle", None);
        chain.replay(&mut check);
    }
    check.outcome
}

impl VectorFile {
    fn rules(&self, policy: &str) -> GatePolicy {
        self.policies
            .get(policy)
            .expect("parsing checked that every policy of the results has rules")
            .policy(self.bump_cap_ns)
    }
}

impl Rules {
    fn policy(&self, cap_ns: Ns) -> GatePolicy {
        let kernel = preset("plain").expect("plain is a preset");
        GatePolicy {
            cost_gate: self.gate,
            pick: match self.pick {
                Pick::All => PickRule::All,
                Pick::Dice => PickRule::Dice,
                Pick::Bresenham => PickRule::Accumulator,
                Pick::None => PickRule::None,
            },
            stats: self.stats,
            rate_shift: self.rate_shift,
            clamp: self.clamp,
            no_dice_at_full: self.skip_at_full,
            bump: self.bump.then(|| Bump {
                cap_ns,
                ..Bump::default()
            }),
            count_periodic: self.count_periodic,
            reset_pos: self.reset_pos,
            ..kernel
        }
    }
}

impl AvgIdle {
    fn replay(&self, check: &mut Checker) {
        let mut avg_idle = self.initial;
        for (step, &[sample, max_cost, expected]) in (1..).zip(&self.rows) {
            avg_idle = updated_avg_idle(avg_idle, sample, max_cost);
            check.at(step, "avg_idle_after", signed(expected), signed(avg_idle));
        }
    }
}

/// Compares values and keeps the differences.
#[derive(Debug, Default)]
struct Checker {
    outcome: Outcome,
    sequence: String,
    policy: Option<String>,
}

impl Checker {
    fn begin(&mut self, sequence: &str, policy: Option<&str>) {
        self.sequence = sequence.into();
        self.policy = policy.map(Into::into);
        self.outcome.replays += 1;
    }

    fn at(&mut self, step: u64, field: &str, expected: i64, got: i64) {
        self.compare(Some(step), field, expected, got);
    }

    fn whole(&mut self, field: &str, expected: i64, got: i64) {
        self.compare(None, field, expected, got);
    }

    fn compare(&mut self, step: Option<u64>, field: &str, expected: i64, got: i64) {
        self.outcome.compared += 1;
        if expected != got {
            self.outcome.mismatches.push(Mismatch {
                sequence: self.sequence.clone(),
                policy: self.policy.clone(),
                step,
                field: field.into(),
                expected,
                got,
            });
        }
    }

    /// Compares a row of the file with the one of its step.
    fn row(&mut self, columns: &[String], expected: &[i64], got: &[i64]) {
        let step = expected[0] as u64;
        for ((column, &expected), &got) in columns.iter().zip(expected).zip(got).skip(1) {
            self.at(step, column, expected, got);
        }
    }

    /// Compares the checksums the file gives.
    fn sums(&mut self, expected: &BTreeMap<String, i64>, got: &Sums) {
        for (name, &expected) in expected {
            let got = got.0.get(name.as_str()).copied().unwrap_or(0);
            self.whole(&format!("checksums.{name}"), expected, i64::from(got));
        }
    }
}

/// Sum of value x step over all steps, modulo 2^32, per column.
#[derive(Debug, Default)]
struct Sums(BTreeMap<&'static str, u32>);

impl Sums {
    fn add(&mut self, step: u64, column: &'static str, value: i64) {
        let sum = self.0.entry(column).or_default();
        // Cutting to 32 bits is taking the remainder, for negative values too.
        *sum = sum.wrapping_add((value as u32).wrapping_mul(step as u32));
    }
}

/// Values of the file and the gate are far below 2^63.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Finds what the replay could not make sense of.
fn check(source: &str, text: &str, file: &VectorFile) -> Result<(), Problem> {
    let problem = |key: &str, what: String, remedy: String| Problem {
        source: source.into(),
        at: Some(position_of_key(text, key)),
        what,
        remedy,
    };
    let constant = |key, found, wanted: u64| match found == wanted {
        true => Ok(()),
        false => Err(problem(
            key,
            format!("{key} is {found}"),
            format!("only {wanted} is modelled"),
        )),
    };
    constant("format", u64::from(file.format), 1)?;
    constant("hz", file.hz, HZ)?;
    constant(
        "migration_cost_ns",
        file.migration_cost_ns,
        MIGRATION_COST_NS,
    )?;
    for (name, rules) in &file.policies {
        if let Some(shift) = rules.rate_shift.filter(|&shift| shift > 63) {
            let what = format!("policy {name}: rate_shift is {shift}");
            return Err(problem(name, what, "allowed: 0 to 63, or null".into()));
        }
    }
    for (name, policy) in file.results() {
        if !file.policies.contains_key(policy) {
            let what = format!("sequence {name} has results of an unknown policy {policy}");
            let known = file.policies.keys().map(String::as_str);
            return Err(problem(policy, what, suggest(policy, known)));
        }
    }
    file.shapes()
        .map_err(|(key, what, remedy)| problem(&key, what, remedy))
}

/// Key, what, remedy.
type Shape = (String, String, String);

impl VectorFile {
    /// Every sequence with a policy it has results of.
    fn results(&self) -> impl Iterator<Item = (&String, &String)> {
        let single = self.single.iter();
        let multi = self.multi.iter();
        single
            .flat_map(|(name, sequence)| sequence.results.keys().map(move |policy| (name, policy)))
            .chain(multi.flat_map(|(name, sequence)| {
                sequence.results.keys().map(move |policy| (name, policy))
            }))
    }

    /// Columns and lengths of all tables.
    fn shapes(&self) -> Result<(), Shape> {
        if !self.single.is_empty() {
            columns("input_columns", &self.input_columns, &single::INPUTS)?;
            columns("state_columns", &self.state_columns, &single::STATES)?;
        }
        for (name, sequence) in &self.single {
            sequence.check(name)?;
        }
        if !self.multi.is_empty() {
            columns(
                "multi_input_columns",
                &self.multi_input_columns,
                &multi::INPUTS,
            )?;
            columns("multi_columns", &self.multi_columns, &multi::states())?;
        }
        for (name, sequence) in &self.multi {
            sequence.check(name)?;
        }
        if let Some(chain) = &self.avg_idle {
            let wanted = ["idle_ns", "max_idle_balance_cost", "avg_idle_after"];
            columns("avg_idle", &chain.columns, &wanted)?;
            let longest = chain.rows.iter().flatten().copied().max();
            times("avg_idle", longest.max(Some(chain.initial)))?;
        }
        Ok(())
    }
}

fn columns<S: AsRef<str>>(key: &str, found: &[String], wanted: &[S]) -> Result<(), Shape> {
    let wanted: Vec<_> = wanted.iter().map(AsRef::as_ref).collect();
    if found == wanted {
        return Ok(());
    }
    Err((
        key.into(),
        format!("the columns of {key} are {}", found.join(", ")),
        format!("only {} are understood", wanted.join(", ")),
    ))
}

/// Refuses times whose sums could overflow.
fn times(key: &str, longest: Option<Ns>) -> Result<(), Shape> {
    match longest {
        Some(time) if time > LONGEST_NS => Err((
            key.into(),
            format!("{key} holds a time of {time} ns"),
            format!("the longest allowed is {LONGEST_NS} ns (13 days)"),
        )),
        _ => Ok(()),
    }
}

/// Refuses a table of another length than it must have.
fn length(key: &str, table: &str, found: usize, wanted: usize) -> Result<(), Shape> {
    match found == wanted {
        true => Ok(()),
        false => Err((
            key.into(),
            format!("{table} of {key} has {found} values"),
            format!("it must have {wanted}"),
        )),
    }
}

/// Where `"key"` first stands in the text; its beginning if nowhere.
fn position_of_key(text: &str, key: &str) -> Position {
    let offset = text.find(&format!("\"{key}\"")).unwrap_or(0);
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
