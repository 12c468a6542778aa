//! PELT, per-entity load tracking: how much a task or a runqueue has run, has
//! been runnable and has weighed lately, in integers.
//!
//! Time is cut into periods of 1024 units of 1024 ns (about 1.05 ms). A period
//! counts half as much 32 periods later. Sums move at every [`Pelt::update`];
//! averages only when a period has ended, so that a burst of short events costs
//! no division.
//!
//! Life cycle of a task's signals: [`Pelt::new_task`], [`Pelt::attach`] to the
//! runqueue it is placed on, `update` at every enqueue, dequeue, pick and tick.
//! A sleeper stays attached: what it leaves in the runqueue's averages decays
//! there (blocked load) until it wakes on another CPU, which is a
//! [`Pelt::detach`] from the old and an `attach` to the new runqueue.
//!
//! Source: balancing.md 7; the start values of a task placement-and-pick.md 1.1.

use super::time::Ns;

/// Upper bound of an always running task's sum, in units.
pub const LOAD_AVG_MAX: u64 = 47_742;
/// Units in a period.
const PERIOD: u64 = 1_024;
/// Part of the divider that belongs to past periods: [`LOAD_AVG_MAX`] less the
/// running period, of which only `period_contrib` units have passed.
const MIN_DIVIDER: u64 = LOAD_AVG_MAX - PERIOD;
/// Periods after which a contribution halves.
const HALF_LIFE: u64 = 32;
/// Periods after which nothing is left of any 64-bit sum.
const FORGOTTEN: u64 = HALF_LIFE * 63;
/// Shift of the time unit, and of the utilisation scale (1024 = all the time).
const SHIFT: u32 = 10;

/// `trunc((2^32 - 1) * 2^(-r/32))` for r in 0..32.
const DECAY: [u64; HALF_LIFE as usize] = decay_table();

const fn decay_table() -> [u64; HALF_LIFE as usize] {
    // 2^(-1/32) is five square roots away from 1/2. With 63 fraction bits the
    // error of the 31st power stays far below the last bit of the table.
    const FRACTION: u32 = 63;
    let mut root: u128 = 1 << (FRACTION - 1);
    let mut halvings = 0;
    while halvings < 5 {
        root = (root << FRACTION).isqrt();
        halvings += 1;
    }
    let mut table = [0; HALF_LIFE as usize];
    let mut power: u128 = 1 << FRACTION;
    let mut r = 0;
    while r < table.len() {
        table[r] = ((u32::MAX as u128 * power) >> FRACTION) as u64;
        power = (power * root) >> FRACTION;
        r += 1;
    }
    table
}

/// What is left of `value` after `periods` periods.
#[inline]
#[must_use]
pub fn decay(value: u64, periods: u64) -> u64 {
    if periods > FORGOTTEN {
        return 0;
    }
    let halved = value >> (periods / HALF_LIFE);
    let factor = DECAY[(periods % HALF_LIFE) as usize];
    // Sums of a runqueue exceed 32 bits, so the product needs more than 64.
    ((u128::from(halved) * u128::from(factor)) >> 32) as u64
}

/// The signals of one task or one runqueue.
///
/// For a task the caller passes load and runnable 1 while queued, and its weight
/// as factor; for a runqueue the sum of weights, the number of runnable tasks and
/// factor 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pelt {
    /// Time up to which the sums are accounted, ns; moves in steps of 1024 ns.
    pub last: Ns,
    /// Units of the running period that have passed, 0..1024.
    pub period_contrib: u32,
    /// Decayed sum of load times units.
    pub load_sum: u64,
    /// Decayed sum of runnable tasks times units, scaled by 1024.
    pub runnable_sum: u64,
    /// Decayed sum of running units, scaled by 1024.
    pub util_sum: u64,
    /// Average load in units of weight (nice 0 = 1024).
    pub load_avg: u64,
    /// Average number of runnable tasks, scaled by 1024.
    pub runnable_avg: u64,
    /// Average share of time spent running, 1024 = all of it.
    pub util_avg: u64,
    /// The averages were recomputed since [`UtilEst`] last looked.
    pub renewed: bool,
}

