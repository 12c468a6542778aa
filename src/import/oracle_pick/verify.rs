//! Comparison of a replay with the file.

use std::collections::BTreeMap;
use std::fmt;

use super::replay::Cpu;
use super::{Case, Record, TaskState, VectorFile};

/// A value that came out otherwise than the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the case, or kind and row of a single sum.
    pub case: String,
    /// Record of the trace, from 0; none for values of the whole case.
    pub record: Option<usize>,
    /// Field in the file's spelling, of a task as `task.field`.
    pub field: String,
    /// Value in the file.
    pub expected: String,
    /// Value of the product's code.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.case)?;
        if let Some(record) = self.record {
            write!(f, ", record {record}")?;
        }
        let Self {
            field,
            expected,
            got,
            ..
        } = self;
        write!(f, ", {field}: expected {expected}, got {got}")
    }
}

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Cases replayed.
    pub cases: usize,
    /// Values compared.
    pub compared: usize,
    /// Differences in the order of the file; of a case only those of the first
    /// record that differs.
    pub mismatches: Vec<Mismatch>,
}

/// Replays everything in `file`.
#[must_use]
pub fn verify(file: &VectorFile) -> Outcome {
    let mut checker = Checker::default();
    if let Some(vectors) = &file.unit_vectors {
        vectors.check(&mut checker);
    }
    for case in &file.cases {
        checker.case(case);
    }
    checker.outcome
}

/// Compares values under the name of what is being compared.
#[derive(Default)]
pub(super) struct Checker {
    case: String,
    record: Option<usize>,
    outcome: Outcome,
}

impl Checker {
    pub(super) fn begin(&mut self, case: &str, record: Option<usize>) {
        case.clone_into(&mut self.case);
        self.record = record;
    }

    /// Checks each row of one kind of sums.
    pub(super) fn rows<T>(&mut self, kind: &str, rows: &[T], check: impl Fn(&mut Self, &T)) {
        for (index, row) in rows.iter().enumerate() {
            self.begin(&format!("{kind}[{index}]"), None);
            check(self, row);
        }
    }

    pub(super) fn value<T: PartialEq + fmt::Debug>(&mut self, field: &str, expected: &T, got: &T) {
        self.outcome.compared += 1;
        if expected != got {
            self.differs(field, format!("{expected:?}"), format!("{got:?}"));
        }
    }

    /// A value that the file may leave out and the rule may not have.
    pub(super) fn given<T: PartialEq + fmt::Debug>(
        &mut self,
        field: &str,
        expected: Option<T>,
        got: Option<T>,
    ) {
        match (expected, got) {
            (Some(expected), Some(got)) => self.value(field, &expected, &got),
            (Some(expected), None) => {
                self.outcome.compared += 1;
                self.differs(field, format!("{expected:?}"), "nothing".into());
            }
            (None, _) => {}
        }
    }

    fn differs(&mut self, field: &str, expected: String, got: String) {
        self.outcome.mismatches.push(Mismatch {
            case: self.case.clone(),
            record: self.record,
            field: field.into(),
            expected,
            got,
        });
    }

    fn case(&mut self, case: &Case) {
        let before = self.outcome.mismatches.len();
        self.outcome.cases += 1;
        let mut cpu = Cpu::new(case);
        cpu.run();
        for (index, expected) in case.trace.iter().enumerate() {
            self.begin(&case.name, Some(index));
            match cpu.trace().get(index) {
                Some(got) => self.record(expected, got),
                None => self.given("kind", Some(&expected.kind), None),
            }
            if self.outcome.mismatches.len() > before {
                return;
            }
        }
        self.begin(&case.name, None);
        self.value("trace length", &case.trace.len(), &cpu.trace().len());
        let switches = cpu.trace().iter().filter(|record| record.kind == "switch");
        let picks: Vec<_> = switches.map(|record| record.next.clone()).collect();
        self.value("pick_sequence", &case.pick_sequence, &picks);
        for (task, expected) in &case.summary {
            let got = cpu.summary(task);
            self.given(&format!("summary.{task}"), Some(*expected), got);
        }
    }

    fn record(&mut self, expected: &Record, got: &Record) {
        self.value("t", &expected.t, &got.t);
        self.value("kind", &expected.kind, &got.kind);
        self.value("why", &expected.why, &got.why);
        self.value("prev", &expected.prev, &got.prev);
        self.value("next", &expected.next, &got.next);
        self.given("V", expected.v, got.v);
        self.given("min_vruntime", expected.min_vruntime, got.min_vruntime);
        let names = |tasks: &BTreeMap<String, TaskState>| -> Vec<String> {
            tasks.keys().cloned().collect()
        };
        self.value("tasks", &names(&expected.tasks), &names(&got.tasks));
        for (name, expected) in &expected.tasks {
            if let Some(got) = got.tasks.get(name) {
                self.task(name, expected, got);
            }
        }
    }

    fn task(&mut self, name: &str, expected: &TaskState, got: &TaskState) {
        let field = |field: &str| format!("{name}.{field}");
        self.value(&field("on_rq"), &expected.on_rq, &got.on_rq);
        self.value(&field("v"), &expected.v, &got.v);
        self.value(&field("exec"), &expected.exec, &got.exec);
        self.given(&field("deadline"), expected.deadline, got.deadline);
        self.given(&field("delayed"), expected.delayed, got.delayed);
        self.given(&field("lag"), expected.lag, got.lag);
    }
}
