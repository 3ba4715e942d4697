//! The kernel hart: it reads the machine's tree, starts the first program, and serves the others for
//! ever. It takes no interrupts: they end its sleep.
use core::cell::UnsafeCell;

use flick_abi::card::PAGE;
use flick_kernel_core::flat_tree::FlatTree;
use flick_kernel_core::frames::Frames;
use flick_kernel_core::lines::MOST_HARTS;
use flick_kernel_core::thread_lines::ThreadLine;
use flick_kernel_core::threads::{THREADS, Thread};

use crate::claim::{HAS_CLAIMS, Own};
use crate::consents::Consents;
use crate::console::Console;
use crate::devices::{Clint, Plic, Serial};
use crate::dtu::Unit;
use crate::hart_page::{
    HartLocal, HartPage, HartPages, OUTGOING, PENDING, Seen, Sending, Taking, release,
};
use crate::hart_unit::HartUnit;
use crate::kernel::Kernel;
use crate::machine_map::{BadMachine, MachineMap};
use crate::routes::Routes;
use crate::trace_points::point;
use crate::{cache, csr, csr_read, csr_write, failure, first_program};

unsafe extern "C" {
    /// In `kernel.ld`: its address is that of the memory behind the kernel.
    pub static kernel_end: u8;
}

struct KernelCell(UnsafeCell<Kernel>);

// SAFETY: the kernel hart alone uses it.
unsafe impl Sync for KernelCell {}

// Tables are too large for the stack.
static KERNEL: KernelCell = KernelCell(UnsafeCell::new(Kernel::new()));

/// The kernel's state.
#[cfg(any(feature = "symmetric", feature = "alone"))]
pub fn state() -> *mut Kernel {
    KERNEL.0.get()
}

/// Rounds of calls between two looks at time and console.
const ROUNDS: u32 = 16;
/// Looks for callers before the hart sleeps: some 1,000 cycles. The host takes longer than that.
const LOOKS: u32 = if cfg!(feature = "host") { 2 } else { 32 };
/// A time slice lasts a part of a second: 10 ms.
const SLICES: u64 = 100;
/// Interrupts of software, timer, devices and the data transfer unit, in `mie`.
pub const INTERRUPTS: u64 = 1 << 3 | 1 << 7 | EXTERNAL | UNIT;
const EXTERNAL: u64 = 1 << 11;
const PLACES_SIZE: usize = size_of::<[Thread; THREADS]>();
const LINES_SIZE: usize = size_of::<[ThreadLine; THREADS]>();
const UNIT: u64 = 1 << flick_abi::dtu::INTERRUPT_BIT;

/// From `start.S`.
#[unsafe(no_mangle)]
extern "C" fn kernel_hart_begin(hart_id: u64, tree: *const u8) -> ! {
    // SAFETY: the machine has the address of a tree in a1, which tells its size; nobody changes it.
    let bytes = unsafe {
        let size = FlatTree::size(core::slice::from_raw_parts(tree, 8)).unwrap_or(8);
        core::slice::from_raw_parts(tree, size)
    };
    let Some(parsed) = FlatTree::new(bytes) else {
        stop_quietly();
    };
    let at = tree.addr() as u64;
    let end = at + bytes.len() as u64;
    let (map, arguments, good) = MachineMap::read(parsed, hart_id, (at, end));
    if let Err(BadMachine(reason)) = good {
        let mut console = Console::new();
        console.begin(map.serial.map(Serial::new), None);
        crate::report!(console, "kernel: {reason}\n");
        stop_quietly();
    }
    failure::begin(&map);
    cache::begin(map.cache_means());
    let arguments = core::str::from_utf8(arguments).unwrap_or("");
    // SAFETY: this hart alone uses it, and takes it once.
    #[cfg(not(feature = "symmetric"))]
    let kernel = unsafe { &mut *KERNEL.0.get() };
    #[cfg(feature = "symmetric")]
    let mut held = crate::locks::Held::take();
    #[cfg(feature = "symmetric")]
    let kernel: &mut Kernel = &mut held;
    begin(kernel, &map);
    #[cfg(feature = "root")]
    kernel.begin_root(parsed);
    begin_harts(kernel);
    #[cfg(feature = "host")]
    let is_hosts = kernel.begin_host(arguments);
    #[cfg(not(feature = "host"))]
    let is_hosts = false;
    // A root has programs beside those of the host: servers.
    let has_program = cfg!(all(feature = "host", feature = "root")) && !arguments.trim().is_empty();
    if !is_hosts || has_program {
        first_program::start(kernel, arguments);
    }
    #[cfg(feature = "symmetric")]
    crate::symmetric::attend_for_ever(held);
    #[cfg(feature = "alone")]
    begin_alone(kernel);
    #[cfg(not(any(feature = "symmetric", feature = "alone")))]
    serve_for_ever(kernel)
}

