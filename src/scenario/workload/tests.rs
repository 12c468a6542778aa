use super::*;
use crate::sim::workload::{Dist, Op, Work};

/// The program of a single class with these steps.
fn program(steps: &str) -> Vec<Op> {
    let text = format!(
        "(format: 1, id: \"t\", title: \"t\",
          queues: [(name: \"q\")], teams: [(name: \"t\", spin: \"1ms\")],
          classes: [
            (name: \"a\", letter: 'a', count: 1, unit: \"rounds\", program: [{steps}]),
            (name: \"b\", letter: 'b', count: 1, program: [
              loop([wait(\"q\"), wake(\"q\"), barrier(\"t\")])]),
          ])"
    );
    let workload = parse("t.ron", &text).unwrap_or_else(|problems| panic!("{problems}"));
    workload.classes[0].program.clone()
}

fn run(time: Dist) -> Op {
    Op::Run(Work {
        time,
        growth: None,
        split: None,
    })
}

#[test]
fn the_embedded_workloads_are_valid_and_go_by_their_ids() {
    for (id, text) in EMBEDDED {
        let workload = parse(id, text).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(workload.id, id);
    }
}

#[test]
fn nested_loops_become_jumps_with_counters_of_their_own() {
    let ops = program(
        "done, repeat(3, [repeat(2, [run(time: const(\"1us\"))]), sleep(exp(\"2us\"))]), loop([
           sleep(uniform(\"1us\", \"3us\"))])",
    );
    assert_eq!(
        ops,
        [
            Op::Done,
            run(Dist::Const(1_000)),
            Op::Jump {
                to: 1,
                times: Some(2),
                counter: 1
            },
            Op::Sleep(Dist::Exp(2_000)),
            Op::Jump {
                to: 1,
                times: Some(3),
                counter: 0
            },
            Op::Sleep(Dist::Uniform(1_000, 3_000)),
            Op::Jump {
                to: 5,
                times: None,
                counter: 2
            },
        ]
    );
}

#[test]
fn falling_off_the_end_is_leaving() {
    assert_eq!(program("done"), [Op::Done, Op::Exit]);
    assert_eq!(program("done, exit"), [Op::Done, Op::Exit]);
}

#[test]
fn newcomers_join_at_the_first_barrier_of_the_round() {
    let ops = program("loop([barrier(\"t\"), run(time: const(\"1us\")), barrier(\"t\")])");
    let joins = ops.iter().filter_map(|op| match op {
        Op::Barrier { join, .. } => Some(*join),
        _ => None,
    });
    assert_eq!(joins.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_lognormal_has_a_median_and_a_sigma() {
    let ops = program("run(time: lognormal(median: \"5us\", sigma: 0.5))");
    let expected = Dist::LogNormal {
        median: 5_000,
        sigma: 0.5,
    };
    assert_eq!(ops[0], run(expected));
}
