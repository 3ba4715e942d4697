//! The accounts of all threads, added up for the record.
use std::collections::HashMap;
use std::ffi::CStr;

use flick_abi::layout::Gate;
use flick_events::timed::{Share, Site as Record, Timed};
use flick_timing::platform::PARTS;

use super::card_time::WAYS;
use super::order::notes;
use super::own_memory;
use super::profile::results;
use super::setting::{picoseconds, setting};
use super::sites::{Key, Site};
use super::state;
use super::sums::{Sums, WAITS};
use super::tile_cores;
use crate::accounts::symbols;
use crate::accounts::timed::host_code;
use crate::heap::marks;

/// What the run has predicted so far; `None` where it is not timed.
pub fn total() -> Option<Timed> {
    let setting = setting()?;
    let mut sums = Sums::default();
    let mut sites: HashMap<Key, Site> = HashMap::new();
    let mut timed = Timed {
        platform: setting.platform.name.clone(),
        description: setting.platform.description.clone(),
        host_counted: host_code::has_units(),
        libc: libc_version(),
        ordered: true,
        not_exact: notes::all(),
        ..Timed::default()
    };
    let (mut host_compute, mut operations) = (0, 0);
    for state in state::all() {
        timed.threads += 1;
        timed.migrating = timed.migrating.max(picoseconds(state.now()));
        let times = state.times();
        timed.staying = timed.staying.max(picoseconds(times.staying));
        timed.before = timed.before.max(picoseconds(times.before));
        operations += state.operations();
        host_compute += state.host();
        sums.add(&state.sums);
        own_memory::count(&mut timed, state);
        for (key, site) in &state.sites {
            sites.entry(*key).or_default().add(site);
        }
    }
    let share = |name: &str, time: u128| Share {
        name: name.to_owned(),
        time: picoseconds(time),
    };
    let mut staying_waits = Vec::new();
    timed.migrating_shares = vec![
        share("host code", host_compute),
        share("waiting for the host's own memory", sums.own_memory),
        share("page faults", sums.page_faults),
        share("host libraries", sums.host_library),
        share("host accesses to NxP memory", sums.host_memory),
        share("host TLB", sums.host_tlb),
    ];
    timed.migrating_shares.extend(nxp_shares(&sums));
    timed
        .migrating_shares
        .push(share("NxP heap", sums.nxp_library));
    for (name, time) in PARTS.into_iter().zip(sums.parts) {
        timed
            .migrating_shares
            .push(share(&format!("crossings: {name}"), time));
    }
    for (way, time) in WAYS.into_iter().zip(sums.card) {
        timed
            .migrating_shares
            .push(share(&format!("crossings: {way}"), time));
    }
    timed
        .migrating_shares
        .push(share("waiting for an NxP core", sums.waiting));
    timed
        .migrating_shares
        .push(share("waiting for threads to end", sums.joining));
    for (name, wait) in WAITS.into_iter().zip(sums.waits) {
        timed.migrating_shares.push(share(name, wait.migrating));
        staying_waits.push(share(name, wait.staying));
    }
    timed.staying_shares = vec![
        share("host code", host_compute),
        share("waiting for the host's own memory", sums.staying_own),
        share("page faults", sums.page_faults),
        share("libraries", sums.staying_library),
        share("the NxP's functions", sums.staying_compute),
        share("accesses to NxP memory", sums.staying_memory),
        share("TLB", sums.staying_tlb),
        share("waiting for threads to end", sums.staying_joining),
    ];
    timed.staying_shares.extend(staying_waits);
    timed.migrating_shares.retain(|share| share.time > 0);
    timed.staying_shares.retain(|share| share.time > 0);
    timed.accesses = sums.accesses;
    timed.host_accesses = sums.host_accesses;
    // Those that a block has counted, without those that have recorded that they are none.
    let recorded = sums.host_accesses - sums.host_copies.min(sums.host_accesses);
    timed.other_accesses = operations.saturating_sub(recorded) + sums.other_copies;
    timed.page_faults = sums.faults;
    timed.allocated = marks::most();
    timed.allocated_accesses = sums.marked;
    timed.sites = records(sites);
    timed.profile = results::record();
    if !timed.profile.functions.is_empty() {
        let others = timed.profile.functions.iter().map(|known| known.remote);
        timed.other_accesses = others.sum();
    }
    Some(timed)
}

/// What NxP code takes; by tile, where the platform has several kinds of NxP.
fn nxp_shares(sums: &Sums) -> Vec<Share> {
    const NAMES: [&str; 4] = [
        "NxP instructions",
        "NxP data accesses",
        "NxP instruction fetches",
        "NxP TLB",
    ];
    let each = |parts: [u128; 4], on: String| {
        let share = move |(name, time)| Share {
            name: format!("{name}{on}"),
            time: picoseconds(time),
        };
        NAMES.into_iter().zip(parts).map(share)
    };
    let Sums {
        nxp_compute,
        nxp_memory,
        nxp_fetch,
        nxp_tlb,
        by_tile,
        ..
    } = *sums;
    let tiles = tile_cores::all().iter().zip(by_tile);
    let by_tile = tiles.flat_map(|(tile, parts)| each(parts, format!(" on {}", tile.name)));
    match tile_cores::all() {
        [] => each([nxp_compute, nxp_memory, nxp_fetch, nxp_tlb], String::new()).collect(),
        _ => by_tile.collect(),
    }
}

/// With names, the most time first.
fn records(sites: HashMap<Key, Site>) -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    for ((back, gate), site) in sites {
        let caller = symbols::caller(back);
        // SAFETY: the record of a gate that was called. Of a library that has been closed it is not
        // read.
        let callee = unsafe {
            let gate = gate as *const Gate;
            match symbols::is_loaded(gate as usize) {
                true => CStr::from_ptr((*gate).name).to_string_lossy().into_owned(),
                false => "(of a library that was closed)".to_owned(),
            }
        };
        all.push(Record {
            caller: caller.function,
            module: caller.path,
            offset: caller.offset,
            callee: flick_names::plain(&callee).to_owned(),
            calls: site.calls,
            migrating: picoseconds(site.migrating),
            staying: picoseconds(site.staying),
            before: picoseconds(site.before),
            crossing: picoseconds(site.crossing),
            accesses: site.accesses,
            instructions: site.instructions,
        });
    }
    // Not by the order of a table that depends on addresses.
    all.sort_by(|a, b| {
        let key = |site: &Record| {
            (
                std::cmp::Reverse(site.migrating),
                site.module.clone(),
                site.offset,
            )
        };
        key(a).cmp(&key(b)).then_with(|| a.callee.cmp(&b.callee))
    });
    all
}

fn libc_version() -> String {
    // SAFETY: a C string that lives as long as the library.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}