/// The kernel's own hart runs threads.
#[cfg(feature = "alone")]
fn begin_alone(kernel: &Kernel) -> ! {
    match kernel.harts.pages[kernel.map.kernel_hart] {
        Some(page) => crate::user_hart::user_hart_begin(core::ptr::from_ref(page).cast_mut()),
        None => stop_quietly(),
    }
}

fn stop_quietly() -> ! {
    loop {
        csr::wait();
    }
}

fn begin(kernel: &mut Kernel, map: &MachineMap) {
    kernel.map = *map;
    let all: &mut Frames = &mut kernel.frames;
    *all = frames(map);
    if let Some(lines) = kernel
        .frames
        .allocate_many(LINES_SIZE.div_ceil(PAGE as usize))
    {
        // SAFETY: these frames are nobody else's, and stay. A line has integers alone.
        kernel.lines = unsafe { core::slice::from_raw_parts(lines as *const ThreadLine, THREADS) };
        kernel.lines.iter().for_each(|line| line.begin(0, 0, 0, 0));
    }
    if let Some(places) = kernel
        .frames
        .allocate_many(PLACES_SIZE.div_ceil(PAGE as usize))
    {
        // SAFETY: as above.
        unsafe { kernel.dispatch.threads.all.put_at(places) };
    }
    kernel.harts.clint = Clint::new(map);
    kernel.harts.interrupts = map.cache_means() & cache::means::BACK != 0;
    let serial = map.serial.map(Serial::new);
    kernel.console.begin(serial, map.plic.map(Plic::new));
    let (tile, tiles) = map.tile;
    let harts = (map.kernel_hart, map.harts);
    #[cfg(feature = "root")]
    let governed = map.unit.zip(map.buffer_of_root());
    #[cfg(feature = "root")]
    let governed =
        governed.map(|(base, buffer)| Unit::begin_governed(base, buffer, map.kernel_hart));
    #[cfg(not(feature = "root"))]
    let governed = None;
    kernel.tiles.unit = governed.or_else(|| {
        let base = map.unit?;
        Unit::begin(base, (tile, tiles), harts, &mut kernel.frames)
    });
    #[cfg(feature = "host")]
    if let (Some(unit), Some(host)) = (kernel.tiles.unit, map.host) {
        unit.begin_host(host as u16);
    }
    kernel.tiles.routes = Routes::create(&mut kernel.frames);
    kernel.tiles.consents = Consents::create(&mut kernel.frames);
    kernel
        .dispatch
        .begin(map.user_harts(), map.frequency / SLICES);
    kernel.dispatch.threads.special = map.kinds.special(map.user_harts());
}

/// The memory behind the kernel. Its first pages have the counts of the others.
fn frames(map: &MachineMap) -> Frames {
    let base = (&raw const kernel_end).addr() as u64;
    let all = (map.memory.1 - base) / PAGE;
    let counts = (2 * all).div_ceil(PAGE);
    let first = base + counts * PAGE;
    let count = (all - counts) as usize;
    // SAFETY: memory behind the kernel, which nothing else uses.
    let counts = unsafe { core::slice::from_raw_parts_mut(base as *mut u16, count) };
    let mut frames = Frames::with_counts(first, counts);
    for (start, end) in [map.tree, map.archive] {
        frames.reserve(start, end);
    }
    #[cfg(feature = "root")]
    if let Some(buffer) = map.buffer_of_root() {
        frames.reserve(buffer, buffer + flick_abi::card::remote_call::BUFFER);
    }
    frames
}

