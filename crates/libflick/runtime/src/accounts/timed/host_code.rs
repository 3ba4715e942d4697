//! What host code that was compiled with `--flick-timed` calls (`flick_abi::timed`).
use std::arch::naked_asm;
use std::ffi::c_int;
use std::sync::Mutex;
use std::{ptr, slice};

use flick_abi::timed::{
    ACCESS_CHAINED, ACCESS_LOCAL, CHAINS_VERSION, FIRST_VERSION, FLOWS_VERSION, HOST_CLASSES,
    HostClass, MOST_PARTS, NXP_COUNTS, NXP_UNIT, NxpBlock, PARTS_SHIFT, Price, TimedCallee,
    TimedUnit, VERSION,
};
use flick_timing::model::{Access, Chain, Cost, block_prices};
use flick_timing::platform::{Core, Region};

use super::clock::clock;
use super::nxp_layout::layout;
use super::profile::{functions, host_calls};
use super::setting::{self, picoseconds};
use super::state::{self, State};
use super::sums::Charged;
use super::{library, nxp_map, order, own_memory, tile_cores, trace};
use crate::locks::bounded::held;
use crate::memory;

struct Unit(*const TimedUnit);
// SAFETY: the records of loaded modules; only their costs are written, under the lock.
unsafe impl Send for Unit {}

static UNITS: Mutex<Vec<Unit>> = Mutex::new(Vec::new());

/// Adds a unit. Its code runs later.
///
/// # Safety
/// `unit` is what the pass has made, and stays loaded.
pub unsafe fn add_unit(unit: *const TimedUnit) {
    nxp_map::make_map();
    let mut units = held(&UNITS);
    units.push(Unit(unit));
    // SAFETY: by contract.
    unsafe { price(unit) };
    drop(units);
    state::current();
}

/// Prices the units that were there before the platform.
pub fn price_units() {
    let units = held(&UNITS);
    for unit in units.iter() {
        // SAFETY: a registered unit.
        unsafe { price(unit.0) };
    }
    drop(units);
    // The first function looks for its tables when it begins.
    state::current();
}

/// Whether any unit has registered itself.
pub fn has_units() -> bool {
    !held(&UNITS).is_empty()
}

/// Loads and stores.
const OPERATIONS: [u64; HOST_CLASSES] = {
    let mut each = [0; HOST_CLASSES];
    each[HostClass::Load as usize] = 1;
    each[HostClass::Store as usize] = 1;
    each[HostClass::Atomic as usize] = 1;
    each
};

/// Of RV64 code.
fn price_code(code: &NxpBlock, costs: &[u64; NXP_COUNTS]) -> i64 {
    let each = code.counts.iter().zip(costs);
    let sum: u128 = each
        .map(|(&n, &cost)| u128::from(n) * u128::from(cost))
        .sum();
    i64::try_from(sum / u128::from(NXP_UNIT)).unwrap_or(i64::MAX)
}

/// What blocks cost on a host whose platform has latencies; nothing for others, and for earlier units. What
/// runs of its loops save is written to the unit.
///
/// # Safety
/// As [`add_unit`].
unsafe fn flow_prices(unit: *const TimedUnit, host: &Core) -> Vec<u64> {
    // SAFETY: by contract: each block has a row in both tables, and earlier units have no such tables.
    unsafe {
        let Some(flow) = host
            .flow
            .as_ref()
            .filter(|_| (*unit).version >= FLOWS_VERSION)
        else {
            return Vec::new();
        };
        let loops = match (*unit).loops.is_null() {
            true => &[],
            false => slice::from_raw_parts((*unit).loops, (*unit).loop_count as usize),
        };
        let blocks = slice::from_raw_parts((*unit).classes, (*unit).blocks as usize);
        let flows = slice::from_raw_parts((*unit).flows, (*unit).blocks as usize);
        let found = block_prices::prices(flow, blocks, flows, loops);
        for (n, run) in found.runs.into_iter().enumerate() {
            (*unit).runs.add(n).write(run);
        }
        found.blocks
    }
}

/// # Safety
/// As [`add_unit`].
unsafe fn price(unit: *const TimedUnit) {
    let Some(setting) = setting::setting() else {
        return;
    };
    let nxp = &setting.platform.nxp;
    let (as_host, of_code) = (nxp.host_costs(), nxp.code_costs());
    // SAFETY: by contract.
    unsafe {
        if !(FIRST_VERSION..=VERSION).contains(&(*unit).version) {
            return;
        }
        let blocks = match (*unit).version {
            FIRST_VERSION => ptr::null(),
            _ => (*unit).nxp,
        };
        let flows = flow_prices(unit, &setting.platform.host);
        for i in 0..(*unit).blocks as usize {
            let counts = &(*(*unit).classes.add(i)).counts;
            let price = |costs: &[u64]| -> i64 {
                let each = counts.iter().zip(costs);
                each.map(|(&n, &cost)| u64::from(n) * cost).sum::<u64>() as i64
            };
            let code = blocks
                .wrapping_add(i)
                .as_ref()
                .filter(|_| !blocks.is_null());
            let host = &setting.platform.host;
            let chained = match &host.window {
                Some(window) if (*unit).version >= CHAINS_VERSION => {
                    u64::from((*unit).chains.add(i).read()) * window.chain
                }
                _ => 0,
            };
            (*unit).costs.add(i).write(Price {
                host: match flows.get(i) {
                    Some(&flow) => flow as i64,
                    None => price(&host.costs) + chained as i64,
                },
                // What the second part of the clock is for.
                nxp: match code.filter(|code| code.known != 0) {
                    _ if !setting::is_profiled() => price(&OPERATIONS),
                    Some(code) => price_code(code, &of_code),
                    None => price(&as_host),
                },
            });
        }
        functions::add(unit);
    }
}