impl Pelt {
    /// Signals of an empty runqueue, or of a task without history.
    #[must_use]
    pub fn new(now: Ns) -> Self {
        Self {
            last: now,
            ..Self::default()
        }
    }

    /// Signals of a new task of `weight` placed on the runqueue `rq` of a CPU of
    /// `capacity`: full load at once, utilisation guessed from its new company
    /// but never above half of what the CPU has left.
    /// Source: placement-and-pick.md 1.1.
    #[must_use]
    pub fn new_task(now: Ns, weight: u32, capacity: u64, rq: &Pelt) -> Self {
        let cap = capacity.saturating_sub(rq.util_avg) / 2;
        let util_avg = match rq.util_avg {
            0 => cap,
            util => (util * u64::from(weight) / (rq.load_avg + 1)).min(cap),
        };
        let mut task = Self {
            load_avg: u64::from(weight),
            runnable_avg: util_avg,
            util_avg,
            ..Self::new(now)
        };
        task.sums_from_averages(weight);
        task
    }

    /// Accounts the time up to `now`, during which the entity had this `load`,
    /// this many `runnable` tasks, and was `running` or not. `weight` scales the
    /// load average. True if the averages were recomputed.
    #[inline]
    pub fn update(
        &mut self,
        now: Ns,
        load: u64,
        runnable: u64,
        running: bool,
        weight: u64,
    ) -> bool {
        let units = now.saturating_sub(self.last) >> SHIFT;
        if units == 0 {
            return false;
        }
        self.last += units << SHIFT;
        if !self.accumulate(units, load, runnable, running) {
            return false;
        }
        let divider = self.divider();
        self.load_avg = weight * self.load_sum / divider;
        self.runnable_avg = self.runnable_sum / divider;
        self.util_avg = self.util_sum / divider;
        self.renewed = true;
        true
    }

    /// Adds `units` to the sums; true if a period ended.
    #[inline]
    fn accumulate(&mut self, units: u64, load: u64, runnable: u64, running: bool) -> bool {
        let mut contrib = units;
        let mut rest = units + u64::from(self.period_contrib);
        let periods = rest / PERIOD;
        if periods > 0 {
            self.load_sum = decay(self.load_sum, periods);
            self.runnable_sum = decay(self.runnable_sum, periods);
            self.util_sum = decay(self.util_sum, periods);
            rest %= PERIOD;
            if load > 0 {
                // The end of the period begun, the full periods, the one running.
                let begun = decay(PERIOD - u64::from(self.period_contrib), periods);
                let full = LOAD_AVG_MAX - decay(LOAD_AVG_MAX, periods) - PERIOD;
                contrib = begun + full + rest;
            }
        }
        self.period_contrib = rest as u32;
        // Without load the entity is neither runnable nor running.
        if load > 0 {
            self.load_sum += load * contrib;
            self.runnable_sum += (runnable * contrib) << SHIFT;
            self.util_sum += if running { contrib << SHIFT } else { 0 };
        }
        periods > 0
    }

    /// Sum of an entity that was always active.
    fn divider(&self) -> u64 {
        MIN_DIVIDER + u64::from(self.period_contrib)
    }

    fn sums_from_averages(&mut self, weight: u32) {
        let divider = self.divider();
        self.util_sum = self.util_avg * divider;
        self.runnable_sum = self.runnable_avg * divider;
        self.load_sum = self.load_avg * divider / u64::from(weight.max(1));
    }

    /// Adds a task's averages to this runqueue's. The task takes over the
    /// runqueue's clock, so that both decay at the same moments and a later
    /// [`Pelt::detach`] takes off what is left of it. Bring both up to date first.
    /// `load` is what the task adds to the load: its `load_avg`, or less if it
    /// is in a group.
    pub fn attach(&mut self, task: &mut Pelt, weight: u32, load: u64) {
        task.last = self.last;
        task.period_contrib = self.period_contrib;
        task.sums_from_averages(weight);
        let divider = self.divider();
        self.load_avg += load;
        self.runnable_avg += task.runnable_avg;
        self.util_avg += task.util_avg;
        self.load_sum += load * divider;
        self.runnable_sum += task.runnable_avg * divider;
        self.util_sum += task.util_avg * divider;
    }

