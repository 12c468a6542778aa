//! What the charts show: counters at the borders of bins of simulated time.
//!
//! There is one ring per bin width, from 1 us to 10 s, so that a chart at any
//! speed has bins of a round width. Rings finer than the speed needs are not
//! fed: the world would have to be stopped too often. A bin is closed when
//! simulated time reaches its end; bins that were never stopped at stay empty.

use std::collections::VecDeque;

use crate::sim::Ns;
use crate::sim::time::{MS, SEC, US};

/// Bins a ring keeps: as many as the widest chart has columns, twice.
const CAPACITY: usize = 400;

/// Bin widths, finest first; each divides the next.
const WIDTHS: [Ns; 8] = [US, 10 * US, 100 * US, MS, 10 * MS, 100 * MS, SEC, 10 * SEC];

/// Counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Units done, per class.
    pub done: Vec<u64>,
    /// Tasks pulled by newidle balance.
    pub newidle_pulls: u64,
    /// Idle time beside waiting tasks, summed over CPUs.
    pub idle_while_waiting: Ns,
    /// Per level: mean success ratio; none if the policy keeps none.
    pub ratios: Vec<Option<u32>>,
    /// Per level: newidle calls, runs, pulls, skips (not overloaded, cost gate,
    /// policy), summed over CPUs.
    pub counts: Vec<[u64; 6]>,
    /// The same two for the selected CPU.
    pub cpu_ratios: Vec<Option<u32>>,
    /// Counts of the selected CPU.
    pub cpu_counts: Vec<[u64; 6]>,
}

/// One closed bin.
#[derive(Clone, Debug)]
struct Bin {
    /// Its number: start time over width.
    number: u64,
    before: Sample,
    after: Sample,
}

#[derive(Clone, Debug, Default)]
struct Ring {
    bins: VecDeque<Bin>,
    /// Number of the open bin and the counters at its start.
    open: Option<(u64, Sample)>,
}

/// Rings of all widths.
#[derive(Clone, Debug, Default)]
pub struct History {
    rings: [Ring; WIDTHS.len()],
    /// Index of the finest ring that is fed and drawn.
    finest: usize,
}

impl History {
    /// Chooses the bin width for a speed in simulated ns per second: about ten
    /// bins a second, so that charts move but can be followed.
    pub fn set_speed(&mut self, speed: Ns) {
        let wanted = (speed / 20).max(US);
        let found = WIDTHS.iter().rposition(|&width| width <= wanted);
        let finest = found.unwrap_or(0);
        if finest < self.finest {
            // The finer rings were not fed meanwhile: their open bins are stale.
            for ring in &mut self.rings[..self.finest] {
                ring.open = None;
            }
        }
        self.finest = finest;
    }

    /// Width of the bins that are drawn.
    pub fn width(&self) -> Ns {
        WIDTHS[self.finest]
    }

    /// The first moment after `now` at which [`Self::record`] must be called.
    pub fn next_border(&self, now: Ns) -> Ns {
        (now / self.width() + 1) * self.width()
    }

    /// Forgets everything, as after a restart.
    pub fn clear(&mut self) {
        self.rings = Default::default();
    }

    /// Whether a border of the finest ring was passed since the last record.
    pub fn is_due(&self, now: Ns) -> bool {
        let open = self.rings[self.finest].open.as_ref();
        open.is_none_or(|(number, _)| now / self.width() > *number)
    }

    /// Takes the counters at `now`.
    pub fn record(&mut self, now: Ns, sample: &Sample) {
        for (ring, width) in self.rings.iter_mut().zip(WIDTHS).skip(self.finest) {
            let number = now / width;
            match &ring.open {
                Some((open, _)) if *open == number => continue,
                Some((open, before)) if *open + 1 == number => {
                    ring.bins.push_back(Bin {
                        number: *open,
                        before: before.clone(),
                        after: sample.clone(),
                    });
                    if ring.bins.len() > CAPACITY {
                        ring.bins.pop_front();
                    }
                }
                _ => {}
            }
            ring.open = Some((number, sample.clone()));
        }
    }

    /// The last `count` bins of the drawn width, oldest first, each reduced by
    /// `value` from its counters before and after; none where nothing was
    /// recorded.
    pub fn last<T>(
        &self,
        count: usize,
        now: Ns,
        value: impl Fn(&Sample, &Sample) -> Option<T>,
    ) -> Vec<Option<T>> {
        let ring = &self.rings[self.finest];
        let open = now / self.width();
        let mut out: Vec<Option<T>> = (0..count).map(|_| None).collect();
        for bin in ring.bins.iter().rev() {
            let age = open.saturating_sub(bin.number);
            if age == 0 || age > count as u64 {
                break;
            }
            out[count - age as usize] = value(&bin.before, &bin.after);
        }
        out
    }

    /// Counters at both ends of the last `count` bins, and the time between.
    pub fn span(&self, count: usize, now: Ns) -> Option<(&Sample, &Sample, Ns)> {
        let ring = &self.rings[self.finest];
        let oldest = (now / self.width()).saturating_sub(count as u64);
        let first = ring.bins.iter().find(|bin| bin.number >= oldest)?;
        let last = ring.bins.back()?;
        let bins = last.number - first.number + 1;
        Some((&first.before, &last.after, bins * self.width()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulls(n: u64) -> Sample {
        Sample {
            newidle_pulls: n,
            ..Sample::default()
        }
    }

    fn drawn(history: &History, now: Ns) -> Vec<Option<u64>> {
        history.last(4, now, |a, b| Some(b.newidle_pulls - a.newidle_pulls))
    }

    #[test]
    fn a_bin_holds_what_happened_between_its_borders() {
        let mut history = History::default();
        history.set_speed(20 * MS);
        assert_eq!(history.width(), MS);
        for ms in 0..=3 {
            history.record(ms * MS, &pulls(ms * ms));
        }
        assert_eq!(drawn(&history, 3 * MS), [None, Some(1), Some(3), Some(5)]);
    }

    #[test]
    fn time_that_was_not_watched_is_a_gap() {
        let mut history = History::default();
        history.set_speed(20 * MS);
        for ms in [0, 1, 3, 4] {
            history.record(ms * MS, &pulls(ms));
        }
        assert_eq!(drawn(&history, 4 * MS), [Some(1), None, None, Some(1)]);
    }

    #[test]
    fn a_higher_speed_draws_wider_bins_from_what_was_seen_before() {
        let mut history = History::default();
        history.set_speed(20 * MS);
        for ms in 0..=20 {
            history.record(ms * MS, &pulls(ms));
        }
        history.set_speed(200 * MS);
        assert_eq!(history.width(), 10 * MS);
        assert_eq!(drawn(&history, 20 * MS), [None, None, Some(10), Some(10)]);
        let (before, after, span) = history.span(4, 20 * MS).expect("two bins");
        assert_eq!(
            (after.newidle_pulls - before.newidle_pulls, span),
            (20, 20 * MS)
        );
    }

    #[test]
    fn rings_do_not_grow_without_end() {
        let mut history = History::default();
        for us in 0..10_000 {
            history.record(us * US, &pulls(us));
        }
        assert_eq!(history.rings[0].bins.len(), CAPACITY);
    }
}
