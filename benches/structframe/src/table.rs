//! Rows as they are measured, printed and held against what was promised.

use bench_harness::{Check, Duel, Effort, Limit, Options, duel, limit, settled};

/// What a peer is measured for. Complete: there is nothing else to hold a row against.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    /// We want to be this many times as fast.
    Times(f64),
    /// We want not to be slower.
    Even,
}

/// A peer: its name, what we want, and its work.
pub(crate) type Peer<'a> = (&'static str, Aim, &'a mut dyn FnMut());

/// What a row works on.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) what: &'static str,
    /// Bytes processed in one call.
    pub(crate) bytes: usize,
    /// How many frames or runs share the time.
    pub(crate) items: usize,
}

pub(crate) struct Table {
    pub(crate) effort: Effort,
    pub(crate) options: Options,
    pub(crate) check: Check,
}

impl Table {
    pub(crate) fn print_header() {
        println!(
            "| what | bytes | ours ns | ours GB/s | peer | peer GB/s | times | median | target | limit | limit GB/s | of limit \
             | pages ours | pages peer |"
        );
        println!("|---|--:|--:|--:|---|--:|--:|--:|--:|---|--:|--:|---|---|");
    }

    /// One row per peer, beside the part of the work that nobody can leave out.
    pub(crate) fn rows(
        &mut self,
        row: Row,
        mut ours: impl FnMut(),
        (name, bare): (&'static str, &mut dyn FnMut()),
        peers: Vec<Peer<'_>>,
    ) {
        if !self.options.wants(row.what) {
            return;
        }
        let limit = limit(self.effort, name, bare);
        for (name, aim, work) in peers {
            let target = if let Aim::Times(target) = aim { Some(target) } else { None };
            let found = settled(self.options.again(), target, || duel(self.effort, &mut ours, &mut *work));
            print(row, name, target, &limit, &found);
            let name = format!("{} beside {name}", row.what);
            self.check.duel(&name, &found, target, None);
        }
    }
}

fn print(row: Row, peer: &str, target: Option<f64>, limit: &Limit, found: &Duel) {
    println!(
        "| {} | {} | {:.1} | {:.2} | {peer} | {:.2} | {:.2} | {:.2} | {} | {} | {:.2} | {:.2} | {} | {} |",
        row.what,
        row.bytes / row.items,
        found.ours.time.as_nanos() as f64 / row.items as f64,
        found.ours.rate(row.bytes),
        found.peer.rate(row.bytes),
        found.times(),
        found.median(),
        target.map_or_else(String::new, |target| target.to_string()),
        limit.name,
        limit.best.rate(row.bytes),
        limit.reached(found.ours),
        found.ours.pages(),
        found.peer.pages(),
    );
}
