//! The pages to read: help and why.

use super::keymap::{BINDINGS, Binding, Context, keys_text};
use super::scene;
use super::state::{Page, PageKind, State};
use super::theme::Role;
use super::update::contexts_under;

/// One line of a page: parts with their roles.
pub type Line = Vec<(String, Role)>;

/// Heading of a page.
pub fn title(state: &State, kind: PageKind) -> String {
    match kind {
        PageKind::Help => "Help".to_owned(),
        PageKind::Realism => "What is not modelled, and what that loses".to_owned(),
        PageKind::Why => format!("Why: CPU {}", state.shape.os_ids[state.selected.index()]),
    }
}

/// The lines of a page that its filter lets through.
pub fn lines(state: &State, page: &Page) -> Vec<Line> {
    let all = match page.kind {
        PageKind::Help => help(state),
        PageKind::Why => why(state),
        PageKind::Realism => realism(state),
    };
    let needle = page.filter.text().to_lowercase();
    if needle.is_empty() {
        return all;
    }
    let text = |line: &Line| {
        line.iter()
            .map(|(part, _)| part.as_str())
            .collect::<String>()
    };
    all.into_iter()
        .filter(|line| text(line).to_lowercase().contains(&needle))
        .collect()
}

fn heading(text: &str) -> Line {
    vec![(text.to_owned(), Role::TitleFocus)]
}

fn plain(text: impl Into<String>) -> Line {
    vec![(text.into(), Role::Text)]
}

/// What the marks and figures mean.
const GLOSSARY: &[(&str, &str)] = &[
    (
        "newidle",
        "a CPU about to go idle looks for a waiting task to pull",
    ),
    (
        "starved",
        "a CPU is idle while a task it could run waits elsewhere",
    ),
    (
        "level",
        "sched domain: SMT core, MC last-level cache (CCX), PKG socket, NUMA",
    ),
    (
        "ratio",
        "newidle_ratio: pulls per 1024 calls, the kernel's own number",
    ),
    ("calls", "newidle calls the policy was asked about"),
    (
        "searches",
        "balance passes run (lb_count); pulls: tasks they brought",
    ),
    (
        "no overload",
        "walks not begun: no runqueue had two tasks (rd->overloaded)",
    ),
    (
        "cost gate",
        "walks ended: avg_idle below the time spent plus max_newidle_lb_cost",
    ),
    ("dice skips", "calls the policy skipped by its ratio"),
    (
        "gated CPUs",
        "CPUs whose avg_idle is below max_newidle_lb_cost here, of those with it",
    ),
    (
        "wasted",
        "CPUs idle while a task waited, mean over the bar's time",
    ),
];

fn help(state: &State) -> Vec<Line> {
    let mut out = Vec::new();
    // The contexts below this page come first: they are why help was opened.
    let below = state.layers.split_last().map_or(&[][..], |(_, rest)| rest);
    let mut order = contexts_under(below).to_vec();
    for context in [
        Context::Main,
        Context::Global,
        Context::Always,
        Context::List,
        Context::Panel,
        Context::Page,
        Context::Text,
    ] {
        if !order.contains(&context) {
            order.push(context);
        }
    }
    for context in order {
        let mut rows: Vec<&Binding> = BINDINGS.iter().filter(|b| b.context == context).collect();
        rows.sort_by_key(|b| b.group);
        out.push(heading(context.title()));
        out.extend(rows.into_iter().map(key_line));
        out.push(Vec::new());
    }
    out.push(heading("Words"));
    for (word, meaning) in GLOSSARY {
        out.push(vec![
            (format!("  {word:<14}"), Role::Key),
            ((*meaning).to_owned(), Role::Text),
        ]);
    }
    out
}

fn key_line(binding: &Binding) -> Line {
    vec![
        (format!("  {:<14}", keys_text(binding)), Role::Key),
        (binding.help.to_owned(), Role::Text),
    ]
}

/// The page on realism, which the README links to.
const REALISM: &str = include_str!("../../assets/docs/realism.md");

/// The rows of its table: what is missing, what that loses, how bad it is.
pub fn realism_rows() -> impl Iterator<Item = [&'static str; 3]> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        Some([cells.next()?, cells.next()?, cells.next()?])
    };
    // The heading and the line below it come first.
    REALISM.lines().filter_map(cells).skip(2)
}

fn realism(state: &State) -> Vec<Line> {
    let width = usize::from(state.size.0).saturating_sub(8).clamp(20, 100);
    let mut out = Vec::new();
    for [missing, loses, severity] in realism_rows() {
        let mut lines = super::draw::wrap(&missing.replace('`', ""), width).into_iter();
        out.extend(lines.by_ref().map(|line| heading(&line)));
        let text = format!("{severity}: {}", loses.replace('`', ""));
        let wrapped = super::draw::wrap(&text, width - 2).into_iter();
        out.extend(wrapped.map(|line| plain(format!("  {line}"))));
    }
    out
}

fn why(state: &State) -> Vec<Line> {
    let world = state.session.world();
    let width = usize::from(state.size.0).saturating_sub(8).clamp(20, 100);
    let mut out = Vec::new();
    for sentence in scene::explain(world, &state.shape, state.selected) {
        out.extend(super::draw::wrap(&sentence, width).into_iter().map(plain));
    }
    out
}
