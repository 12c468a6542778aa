//! Integer arithmetic of the fair class: weights, their inverses, virtual time.
//!
//! Source: placement-and-pick.md 6.1 and 6.2.

use crate::sim::time::Ns;

/// Weight of nice 0, and the unit of weights.
pub const NICE_0_WEIGHT: u32 = 1_024;
/// Weight of every SCHED_IDLE task, whatever its nice.
pub const IDLE_WEIGHT: u32 = 3;
/// Lowest nice value.
pub const MIN_NICE: i8 = -20;
/// Highest nice value.
pub const MAX_NICE: i8 = 19;

/// Weights of nice -20 to 19: one step is about 10 % of CPU time.
pub const NICE_WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// Weights whose inverse in the kernel's table is rounded down, not to nearest.
const FLOORED_INVERSE: [u32; 4] = [23, 29, 45, 56];

/// Fraction bits of an inverse.
const INVERSE_SHIFT: u32 = 32;

/// Weight of `nice`; values out of range are clamped.
#[must_use]
pub fn nice_weight(nice: i8) -> u32 {
    let nice = nice.clamp(MIN_NICE, MAX_NICE);
    NICE_WEIGHTS[(i16::from(nice) - i16::from(MIN_NICE)) as usize]
}

/// 2^32 / `weight` as the kernel's table has it for the weight of a task.
#[must_use]
pub fn task_inverse(weight: u32) -> u32 {
    if !NICE_WEIGHTS.contains(&weight) || FLOORED_INVERSE.contains(&weight) {
        return sum_inverse(u64::from(weight));
    }
    (((1u64 << INVERSE_SHIFT) + u64::from(weight / 2)) / u64::from(weight)) as u32
}

/// 2^32 / `weight` for the weight of a group or of a whole queue.
#[must_use]
pub fn sum_inverse(weight: u64) -> u32 {
    (u64::from(u32::MAX) / weight.max(1)) as u32
}

/// `delta * weight / W` through the inverse of W. Loses low bits just as the
/// kernel does when the product of weight and inverse exceeds 32 bits.
#[inline]
#[must_use]
pub fn scale(delta: Ns, weight: u64, inverse: u32) -> Ns {
    let fact = weight * u64::from(inverse);
    let extra = 32 - ((fact >> 32) as u32).leading_zeros();
    ((u128::from(delta) * u128::from(fact >> extra)) >> (INVERSE_SHIFT - extra)) as Ns
}

/// Virtual time in which an entity of this weight gets `delta` ns of CPU.
#[inline]
#[must_use]
pub fn vdelta(delta: Ns, weight: u32, inverse: u32) -> i64 {
    if weight == NICE_0_WEIGHT {
        delta as i64
    } else {
        scale(delta, u64::from(NICE_0_WEIGHT), inverse) as i64
    }
}

/// Lag to place an entity of `weight` with, so that it has `vlag` once it is
/// counted in the average of a queue of `queued` weight. Truncates.
#[must_use]
pub fn inflate_lag(vlag: i64, queued: u64, weight: u32) -> i64 {
    if queued == 0 {
        return vlag;
    }
    let total = (queued + u64::from(weight)) as i64;
    match vlag.checked_mul(total) {
        Some(product) => product / queued as i64,
        None => (i128::from(vlag) * i128::from(total) / i128::from(queued)) as i64,
    }
}

/// Factor of the scheduler's tunables on a machine of `cpus` online CPUs:
/// 1 + log2, and no more than for eight.
#[must_use]
pub fn tunable_factor(cpus: u32) -> u64 {
    1 + u64::from(cpus.clamp(1, 8).ilog2())
}

/// Terms of [`group_weight`], in units of weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLoads {
    /// `cpu.weight` of the group: what all its CPUs together may have.
    pub shares: u64,
    /// Weight queued in the group on this CPU.
    pub rq_weight: u64,
    /// `load_avg` of the group's queue on this CPU.
    pub rq_load_avg: u64,
    /// What this CPU last contributed to `tg_load_avg`.
    pub contrib: u64,
    /// Sum of all CPUs' contributions.
    pub tg_load_avg: u64,
}

