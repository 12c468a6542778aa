//! The single lines: header, banner, note, footer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::keymap::{BINDINGS, Binding, Context};
use crate::tui::numbers;
use crate::tui::scene::{Header, Waste};
use crate::tui::state::State;
use crate::tui::theme::Role;
use crate::tui::update::contexts;

use super::{Ui, cut, put, put_parts, put_right};

/// What the model leaves out, in one line of the first screen.
pub const NOT_MODELLED: &str =
    "Simpler than a kernel: wakeup placement, locks, asym capacity (H lists all)";

/// ` tr-9960x  easywave  6.12  ni-random  seed 1      0.012 345 678 s  20 ms/s  PAUSED`
pub fn header(header: &Header, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let state = if header.paused { "PAUSED" } else { "RUN" };
    let speed = match &header.reached {
        Some(reached) => format!("{reached} of {}", header.speed),
        None => header.speed.clone(),
    };
    let clock = numbers::clock(header.now);
    let right = format!("{clock:>15}  {speed:>10}  {state:<6} ");
    let width = right.chars().count() as u16;
    let room = usize::from(area.width.saturating_sub(width + 1));
    let seed = format!("seed {}", header.seed);
    let names = [
        &header.topology,
        &header.workload,
        &header.kernel,
        &header.policy,
    ];
    let room = room.saturating_sub(seed.len() + 2);
    let whole: usize = names.iter().map(|name| name.chars().count()).sum();
    // On a narrow screen the gaps give way before the names.
    let gap = if whole + 2 * names.len() > room { 1 } else { 2 };
    let widths = fit(names, room.saturating_sub(gap * names.len()));
    let mut x = area.x + 1;
    for (name, width) in names.iter().zip(widths) {
        x = put(
            buf,
            area,
            x,
            area.y,
            &cut(name, width),
            ui.style(Role::Header),
        ) + gap as u16;
    }
    put(buf, area, x, area.y, &seed, ui.style(Role::Text));
    let role = match (&header.reached, header.paused) {
        (Some(_), _) | (_, true) => Role::Warn,
        _ => Role::Text,
    };
    put_right(buf, area, area.right(), area.y, &right, ui.style(role));
}

/// Columns for each name in `room`: the longest give way.
fn fit(names: [&String; 4], room: usize) -> [usize; 4] {
    let mut widths = names.map(|name| name.chars().count());
    while widths.iter().sum::<usize>() > room {
        let longest = widths.iter().max().copied().unwrap_or(0);
        let Some(width) = widths
            .iter_mut()
            .find(|width| **width == longest && longest > 0)
        else {
            break;
        };
        *width -= 1;
    }
    widths
}

/// Who is idle while others wait, and why.
pub fn banner(waste: &Waste, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    if waste.starved == 0 {
        let mut text = format!(
            "No CPU is idle while a task waits: {:>3} idle, {:>3} waiting",
            waste.idle, waste.waiting
        );
        if let Some(lately) = waste.lately {
            text.push_str(&format!("; lately {:>5} wasted", numbers::short(lately)));
        }
        put(buf, area, area.x + 1, area.y, &text, ui.style(Role::Text));
        return;
    }
    let head = format!(
        "{} {:>3} idle while {:>3} wait",
        ui.glyphs.starved, waste.starved, waste.waiting
    );
    let mut x = put(
        buf,
        area,
        area.x + 1,
        area.y,
        &head,
        ui.style(Role::Starved),
    );
    let mut lead = ": ";
    for (why, cpus) in &waste.why {
        let text = format!("{lead}{why} {cpus}");
        if usize::from(x) + text.len() >= usize::from(area.right()) {
            break;
        }
        x = put(buf, area, x, area.y, &text, ui.style(Role::Text));
        lead = ", ";
    }
    if let Some(cpu) = waste.example {
        let hint = format!("  (n selects CPU {cpu}, w says why)");
        if usize::from(x) + hint.len() < usize::from(area.right()) {
            put(buf, area, x, area.y, &hint, ui.style(Role::Dim));
        }
    }
}

/// What is not modelled.
pub fn note(ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    put(
        buf,
        area,
        area.x + 1,
        area.y,
        NOT_MODELLED,
        ui.style(Role::Dim),
    );
}

/// The keys that are useful now, or what there is to say about the last one.
pub fn footer(state: &State, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    if let Some(notice) = &state.notice {
        let role = if notice.error {
            Role::Error
        } else {
            Role::Warn
        };
        put(buf, area, area.x + 1, area.y, &notice.text, ui.style(role));
        return;
    }
    let contexts = contexts(state);
    let mut shown: Vec<&Binding> = BINDINGS
        .iter()
        .filter(|b| contexts.contains(&b.context) && !b.hint.is_empty())
        .filter(|b| b.name != "escape" || !state.layers.is_empty())
        .collect();
    // What is open comes first; on the main screen the order of the table.
    shown.sort_by_key(|b| matches!(b.context, Context::Main | Context::Global));
    let (last, first): (Vec<&Binding>, Vec<&Binding>) = shown
        .into_iter()
        .partition(|b| matches!(b.name, "help" | "close"));
    let text = |b: &Binding| (b.keys[0].to_string(), format!(" {}  ", b.hint));
    let width = |b: &Binding| {
        let (key, hint) = text(b);
        (key.chars().count() + hint.chars().count()) as u16
    };
    let mut room = area.width.saturating_sub(1);
    for binding in &last {
        room = room.saturating_sub(width(binding));
    }
    let mut x = area.x + 1;
    let fitting = first.into_iter().take_while(|b| {
        let fits = width(b) <= room;
        room = room.saturating_sub(width(b));
        fits
    });
    for binding in fitting.chain(last) {
        let (key, hint) = text(binding);
        let parts = [(key.as_str(), Role::Key), (hint.as_str(), Role::Text)];
        x = put_parts(buf, area, x, area.y, &parts, ui);
    }
}