    /// Takes a task's averages off this runqueue's. Bring both up to date first.
    ///
    /// Rounding can leave the runqueue a little less than its tasks had; nothing
    /// goes below zero, and a sum never below what its average stands for.
    pub fn detach(&mut self, task: &Pelt) {
        let divider = self.divider();
        take(
            &mut self.load_avg,
            &mut self.load_sum,
            task.load_avg,
            divider,
        );
        take(
            &mut self.runnable_avg,
            &mut self.runnable_sum,
            task.runnable_avg,
            divider,
        );
        take(
            &mut self.util_avg,
            &mut self.util_sum,
            task.util_avg,
            divider,
        );
    }
}

fn take(avg: &mut u64, sum: &mut u64, part: u64, divider: u64) {
    *avg = avg.saturating_sub(part);
    *sum = sum.saturating_sub(part * divider).max(*avg * MIN_DIVIDER);
}

/// Estimated utilisation of a task (`util_est`): what its activations usually
/// need, which a long sleep does not wear down as it does `util_avg`.
///
/// A runqueue's value is the sum over its queued tasks, added at enqueue and
/// subtracted at dequeue, before the dequeued task's own value is updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UtilEst {
    /// The estimate, 1024 = a whole CPU.
    pub ewma: u64,
}

impl UtilEst {
    /// Differences below this (1 % of 1024) are noise.
    const MARGIN: u64 = 10;

    /// Learns from the activation that ends as the task goes to sleep on a CPU
    /// of `capacity`. Rises at once, falls by a quarter of the difference.
    pub fn update(&mut self, task: &mut Pelt, capacity: u64) {
        if !std::mem::take(&mut task.renewed) {
            return;
        }
        let util = task.util_avg;
        if self.ewma <= util {
            self.ewma = util;
            return;
        }
        let diff = self.ewma - util;
        // A task that waited for its time showed less than it needs.
        let starved = util + Self::MARGIN < task.runnable_avg;
        if diff < Self::MARGIN || util > capacity || starved {
            return;
        }
        self.ewma = (4 * self.ewma - diff) / 4;
    }