fn begin_harts(kernel: &mut Kernel) {
    let Some(table) = kernel.frames.allocate() else {
        return;
    };
    // SAFETY: the frame is the table's for ever, and 0 is a value of its words.
    let table = unsafe {
        core::ptr::write_bytes(table as *mut u8, 0, PAGE as usize);
        &mut *(table as *mut [u64; PAGE as usize / 8])
    };
    let mut pages: HartPages = [None; MOST_HARTS];
    let map = kernel.map;
    #[cfg(feature = "host")]
    let slots = kernel.frames.allocate();
    for (hart, place) in pages.iter_mut().enumerate().take(map.harts) {
        if map.user_harts() >> hart & 1 == 0 {
            continue;
        }
        // A hart that executes calls needs a larger stack.
        let executes = cfg!(any(feature = "symmetric", feature = "alone"));
        let (frame, pages) = match executes {
            false => (kernel.frames.allocate(), 1),
            true => (kernel.frames.allocate_many(3), 3),
        };
        let Some(frame) = frame else {
            break;
        };
        let local = HartLocal {
            context: core::ptr::null_mut(),
            thread: 0,
            hart: hart as u64,
            stack: frame + pages * PAGE,
            saved: [0; 3],
            refresh: cache::refresh_call(),
            light: crate::calls::LIGHT,
            bit: 1 << hart,
            pending: &PENDING,
            wake: kernel.harts.clint.register(map.kernel_hart),
            lines: kernel.lines.as_ptr(),
            owner: 0,
            is_silent: false,
            attempt: 0,
            sending: Sending {
                tile: Sending::NONE,
                port: 0,
                base: kernel.map.unit.unwrap_or(0),
                command: 0,
                is_busy: 0,
            },
            seen: [Seen::NONE; 2],
            taking: Taking::NONE,
            sender: 0,
            is_parked: false,
            own: Own::NONE,
            kept: [0; 10],
            changes: 0,
            float_owner: core::ptr::null_mut(),
            vector_owner: core::ptr::null_mut(),
            kernel_hart: map.kernel_hart as u64,
            clint: kernel.harts.clint,
            has_spaces: false,
            unit: hart_unit(kernel, hart),
            mailbox: 0,
            outgoing: [0; OUTGOING],
            pieces: [0; 8],
            #[cfg(feature = "root")]
            lent: crate::root::Lent::NONE,
            #[cfg(feature = "host")]
            host: crate::host_hart::HostHart::new(direct(kernel, hart, slots)),
        };
        // SAFETY: the frame is this hart's for ever.
        let page = unsafe { HartPage::create(frame, local) };
        *place = Some(page);
        if let Some(place) = table.get_mut(map.hart_ids[hart] as usize) {
            *place = frame;
        }
    }
    kernel.harts.pages = pages;
    kernel.begin_claims();
    if cfg!(feature = "alone") {
        return;
    }
    release(table);
    let used = pages.iter().enumerate().filter(|(_, page)| page.is_some());
    used.for_each(|(hart, _)| kernel.harts.clint.interrupt(hart));
}

/// What a hart needs to talk with the host itself, with its slot in a page.
#[cfg(feature = "host")]
fn direct(kernel: &Kernel, hart: usize, slots: Option<u64>) -> Option<crate::host_hart::Direct> {
    let (unit, host) = (kernel.tiles.unit?, kernel.map.host?);
    unit.direct(hart, (kernel.map.tile.0, host), slots?)
}

/// What a hart needs for its unit.
fn hart_unit(kernel: &Kernel, hart: usize) -> HartUnit {
    // The hart's bank is the kernel's, if it is alone.
    let unit = kernel.tiles.unit.filter(|_| !cfg!(feature = "alone"));
    let is_governed = kernel.map.is_governed();
    let begun = unit.filter(|_| !is_governed);
    let begun = begun.and_then(|unit| unit.begin_hart(hart));
    // The root sets up endpoints for its programs, and it has none of its own.
    #[cfg(feature = "root")]
    let begun = match unit.filter(|_| is_governed) {
        Some(unit) => Some((unit.begin_governed_hart(hart), [0; 2])),
        None => begun,
    };
    let unit = begun;
    let (registers, endpoints) = unit.unzip();
    let [message, memory] = endpoints.unwrap_or_default();
    HartUnit {
        registers,
        routes: kernel.tiles.routes,
        tile: kernel.map.tile.0,
        tiles: kernel.map.tile.1,
        message,
        memory,
        consents: kernel.tiles.consents,
    }
}