/// Registers that `preserve_most` keeps and Rust does not: rax, rcx, rdx, rsi, rdi, r8 to r10.
macro_rules! preserving {
    ($(#[$doc:meta])* $name:ident => $function:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Only instrumented code calls it.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                "push rax", "push rcx", "push rdx", "push rsi",
                "push rdi", "push r8", "push r9", "push r10",
                "sub rsp, 8",
                ".cfi_def_cfa_offset 80",
                // A third argument.
                "mov rcx, rdx",
                // The stack pointer of the program's code.
                "lea rdx, [rsp + 80]",
                "cld",
                "call {function}",
                "add rsp, 8",
                "pop r10", "pop r9", "pop r8", "pop rdi",
                "pop rsi", "pop rdx", "pop rcx", "pop rax",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                function = sym $function,
            )
        }
    };
}

preserving! {
    /// The clock is not negative. rdi: why the code tells.
    __flick_timed_full => full
}
preserving! {
    /// rdi: an address where there may be NxP-local memory; rsi: `flick_abi::timed::ACCESS`'s second
    /// argument; rdx: what the function has spent, if that says so.
    __flick_timed_access => access
}

preserving! {
    /// An atomic access follows: a stated point of the thread.
    __flick_order_atomic => atomic
}

extern "C" fn atomic(_: u64, _: u64, above: usize) {
    // SAFETY: instrumented code has called with that stack pointer: its return address is below.
    let place = unsafe { ((above - 8) as *const usize).read() };
    drop(order::point(order::Call::new("an atomic access", place)));
}

extern "C" fn full(why: u64, _: u64, above: usize) {
    let clock = clock();
    let mut state = state::current();
    if let Some(state) = &mut state
        && state.profile.is_some()
    {
        // SAFETY: this thread's clock; instrumented code has called with that stack pointer.
        unsafe { host_calls::tells(state, [clock.read(), clock.add(1).read()], why, above) };
        return;
    }
    // SAFETY: this thread's clock.
    let step = unsafe {
        let spent = clock.read();
        // Far below 0 again; the account keeps what is taken away.
        let step = spent.saturating_sub(i64::MIN / 2);
        clock.write(spent - step);
        step
    };
    let Some(mut state) = state else { return };
    state.host_base += i128::from(step);
    if let Some(period) = state.tracer.as_ref().map(|tracer| tracer.period) {
        trace::sample_host(&mut state, above);
        state.wind(period);
    }
}

extern "C" fn access(address: u64, what: u64, above: usize, spent: i64) {
    let local = memory::is_local(address as usize);
    if !local && !setting::has_own_memory() && !setting::is_profiled() {
        return;
    }
    let Some(mut state) = state::current() else {
        return;
    };
    let state = &mut *state;
    let (bytes, write) = ((what & ((1 << PARTS_SHIFT) - 1)) >> 1, what & 1 != 0);
    let (chain, spent) = match what & ACCESS_CHAINED {
        0 => (Chain::default(), 0),
        _ => (own_memory::chain(what), spent),
    };
    let access = (address, bytes, write);
    let charged = match local {
        true => Some(charge(state, access, chain, spent)),
        false if setting::is_profiled() && own_memory::is_seen(state, address, bytes, spent) => {
            None
        }
        false => own_memory::charge(state, access, chain, spent),
    };
    if !local && !setting::is_profiled() && !trace::enabled() {
        return;
    }
    let parts = (what >> PARTS_SHIFT & MOST_PARTS).max(1);
    // SAFETY: instrumented code has called with that stack pointer.
    unsafe {
        match what & ACCESS_LOCAL {
            0 => host_calls::accessed(state, access, parts, charged, above),
            // A function's own local variables are on the stack of the side that it is on.
            _ => host_calls::waited(state, charged.unwrap_or_default(), above),
        }
    };
    trace::charged(state, charged.map_or(0, |charged| charged.time), above);
}

