//! How long an operation takes.

use crate::sim::rng::Stream;
use crate::sim::task::TaskId;
use crate::sim::time::{Ns, SEC};
use crate::sim::workload::{Dist, Growth, Work};
use crate::sim::world::World;

/// Longest single duration: twice the longest run. The tail of a distribution is
/// cut here, so that no time overflows when it is scaled or added to.
const LONGEST: Ns = 7_200 * SEC;

impl World {
    /// Length of one `Run`.
    pub(super) fn draw_work(&mut self, id: TaskId, work: &Work) -> Ns {
        let task = &mut self.tasks[id as usize];
        let mut time = draw(&mut task.stream, work.time);
        if let Some(growth) = work.growth {
            let rounds = work
                .split
                .map_or(task.rounds, |team| self.teams[team].rounds_done());
            time = grown(time, growth, rounds);
        }
        if let Some(team) = work.split {
            time /= Ns::from(self.teams[team].members.max(1));
        }
        time
    }
}

/// One duration of a distribution.
pub(super) fn draw(stream: &mut Stream, dist: Dist) -> Ns {
    let time = match dist {
        Dist::Const(time) => time,
        Dist::Uniform(low, high) => {
            let span = u128::from(high - low) + 1;
            low + ((u128::from(stream.next_u64()) * span) >> 64) as Ns
        }
        Dist::Exp(mean) => {
            // 53 random bits in (0, 1]: the logarithm is finite.
            let u = ((stream.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            (-libm::log(u) * mean as f64) as Ns
        }
        Dist::LogNormal { median, sigma } => {
            let u = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            (median as f64 * libm::exp(sigma * normal(u))) as Ns
        }
    };
    time.min(LONGEST)
}

/// Quantile of the standard normal distribution, by bisection.
fn normal(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    // 40 halvings of 18 leave 2e-11: below one ns of any duration.
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if 0.5 * libm::erfc(-middle / core::f64::consts::SQRT_2) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `time` times the growth reached after `rounds` rounds.
fn grown(time: Ns, growth: Growth, rounds: u32) -> Ns {
    let period = growth.rounds.max(1);
    let at = if growth.repeat {
        rounds % period
    } else {
        rounds.min(period)
    };
    let first = Ns::from(growth.first_permille);
    let width = first + (1000 - first.min(1000)) * Ns::from(at) / Ns::from(period);
    (0..growth.power).fold(time, |time, _| time * width / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;
    use crate::sim::time::{MS, US};

    fn mean(dist: Dist) -> u64 {
        let mut stream = Stream::new(1, Purpose::Workload, 0);
        (0..20_000).map(|_| draw(&mut stream, dist)).sum::<u64>() / 20_000
    }

    #[test]
    fn distributions_have_the_means_they_promise() {
        assert_eq!(mean(Dist::Const(7)), 7);
        assert!(mean(Dist::Uniform(100, 300)).abs_diff(200) < 2);
        // Standard error 0.7 %.
        assert!(mean(Dist::Exp(100 * US)).abs_diff(100 * US) < 2 * US);
        // exp(sigma^2 / 2) = 1.1331 above the median.
        let lognormal = Dist::LogNormal {
            median: 100 * US,
            sigma: 0.5,
        };
        assert!(mean(lognormal).abs_diff(113_310) < 2 * US);
    }

    #[test]
    fn a_uniform_draw_reaches_both_ends() {
        let mut stream = Stream::new(2, Purpose::Workload, 0);
        let mut seen: Vec<u64> = (0..100)
            .map(|_| draw(&mut stream, Dist::Uniform(4, 6)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [4, 5, 6]);
    }

    #[test]
    fn the_longest_tail_can_still_be_scaled_and_added_to() {
        let mut stream = Stream::new(3, Purpose::Workload, 0);
        let hour = 3_600 * SEC;
        for dist in [
            Dist::Exp(hour),
            Dist::LogNormal {
                median: hour,
                sigma: 4.0,
            },
        ] {
            let draws: Vec<Ns> = (0..2_000).map(|_| draw(&mut stream, dist)).collect();
            // One draw in seven is longer than exp's mean doubled; some are cut.
            assert_eq!(draws.iter().max(), Some(&LONGEST), "{dist:?}");
            assert!(draws.iter().any(|&time| time < hour), "{dist:?}");
        }
        // Sleeps are divided by a rate from 1 %, work is shifted to 1024ths.
        assert!(LONGEST.checked_mul(100).is_some());
        assert!(LONGEST.leading_zeros() > 20);
    }

    #[test]
    fn quadratic_growth_of_a_linear_width() {
        let growth = Growth {
            first_permille: 100,
            rounds: 9,
            power: 2,
            repeat: true,
        };
        assert_eq!(grown(MS, growth, 0), MS / 100);
        assert_eq!(grown(MS, growth, 4), 250 * US);
        assert_eq!(grown(MS, growth, 9), MS / 100);
        let stays = Growth {
            repeat: false,
            ..growth
        };
        assert_eq!(grown(MS, stays, 100), MS);
    }
}
