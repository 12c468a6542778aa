//! The whole simulator: context switches a second of wall time on the shipped
//! scenarios, and what booting a machine costs.
//!
//! `cargo bench --bench world`; divan's item/s are context switches per second.

use std::cell::RefCell;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use schedlab::cli::library::{self, Shelf};
use schedlab::scenario::script::Overrides;
use schedlab::session::{Session, Setup};
use schedlab::sim::Ns;
use schedlab::sim::shape::Shape;
use schedlab::sim::time::MS;

fn main() {
    divan::main();
}

fn setup(scenario: &str, topology: Option<&str>) -> Setup {
    let shelf = Shelf::new(None, topology, None);
    shelf
        .and_then(|shelf| library::scenario(scenario, shelf, &Overrides::default()))
        .unwrap_or_else(|problems| panic!("{problems}"))
        .setup
}

/// Goes on from where the last sample ended: every sample sees a machine in full
/// swing, and none of them its start.
fn run(bencher: Bencher, scenario: &str, warm: Ns, slice: Ns) {
    let mut session = Session::new(setup(scenario, None));
    session.advance_to(warm);
    let before = session.world().totals().schedules;
    let now = session.now();
    session.advance_to(now + slice);
    let switches = session.world().totals().schedules - before;
    let session = RefCell::new(session);
    bencher.counter(ItemsCount::new(switches)).bench_local(|| {
        let mut session = session.borrow_mut();
        let now = session.now();
        session.advance_to(now + slice);
    });
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn schbench_storm(bencher: Bencher) {
    run(bencher, "schbench-storm-threadripper", 50 * MS, 10 * MS);
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn easywave(bencher: Bencher) {
    run(bencher, "easywave-threadripper", 100 * MS, 100 * MS);
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn memcached(bencher: Bencher) {
    run(bencher, "memcached-2ccd", 50 * MS, 20 * MS);
}

/// Sched domains, groups and distances of the largest built-in machine.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn boot_512_cpus(bencher: Bencher) {
    let setup = setup("easywave-threadripper", Some("zen4c-2x128"));
    bencher.bench(|| Shape::new(black_box(setup.topology.clone())));
}