#[unsafe(link_section = ".text.kernel_hart")]
fn serve_for_ever(kernel: &mut Kernel) -> ! {
    let me = kernel.map.kernel_hart;
    let clint = kernel.harts.clint;
    // SAFETY: interrupts end `wfi`, and are not taken.
    unsafe { csr_write!(mie, INTERRUPTS) };
    // The hart whose call is served first.
    let mut first = 0;
    let mut timer = u64::MAX;
    clint.set_timer(me, timer);
    let (mut rounds, mut looks) = (0_u32, 0_u32);
    loop {
        let callers = PENDING.take();
        if callers != 0 {
            kernel.close_claims();
            first = serve(kernel, callers, first);
            (rounds, looks) = (rounds + 1, 0);
            // Those who call without a pause do not keep others from their time.
            if rounds < 2 * ROUNDS {
                continue;
            }
        } else if looks < LOOKS && !is_awaited() {
            // The next call comes soon, perhaps. Until then there is time for what nobody waits for.
            if looks == 0 && HAS_CLAIMS && !kernel.claims.are_open() {
                kernel.open_claims();
            }
            #[cfg(feature = "root")]
            if looks == 0 {
                kernel.open_handovers();
            }
            looks += 1;
            if looks.is_multiple_of(2) && kernel.tidy(PENDING.has_ended()) {
                looks = 0;
            }
            if rounds < ROUNDS || looks < 2 {
                continue;
            }
        }
        let pauses = callers == 0 && looks >= LOOKS;
        (rounds, looks) = (0, 0);
        attend(kernel);
        if !pauses {
            continue;
        }
        if HAS_CLAIMS && !kernel.claims.are_open() {
            kernel.open_claims();
        }
        #[cfg(feature = "root")]
        kernel.open_handovers();
        clint.clear(me);
        if PENDING.sleep() {
            let next = next_event(kernel);
            if next != timer {
                clint.set_timer(me, next);
                timer = next;
            }
            csr::wait();
        }
    }
}

/// Does a thread wait for a message that has come? Messages are the root's calls between programs.
#[inline(always)]
fn is_awaited() -> bool {
    cfg!(feature = "root") && csr_read!(mip) & UNIT != 0
}

/// Deals with what is no call: time, and the console.
#[inline(never)]
#[unsafe(link_section = ".text.kernel_hart")]
pub fn attend(kernel: &mut Kernel) {
    point!("attend");
    let now = csr::time();
    let pending = csr_read!(mip);
    if pending & (UNIT | EXTERNAL) != 0 || kernel.dispatch.threads.next_timer() <= now {
        kernel.close_claims();
    }
    #[cfg(feature = "root")]
    if next_event(kernel) <= now {
        kernel.close_claims();
    }
    if pending & UNIT != 0 {
        kernel.attend_unit();
    }
    if pending & EXTERNAL != 0 {
        kernel.console.poll();
        crate::calls::console_read::answer(kernel);
    }
    if kernel.dispatch.threads.next_timer() <= now {
        kernel.end_waits();
    }
    if kernel.dispatch.next_slice_end() <= now {
        kernel.dispatch.end_slices(now, &mut kernel.harts);
    }
    #[cfg(feature = "root")]
    if kernel.root.next_turn_end() <= now {
        kernel.end_turns(now);
    }
    #[cfg(feature = "root")]
    if kernel.root.next_check() <= now {
        kernel.check_other_tiles(now);
    }
    while let Some(hart) = kernel.dispatch.unanswered(now, kernel.patience()) {
        kernel.lose(hart, "it does not save its thread");
    }
    point!("attended");
}

pub fn next_event(kernel: &Kernel) -> u64 {
    let dispatch = &kernel.dispatch;
    let unanswered = dispatch.next_answer().saturating_add(kernel.patience());
    let all = [
        dispatch.threads.next_timer(),
        dispatch.next_slice_end(),
        unanswered,
    ];
    let next = all.into_iter().min().unwrap_or(u64::MAX);
    #[cfg(feature = "root")]
    let next = next
        .min(kernel.root.next_turn_end())
        .min(kernel.root.next_check());
    next
}

/// Serves each of the callers once, in turns from the hart `first` on. Returns the hart behind the one
/// that was served last.
#[inline(always)]
fn serve(kernel: &mut Kernel, callers: u64, first: u32) -> u32 {
    let mut bits = callers.rotate_right(first);
    let mut hart = first;
    while bits != 0 {
        hart = first + bits.trailing_zeros();
        bits &= bits - 1;
        kernel.serve((hart % 64) as u8);
    }
    (hart + 1) % 64
}
