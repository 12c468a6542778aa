//! The selected CPU: what it does, why it is idle, its chain of domains.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::numbers;
use crate::tui::scene::CpuDetail;
use crate::tui::theme::Role;

use super::{Ui, cut, put, put_right, wrap};

/// Which CPU, and what it does.
pub fn title(cpu: &CpuDetail) -> String {
    format!("CPU {}: {}", cpu.os_id, cpu.doing)
}

/// All that is known, most wanted first: why it is idle, its domains, then the
/// rest as far as there is room.
pub fn draw(cpu: &CpuDetail, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width).max(1);
    let lines = |text: &String| wrap(text, width);
    let why: Vec<String> = cpu.last_newidle.iter().flat_map(lines).collect();
    let costs = format!(
        "avg_idle {}, longest newidle walk {}",
        numbers::time(cpu.avg_idle),
        numbers::time(cpu.max_idle_balance_cost)
    );
    let shares = format!(
        "idle {:.0} % of the time, beside waiting tasks {:.1} %, searching {:.1} %",
        cpu.shares[0], cpu.shares[1], cpu.shares[2]
    );
    let more = [&cpu.last_pull, &costs, &shares, &cpu.place];
    let more = more.into_iter().chain(&cpu.chances).flat_map(lines);
    let more: Vec<String> = more.collect();
    let table = cpu.domains.len() as u16 + 1;
    let room = usize::from(area.height.saturating_sub(table)).max(1);
    let shown = why.len().min(room);
    let mut y = area.y;
    for line in &why[..shown] {
        put(buf, area, area.x, y, line, ui.style(Role::Text));
        y += 1;
    }
    if shown < why.len() {
        put_right(
            buf,
            area,
            area.right(),
            y - 1,
            " ..(w)",
            ui.style(Role::Key),
        );
    }
    let below = Rect {
        y,
        height: area.bottom().saturating_sub(y),
        ..area
    };
    domains(cpu, ui, below, buf);
    y += table;
    for line in &more {
        put(buf, area, area.x, y, line, ui.style(Role::Text));
        y += 1;
    }
}

fn domains(cpu: &CpuDetail, ui: Ui<'_>, area: Rect, buf: &mut Buffer) {
    const COLUMNS: [(&str, u16); 5] = [
        ("/1024", 6),
        ("cost us", 8),
        ("calls", 6),
        ("runs", 6),
        ("pulls", 6),
    ];
    let fixed: u16 = COLUMNS.iter().map(|(_, width)| width).sum();
    let longest = cpu.domains.iter().map(|d| d.span.len()).max().unwrap_or(0);
    let room = area.width.saturating_sub(fixed + 5);
    let span = room.min(longest.clamp(4, 60) as u16 + 3);
    let wide = room >= 8;
    let start = area.x + 5 + if wide { span } else { 0 };
    let mut right = start;
    put(buf, area, area.x, area.y, "level", ui.style(Role::Dim));
    if wide {
        put(buf, area, area.x + 6, area.y, "CPUs", ui.style(Role::Dim));
    }
    for (name, width) in COLUMNS {
        right += width;
        put_right(buf, area, right, area.y, name, ui.style(Role::Dim));
    }
    let rows = usize::from(area.height.saturating_sub(1));
    let folds = cpu.domains.len() > rows;
    let shown = if folds {
        rows.saturating_sub(1)
    } else {
        cpu.domains.len()
    };
    if folds {
        let text = format!("+{} levels (Enter)", cpu.domains.len() - shown);
        put(
            buf,
            area,
            area.x,
            area.y + 1 + shown as u16,
            &text,
            ui.style(Role::Dim),
        );
    }
    for (y, domain) in (area.y + 1..).zip(cpu.domains.iter().take(shown)) {
        put(buf, area, area.x, y, &domain.name, ui.style(Role::Title));
        if wide {
            let text = cut(&domain.span, usize::from(span) - 2);
            put(buf, area, area.x + 6, y, &text, ui.style(Role::Dim));
        }
        let figures = [
            domain.ratio.map_or("-".to_owned(), |r| r.to_string()),
            numbers::micros(domain.max_cost),
            numbers::count(domain.counts[0]),
            numbers::count(domain.counts[1]),
            numbers::count(domain.counts[2]),
        ];
        let mut right = start;
        for (figure, (_, width)) in figures.iter().zip(COLUMNS) {
            right += width;
            put_right(buf, area, right, y, figure, ui.style(Role::Text));
        }
    }
}
