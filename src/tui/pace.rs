//! Speed of the simulation against the clock on the wall.

use crate::sim::Ns;
use crate::sim::time::{MS, SEC, US};

use super::numbers;

/// Longest stretch of wall time that one frame makes up for: after a stop of
/// the process the simulation does not race to catch up.
const MAX_FRAME_NS: u64 = 100 * MS;
/// How often the reached speed is worked out, wall ns.
const MEASURE_NS: u64 = 500 * MS;

/// Simulated ns per second of wall time, or as fast as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speed {
    /// This many ns a second.
    Ns(Ns),
    /// No limit.
    Full,
}

impl Speed {
    /// Slowest speed.
    pub const SLOWEST: Self = Self::Ns(US);
    /// One simulated second a second.
    pub const REAL_TIME: Self = Self::Ns(SEC);
    /// A speed at which single barriers can be followed.
    pub const START: Self = Self::Ns(20 * MS);

    /// Speeds of the keys: 1, 2, 5 times a power of ten.
    fn ladder() -> impl DoubleEndedIterator<Item = Self> {
        let decades = (0..9).map(|power| US * 10_u64.pow(power));
        let mut steps: Vec<Self> = decades
            .flat_map(|unit| [1, 2, 5].map(|n| Self::Ns(n * unit)))
            .collect();
        steps.push(Self::Full);
        steps.into_iter()
    }

    /// The next higher speed of the ladder.
    pub fn faster(self) -> Self {
        Self::ladder().find(|speed| *speed > self).unwrap_or(self)
    }

    /// The next lower speed of the ladder.
    pub fn slower(self) -> Self {
        Self::ladder().rfind(|speed| *speed < self).unwrap_or(self)
    }

    /// As text, such as `20 ms/s`.
    pub fn text(self) -> String {
        match self {
            Self::Full => "full speed".to_owned(),
            Self::Ns(SEC) => "real time".to_owned(),
            Self::Ns(ns) if ns % SEC == 0 => format!("{} s/s", ns / SEC),
            Self::Ns(ns) if ns % MS == 0 => format!("{} ms/s", ns / MS),
            Self::Ns(ns) => format!("{} us/s", ns / US),
        }
    }
}

/// Speed, pause, and how well the speed is kept.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Paused.
    pub paused: bool,
    /// Asked speed.
    pub speed: Speed,
    /// Where the simulation should be.
    target: Ns,
    /// Nanoseconds of simulated time times 1e9 that are not yet in `target`.
    rest: u64,
    measured_wall: u64,
    measured_from: Option<Ns>,
    behind: bool,
    reached: Option<Ns>,
}

impl Pace {
    /// Running at `speed`, or paused.
    pub fn new(speed: Speed, paused: bool) -> Self {
        Self {
            paused,
            speed,
            target: 0,
            rest: 0,
            measured_wall: 0,
            measured_from: None,
            behind: false,
            reached: None,
        }
    }

    /// Time starts anew.
    pub fn restart(&mut self) {
        *self = Self::new(self.speed, self.paused);
    }

    /// Another speed.
    pub fn set_speed(&mut self, speed: Speed) {
        *self = Self::new(speed, self.paused);
    }

    /// Where the simulation at `now` should be after `wall_ns` more.
    pub fn target(&mut self, now: Ns, wall_ns: u64) -> Ns {
        let Speed::Ns(speed) = self.speed else {
            return now + 10 * SEC;
        };
        let due = u128::from(speed) * u128::from(wall_ns.min(MAX_FRAME_NS)) + u128::from(self.rest);
        self.rest = (due % u128::from(SEC)) as u64;
        // What was not reached in the frame before is given up: the speed drops
        // instead of a backlog growing.
        self.target = now + (due / u128::from(SEC)) as u64;
        self.target
    }

    /// Books a frame: `wall_ns` passed and the simulation came to `now`.
    pub fn settle(&mut self, now: Ns, wall_ns: u64, in_time: bool) {
        self.behind |= !in_time;
        let from = *self.measured_from.get_or_insert(now);
        self.measured_wall += wall_ns;
        if self.measured_wall < MEASURE_NS {
            return;
        }
        let speed = u128::from(now.saturating_sub(from)) * u128::from(SEC);
        let speed = (speed / u128::from(self.measured_wall)) as Ns;
        let show = self.behind || self.speed == Speed::Full;
        self.reached = show.then_some(speed);
        self.behind = false;
        self.measured_wall = 0;
        self.measured_from = Some(now);
    }

    /// The speed reached, if it is not the asked one.
    pub fn reached(&self) -> Option<String> {
        let reached = self.reached.filter(|_| !self.paused)?;
        Some(format!("{}/s", numbers::time(reached)))
    }

    /// Speed the charts' bins are chosen for.
    pub const fn chart_speed(&self) -> Ns {
        match self.speed {
            Speed::Ns(ns) => ns,
            Speed::Full => 2 * SEC,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_speeds_lose_no_time_to_rounding() {
        let mut pace = Pace::new(Speed::SLOWEST, false);
        let mut now = 0;
        for _ in 0..60 {
            now = pace.target(now, SEC / 60);
        }
        // 60 frames of 16,666,666 ns are 40 ns short of a second.
        assert_eq!(now, 999);
    }

    #[test]
    fn keys_walk_from_a_microsecond_a_second_to_no_limit() {
        let mut speed = Speed::SLOWEST;
        assert_eq!(speed.slower(), speed);
        let mut steps = 0;
        while speed != Speed::Full {
            speed = speed.faster();
            steps += 1;
        }
        assert_eq!((steps, speed.faster()), (27, Speed::Full));
        assert_eq!(Speed::Ns(30 * MS).slower().text(), "20 ms/s");
        assert_eq!(Speed::Ns(30 * MS).faster().text(), "50 ms/s");
    }

    #[test]
    fn a_speed_that_is_not_reached_is_told() {
        let mut pace = Pace::new(Speed::REAL_TIME, false);
        pace.settle(0, 1, true);
        pace.settle(100 * MS, 500 * MS, false);
        assert_eq!(pace.reached().as_deref(), Some("200 ms/s"));
        pace.settle(600 * MS, 500 * MS, true);
        assert_eq!(pace.reached(), None);
    }
}
