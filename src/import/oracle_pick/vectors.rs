//! Single sums: inputs and the exact result.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::verify::Checker;
use crate::sim::domain::imb_numa_nr;
use crate::sim::fair::arith::{
    Average, GroupLoads, group_weight, inflate_lag, scale, sum_inverse, task_inverse,
    tunable_factor, vdelta,
};
use crate::sim::placement::arith::{AffineLoads, nr_idle_scan, wake_affine_weight, wake_wide};

/// `imbalance_pct` of a domain of which a vector does not tell it.
const DEFAULT_PCT: u64 = 117;

/// All kinds of sums, each a list of rows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UnitVectors {
    vdelta: Vec<Vdelta>,
    table_inverse: BTreeMap<u32, u32>,
    tunable_factor_log: BTreeMap<u32, u64>,
    #[serde(rename = "V_floor")]
    v_floor: Vec<VFloor>,
    place_lag: Vec<PlaceLag>,
    sis_nr_idle_scan: Vec<IdleScan>,
    group_weight: Vec<Group>,
    cfs_sched_slice: Vec<SchedSlice>,
    cfs_wakeup_gran: Vec<WakeupGran>,
    wake_affine_weight: Vec<Affine>,
    wake_wide: Vec<Wide>,
    imb_numa_nr: Vec<ImbNuma>,
}

#[derive(Debug, Deserialize)]
struct Vdelta {
    delta: u64,
    weight: u32,
    out: i64,
}

#[derive(Debug, Deserialize)]
struct VFloor {
    v_w: Vec<(i64, u32)>,
    #[serde(rename = "V")]
    v: i64,
    eligible: Vec<bool>,
}

#[derive(Debug, Deserialize)]
struct PlaceLag {
    vlag: i64,
    #[serde(rename = "W")]
    queued: u32,
    w: u32,
    inflated: i64,
}

#[derive(Debug, Deserialize)]
struct IdleScan {
    llc_weight: u32,
    sum_util: u32,
    pct: Option<u32>,
    nr_idle_scan: u32,
}

#[derive(Debug, Deserialize)]
struct Group {
    shares: u32,
    rq_weight: u32,
    rq_load_avg: u32,
    contrib: u32,
    tg_load_avg: u32,
    weight_scaled: u64,
}

#[derive(Debug, Deserialize)]
struct SchedSlice {
    period: u32,
    w: u32,
    #[serde(rename = "W")]
    total: u32,
    out: u64,
}

#[derive(Debug, Deserialize)]
struct WakeupGran {
    gran: u32,
    w: u32,
    out: i64,
}

#[derive(Debug, Deserialize)]
struct Affine {
    this_load: u32,
    prev_load: u32,
    p_load: u32,
    cur_load: u32,
    cap_this: u16,
    cap_prev: u16,
    pct: u16,
    sync: bool,
    moves_to_this: bool,
}

#[derive(Debug, Deserialize)]
struct Wide {
    flips: [u32; 2],
    llc_size: u32,
    wide: bool,
}

#[derive(Debug, Deserialize)]
struct ImbNuma {
    node_weight: u32,
    llc_weight: u32,
    imb_numa_nr: u32,
}

impl UnitVectors {
    /// Checks every row against the code in use.
    pub(super) fn check(&self, c: &mut Checker) {
        c.rows("vdelta", &self.vdelta, |c, r| {
            let got = vdelta(r.delta, r.weight, task_inverse(r.weight));
            c.value("out", &r.out, &got);
        });
        for (&weight, inverse) in &self.table_inverse {
            c.begin(&format!("table_inverse[{weight}]"), None);
            c.value("inverse", inverse, &task_inverse(weight));
        }
        for (&cpus, factor) in &self.tunable_factor_log {
            c.begin(&format!("tunable_factor_log[{cpus}]"), None);
            c.value("factor", factor, &tunable_factor(cpus));
        }
        c.rows("V_floor", &self.v_floor, |c, r| r.check(c));
        c.rows("place_lag", &self.place_lag, |c, r| {
            let got = inflate_lag(r.vlag, u64::from(r.queued), r.w);
            c.value("inflated", &r.inflated, &got);
        });
        c.rows("group_weight", &self.group_weight, |c, r| {
            c.value("weight_scaled", &r.weight_scaled, &group_weight(r.loads()));
        });
        c.rows("cfs_sched_slice", &self.cfs_sched_slice, |c, r| {
            let inverse = sum_inverse(u64::from(r.total));
            let got = scale(u64::from(r.period), u64::from(r.w), inverse);
            c.value("out", &r.out, &got);
        });
        c.rows("cfs_wakeup_gran", &self.cfs_wakeup_gran, |c, r| {
            let got = vdelta(u64::from(r.gran), r.w, task_inverse(r.w));
            c.value("out", &r.out, &got);
        });
        self.check_placement(c);
    }

    fn check_placement(&self, c: &mut Checker) {
        c.rows("sis_nr_idle_scan", &self.sis_nr_idle_scan, |c, r| {
            let pct = r.pct.map_or(DEFAULT_PCT, u64::from);
            let got = nr_idle_scan(r.llc_weight, u64::from(r.sum_util), pct);
            c.value("nr_idle_scan", &r.nr_idle_scan, &got);
        });
        c.rows("wake_affine_weight", &self.wake_affine_weight, |c, r| {
            c.value(
                "moves_to_this",
                &r.moves_to_this,
                &wake_affine_weight(r.loads()),
            );
        });
        c.rows("wake_wide", &self.wake_wide, |c, r| {
            let got = wake_wide(r.flips.map(u64::from), u64::from(r.llc_size));
            c.value("wide", &r.wide, &got);
        });
        c.rows("imb_numa_nr", &self.imb_numa_nr, |c, r| {
            let got = imb_numa_nr(r.node_weight, r.llc_weight);
            c.value("imb_numa_nr", &r.imb_numa_nr, &got);
        });
    }
}

impl VFloor {
    fn check(&self, c: &mut Checker) {
        let mut average = Average::default();
        for &(v, w) in &self.v_w {
            average.add(v, w);
        }
        c.given("V", Some(self.v), average.floor());
        let eligible: Vec<bool> = self.v_w.iter().map(|e| average.eligible(e.0)).collect();
        c.value("eligible", &self.eligible, &eligible);
    }
}

impl Group {
    fn loads(&self) -> GroupLoads {
        GroupLoads {
            shares: self.shares.into(),
            rq_weight: self.rq_weight.into(),
            rq_load_avg: self.rq_load_avg.into(),
            contrib: self.contrib.into(),
            tg_load_avg: self.tg_load_avg.into(),
        }
    }
}

impl Affine {
    fn loads(&self) -> AffineLoads {
        AffineLoads {
            this_load: self.this_load.into(),
            prev_load: self.prev_load.into(),
            wakee_load: self.p_load.into(),
            waker_load: self.cur_load.into(),
            this_capacity: self.cap_this.into(),
            prev_capacity: self.cap_prev.into(),
            imbalance_pct: self.pct.into(),
            sync: self.sync,
        }
    }
}
