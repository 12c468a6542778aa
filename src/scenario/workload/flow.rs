//! Programs that are well formed and still can never work: loops in which no
//! time passes, queues nobody feeds, teams without members.

use super::classes::Places;
use crate::scenario::problem::Report;
use crate::sim::workload::{Class, ClassId, Dist, Op, Workload};

/// Reports what cannot work in an otherwise valid workload.
pub(super) fn check(workload: &Workload, places: &Places, report: &mut Report) {
    for (index, (class, places)) in workload.classes.iter().zip(places).enumerate() {
        loops(class, places, report);
        answers(class, places, report);
        growth(workload, class, places, report);
        if let Some(fork) = forks_itself(workload, index) {
            report.at(
                &places[fork],
                format!("`{}` forks itself, so it never ends growing", class.name),
                "fork a class that does not lead back here",
            );
        }
        splits(workload, class, places, report);
    }
    queues(workload, report);
    teams(workload, report);
}

/// Every endless or counted loop must let time pass in each round.
fn loops(class: &Class, places: &[String], report: &mut Report) {
    for (end, op) in class.program.iter().enumerate() {
        let Op::Jump { to, .. } = *op else { continue };
        if !class.program[to..end].iter().any(takes_time) {
            report.at(
                &places[end],
                format!(
                    "this loop of `{}` can spin for ever without time passing",
                    class.name
                ),
                "put run, sleep, wait, await_reply or yield in it",
            );
        }
    }
}

fn takes_time(op: &Op) -> bool {
    match op {
        Op::Run(work) => longest(&work.time) > 0,
        Op::Sleep(time) => longest(time) > 0,
        Op::Wait { .. } | Op::AwaitReply | Op::Yield | Op::Exit => true,
        // A barrier with a single member lets it through at once.
        _ => false,
    }
}

fn longest(time: &Dist) -> u64 {
    match *time {
        Dist::Const(time) | Dist::Exp(time) | Dist::Uniform(_, time) => time,
        Dist::LogNormal { median, .. } => median,
    }
}

/// An answer needs a request before it, and waiting for one a token sent.
fn answers(class: &Class, places: &[String], report: &mut Report) {
    let find = |wanted: fn(&Op) -> bool| class.program.iter().position(wanted);
    let waits = find(|op| matches!(op, Op::Wait { .. }));
    let wakes = find(|op| matches!(op, Op::Wake { .. }));
    if let (Some(reply), None) = (find(|op| matches!(op, Op::Reply)), waits) {
        report.at(
            &places[reply],
            format!("`{}` replies but never waits for a request", class.name),
            "put wait(\"queue\") before reply",
        );
    }
    if let (Some(await_reply), None) = (find(|op| matches!(op, Op::AwaitReply)), wakes) {
        report.at(
            &places[await_reply],
            format!("`{}` awaits a reply but never sends a request", class.name),
            "put wake(\"queue\") before await_reply",
        );
    }
}

/// Growth counts the `done` of the team or of the task itself.
fn growth(workload: &Workload, class: &Class, places: &[String], report: &mut Report) {
    for (op, place) in class.program.iter().zip(places) {
        let Op::Run(work) = op else { continue };
        if work.growth.is_none() {
            continue;
        }
        let counts = |class: &Class| class.program.contains(&Op::Done);
        let counted = match work.split {
            Some(team) => {
                (workload.classes.iter()).any(|class| meets(class, team) && counts(class))
            }
            None => counts(class),
        };
        if !counted {
            report.at(
                &format!("{place}.growth"),
                format!(
                    "work of `{}` grows, but no `done` counts its rounds",
                    class.name
                ),
                "put done at the end of a round",
            );
        }
    }
}

/// Work is split over those who meet, so an outsider's part belongs to nobody.
fn splits(workload: &Workload, class: &Class, places: &[String], report: &mut Report) {
    for (op, place) in class.program.iter().zip(places) {
        let Op::Run(work) = op else { continue };
        if let Some(team) = work.split.filter(|&team| !meets(class, team)) {
            let team = &workload.teams[team].name;
            report.at(
                &format!("{place}.split"),
                format!("`{}` never meets team `{team}`", class.name),
                format!("add barrier(\"{team}\") to its program, or remove `split`"),
            );
        }
    }
}

fn meets(class: &Class, team: usize) -> bool {
    let barrier = |op: &Op| matches!(op, Op::Barrier { team: met, .. } if *met == team);
    class.program.iter().any(barrier)
}

/// The first fork of `class` that leads back to it.
fn forks_itself(workload: &Workload, class: ClassId) -> Option<usize> {
    let program = &workload.classes[class].program;
    program.iter().position(|op| match *op {
        Op::Fork { class: child } => leads_to(workload, child, class),
        _ => false,
    })
}

/// Whether a task of `from` forks one of `to`, or is one.
fn leads_to(workload: &Workload, from: ClassId, to: ClassId) -> bool {
    let mut reached = vec![false; workload.classes.len()];
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        if std::mem::replace(&mut reached[next], true) {
            continue;
        }
        open.extend(
            workload.classes[next]
                .program
                .iter()
                .filter_map(|op| match *op {
                    Op::Fork { class } => Some(class),
                    _ => None,
                }),
        );
    }
    reached[to]
}

fn queues(workload: &Workload, report: &mut Report) {
    let ops = || workload.classes.iter().flat_map(|class| &class.program);
    for (index, queue) in workload.queues.iter().enumerate() {
        let waited = ops().any(|op| matches!(op, Op::Wait { queue, .. } if *queue == index));
        let woken = ops().any(|op| matches!(op, Op::Wake { queue } if *queue == index));
        let missing = match (waited, woken) {
            (true, true) => continue,
            (true, false) => "no class wakes",
            (false, true) => "no class waits for",
            (false, false) => "no class uses",
        };
        report.at(
            &format!("queues[{index}].name"),
            format!("{missing} queue `{}`", queue.name),
            "add the missing wake or wait, or remove the queue",
        );
    }
}

fn teams(workload: &Workload, report: &mut Report) {
    for (index, team) in workload.teams.iter().enumerate() {
        let path = format!("teams[{index}].name");
        let members = workload.classes.iter().filter(|class| meets(class, index));
        if members.map(|class| class.count).sum::<u32>() == 0 {
            report.at(
                &path,
                format!("team `{}` has no members", team.name),
                "put barrier(\"...\") in the program of a class with tasks",
            );
        }
    }
}