/// Weight of a group's entity on one CPU, scaled by 1024: its part of the shares
/// by load, at least 2. Source: placement-and-pick.md 4.5.
#[must_use]
pub fn group_weight(l: GroupLoads) -> u64 {
    const SCALE: u64 = 1_024;
    let load = l.rq_weight.max(l.rq_load_avg);
    let total = (l.tg_load_avg + load).saturating_sub(l.contrib).max(1);
    let most = (l.shares * SCALE).max(2);
    (l.shares * SCALE * load / total).clamp(2, most)
}

/// Weighted average of virtual runtimes, kept as a sum relative to `base`: near
/// the average the sum fits 64 bits and the division is cheap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Average {
    /// Sum of the weights.
    pub weight: u64,
    /// Origin of the sum.
    pub base: i64,
    /// Sum of weight times (vruntime - base).
    pub sum: i128,
}

impl Average {
    /// Counts an entity in.
    #[inline]
    pub fn add(&mut self, vruntime: i64, weight: u32) {
        self.weight += u64::from(weight);
        self.sum += i128::from(vruntime - self.base) * i128::from(weight);
    }

    /// Counts an entity out.
    #[inline]
    pub fn remove(&mut self, vruntime: i64, weight: u32) {
        self.weight -= u64::from(weight);
        self.sum -= i128::from(vruntime - self.base) * i128::from(weight);
    }

    /// Moves the origin; the average stays.
    #[inline]
    pub fn rebase(&mut self, base: i64) {
        self.sum -= i128::from(base - self.base) * i128::from(self.weight);
        self.base = base;
    }

    /// V: the average rounded down, also below zero. None if nothing is counted.
    #[inline]
    #[must_use]
    pub fn floor(&self) -> Option<i64> {
        if self.weight == 0 {
            return None;
        }
        let offset = match (i64::try_from(self.sum), i64::try_from(self.weight)) {
            (Ok(sum), Ok(weight)) => sum.div_euclid(weight),
            _ => self.sum.div_euclid(i128::from(self.weight)) as i64,
        };
        Some(self.base + offset)
    }

    /// Whether an entity at `vruntime` has not had more than its share.
    ///
    /// Exact although [`Average::floor`] rounds: for integers v and a rational a,
    /// v <= a just if v <= floor(a). A scan of many entities may therefore
    /// divide once and compare.
    #[inline]
    #[must_use]
    pub fn eligible(&self, vruntime: i64) -> bool {
        self.sum >= i128::from(vruntime - self.base) * i128::from(self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_bits_make_vdelta_differ_from_division() {
        // 999 * 1024 / 820 = 1247.5, 999 * 1024 / 3 = 340992.
        assert_eq!(vdelta(999, 820, task_inverse(820)), 1_247);
        assert_eq!(vdelta(999, 3, task_inverse(3)), 340_991);
        assert_eq!(vdelta(999, 1024, task_inverse(1024)), 999);
    }

    #[test]
    fn eligibility_by_product_and_by_floor_agree() {
        let mut average = Average::default();
        for (v, w) in [(1_000_003, 15), (7, 88_761), (-500_001, 335)] {
            average.add(v, w);
        }
        assert_eq!(average.floor(), Some(-1_705));
        for v in -1_710..-1_700 {
            assert_eq!(average.eligible(v), v <= -1_705, "at {v}");
        }
        let before = average.floor();
        average.rebase(123_456_789);
        assert_eq!(average.floor(), before);
    }

    #[test]
    fn inflated_lag_does_not_overflow() {
        assert_eq!(inflate_lag(5_600_000, 3, 1024), 1_917_066_666);
        assert_eq!(inflate_lag(-7, 2048, 15), -7);
        assert_eq!(
            inflate_lag(i64::MAX / 4, 1 << 40, 1 << 20),
            i64::MAX / 4 + (i64::MAX >> 22)
        );
    }
}