/// Charges an access of host code to NxP-local memory.
fn charge(
    state: &mut State,
    (address, bytes, write): (u64, u64, bool),
    chain: Chain,
    spent: i64,
) -> Charged {
    let mut charged = Charged {
        local: true,
        ..Charged::default()
    };
    state.sums.host_accesses += 1;
    if state.worlds.busy {
        return charged;
    }
    state.worlds.busy = true;
    let layout = layout(None);
    let own = setting::has_own_memory();
    tile_cores::teach(&mut state.worlds);
    let (region, place) = layout.locate(address, &mut state.worlds.pages);
    if region != Region::Host {
        let access = Access {
            // Of the NxP's stacks the host knows no more than of its other memory.
            region: Region::Nxp,
            tile: layout.tile(region, address),
            place,
            bytes,
            write,
        };
        if own {
            state.worlds.part();
        }
        let Cost { memory, tlb } = state.worlds.host.access(access);
        charged.time = memory + tlb;
        state.sums.host_memory += u128::from(memory);
        state.sums.host_tlb += u128::from(tlb);
        if region == Region::Nxp {
            let marks = layout.marks.filter(|_| !own);
            let mut staying = state.worlds.stay(access, address, marks);
            if own {
                // With nothing placed it is the host's own memory.
                let at = own_memory::progress(state, spent).before;
                let before = state.worlds.own_before((place, bytes, write), chain, at);
                let cost = (staying.cost.memory + staying.cost.tlb) as i64;
                (staying.spare, staying.marked) = (cost - before as i64, true);
            }
            state.sums.staying_memory += u128::from(staying.cost.memory);
            state.sums.staying_tlb += u128::from(staying.cost.tlb);
            state.sums.spare += i128::from(staying.spare);
            state.sums.marked += u64::from(staying.marked);
            // A profile asks what placed functions have allocated.
            if !own || layout.marks.is_some_and(|marks| marks.has(address)) {
                (charged.spare, charged.marked) = (staying.spare, staying.marked);
            }
        }
    }
    own_memory::drop_gone(state);
    state.worlds.busy = false;
    charged
}

/// Bytes that a copy moves at a time, from and to memory that is not cached.
const WIDTH: u64 = 16;

/// A block of `n` bytes is copied, or filled where `from` is null.
///
/// # Safety
/// The arguments are `to`, `from`, `n`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_timed_memory() {
    // The stack pointer of the program's code.
    naked_asm!("lea rcx, [rsp + 8]", "jmp {copied}", copied = sym copied)
}

unsafe extern "C" fn copied(to: u64, from: u64, n: u64, above: usize) {
    let Some(mut state) = state::current().filter(|_| n != 0) else {
        return;
    };
    let state = &mut *state;
    let times = library::charge_by_name(state, if from == 0 { "memset" } else { "memcpy" }, n);
    // SAFETY: instrumented code has called with that stack pointer.
    unsafe { host_calls::called_local(state, times, above) };
    for (block, write) in [(from, false), (to, true)] {
        let local = memory::is_local(block as usize);
        if block == 0 {
            continue;
        }
        if !local {
            let charged = own_memory::charge_block(state, block, n, write);
            // SAFETY: as above.
            unsafe { host_calls::waited(state, charged, above) };
        }
        let pieces = n.div_ceil(WIDTH);
        match local {
            true => state.sums.host_copies += pieces,
            false => state.sums.other_copies += pieces,
        }
        if !(local || setting::is_profiled()) {
            continue;
        }
        for at in (0..n).step_by(WIDTH as usize) {
            let (address, bytes) = (block + at, WIDTH.min(n - at));
            let access = (address, bytes, write);
            let charged = local.then(|| charge(state, access, Chain::default(), 0));
            // SAFETY: as above.
            unsafe { host_calls::accessed(state, access, 1, charged, above) };
        }
    }
}

/// A call of a function that records nothing has returned.
///
/// # Safety
/// The first argument is a record of the pass's ([`TimedCallee`]); then the length, and the
/// callee's address.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_timed_library() {
    // The stack pointer of the program's code.
    naked_asm!("lea rcx, [rsp + 8]", "jmp {called}", called = sym library_called)
}

unsafe extern "C" fn library_called(callee: *mut TimedCallee, n: u64, target: u64, above: usize) {
    if let Some(mut state) = state::current() {
        // SAFETY: by the contract of `__flick_timed_library`.
        let callee = unsafe { &mut *callee };
        let time = library::charge_call(&mut state, callee, n, target);
        // SAFETY: instrumented code has called with that stack pointer.
        unsafe { host_calls::called_library(&mut state, callee, (target, n), time, above) };
        trace::charged(&mut state, time, above);
    }
}

/// `struct flick_prediction` of `flick.h`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Prediction {
    pub migrating_ps: u64,
    pub staying_ps: u64,
}

/// Virtual time of the calling thread; -1 without a platform.
///
/// # Safety
/// `out` is valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flick_predict(out: *mut Prediction) -> c_int {
    let mut prediction = Prediction::default();
    let known = match state::current() {
        None => -1,
        Some(state) => {
            prediction.migrating_ps = picoseconds(state.now());
            prediction.staying_ps = picoseconds(state.times().staying);
            0
        }
    };
    // SAFETY: by contract.
    unsafe { out.write(prediction) };
    known
}