    /// Utilisation to expect of the task: the estimate or, if it is larger, what
    /// it is doing now.
    #[must_use]
    pub fn expect(&self, task: &Pelt) -> u64 {
        self.ewma.max(task.util_avg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::time::MS;

    #[test]
    fn the_decay_table_follows_its_formula() {
        for (r, &entry) in DECAY.iter().enumerate() {
            let exact = f64::from(u32::MAX) * libm::exp2(-(r as f64) / 32.0);
            assert_eq!(entry, exact as u64, "entry {r}");
        }
        assert_eq!(DECAY[0], 0xffff_ffff);
        assert_eq!(decay(1 << 40, 32), (1 << 39) - (1 << 7));
        assert_eq!(decay(u64::MAX, 2_017), 0);
    }

    /// Updates a task of nice 0 every millisecond until `ms` have passed.
    fn advance(task: &mut Pelt, from_ms: u64, ms: u64, running: bool) {
        for step in 1..=ms {
            let on = u64::from(running);
            task.update((from_ms + step) * MS, on, on, running, 1024);
        }
    }

    #[test]
    fn a_running_task_rises_and_a_sleeping_one_falls_as_tabled() {
        // (ms, util_avg), balancing.md 7.
        let rise = [
            (2, 41),
            (4, 81),
            (8, 156),
            (16, 288),
            (32, 495),
            (64, 751),
            (128, 951),
            (400, 1024),
        ];
        let mut task = Pelt::default();
        let mut at = 0;
        for (ms, util) in rise {
            advance(&mut task, at, ms - at, true);
            at = ms;
            // The last value is the limit, which truncation may miss by one.
            assert!(
                task.util_avg == util || (ms == 400 && util - task.util_avg <= 1),
                "util {} after {ms} ms, expected {util}",
                task.util_avg
            );
            assert_eq!(task.util_avg, task.runnable_avg);
        }
        let fall = [(8, 868), (16, 735), (32, 539), (64, 273), (128, 72)];
        let mut slept = 0;
        for (ms, util) in fall {
            advance(&mut task, at + slept, ms - slept, false);
            slept = ms;
            assert_eq!(task.util_avg, util, "after {ms} ms of sleep");
        }
    }

    #[test]
    fn averages_wait_for_the_end_of_a_period() {
        let mut task = Pelt::default();
        assert!(!task.update(1_023, 1, 1, true, 1024), "below one unit");
        assert_eq!(task, Pelt::default());
        assert!(!task.update(1_023 * 1_024, 1, 1, true, 1024));
        assert_eq!((task.period_contrib, task.util_avg), (1_023, 0));
        assert_eq!(task.util_sum, 1_023 << 10);
        assert!(task.update(1_024 * 1_024, 1, 1, true, 1024));
        assert_eq!(task.period_contrib, 0);
        assert!(task.util_avg > 0);
    }

    #[test]
    fn one_long_update_equals_many_short_ones_within_rounding() {
        let (mut once, mut often) = (Pelt::default(), Pelt::default());
        once.update(50 * MS, 1, 1, true, 1024);
        advance(&mut often, 0, 50, true);
        assert_eq!(once.period_contrib, often.period_contrib);
        assert!(once.util_avg.abs_diff(often.util_avg) <= 1);
    }

    #[test]
    fn a_runqueue_carries_what_its_tasks_bring_and_loses_it_when_they_leave() {
        let mut rq = Pelt::default();
        rq.update(300 * MS, 2_048, 2, true, 1);
        let before = rq;
        let mut task = Pelt::new_task(300 * MS, 1024, 1024, &rq);
        let load = task.load_avg;
        rq.attach(&mut task, 1024, load);
        assert_eq!(rq.load_avg, before.load_avg + 1024);
        assert_eq!(rq.util_avg, before.util_avg + task.util_avg);
        assert_eq!(
            (task.last, task.period_contrib),
            (rq.last, rq.period_contrib)
        );
        rq.detach(&task);
        assert_eq!(rq.load_avg, before.load_avg);
        assert_eq!(rq.util_avg, before.util_avg);
        assert!(rq.util_sum >= rq.util_avg * MIN_DIVIDER);
    }

    #[test]
    fn a_new_task_is_heavy_at_once_and_its_utilisation_guessed() {
        let idle = Pelt::default();
        let task = Pelt::new_task(0, 1024, 1024, &idle);
        assert_eq!(
            (task.load_avg, task.util_avg, task.runnable_avg),
            (1024, 512, 512)
        );
        let busy = Pelt {
            load_avg: 2_047,
            util_avg: 400,
            ..Pelt::default()
        };
        // 400 * 1024 / 2048 = 200, below half of the 624 left.
        assert_eq!(Pelt::new_task(0, 1024, 1024, &busy).util_avg, 200);
        let full = Pelt {
            util_avg: 1_100,
            ..busy
        };
        assert_eq!(Pelt::new_task(0, 1024, 1024, &full).util_avg, 0);
    }

    #[test]
    fn util_est_rises_at_once_and_falls_by_a_quarter() {
        let mut est = UtilEst::default();
        let mut task = Pelt {
            util_avg: 400,
            renewed: true,
            ..Pelt::default()
        };
        est.update(&mut task, 1024);
        assert_eq!(est.ewma, 400);
        task.util_avg = 200;
        est.update(&mut task, 1024);
        assert_eq!(est.ewma, 400, "nothing new was computed");
        task.renewed = true;
        est.update(&mut task, 1024);
        assert_eq!(est.ewma, 350);
        task.renewed = true;
        task.runnable_avg = 211;
        est.update(&mut task, 1024);
        assert_eq!(est.ewma, 350, "it waited for its time");
        assert_eq!(est.expect(&task), 350);
    }
}
