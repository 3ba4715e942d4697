//! The engine's translator in a process: one for all threads and modules.
//!
//! Translated code, and the tables that lead to it, are read without a lock. Who finds no
//! translation takes the lock ([`OwnedLock`]) and translates, on a stack of the translator's own
//! with memory of its own: a thread's first call of a function may be in a handler that interrupted
//! `malloc`, on a small signal stack.
pub mod budgeted_code;
mod hotness;
mod linked_code;
mod perf;
mod place;
mod process_code;
pub mod shown_code;
pub(crate) mod target_table;
pub(crate) mod words;

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use flick_abi::layout::Gate;
use flick_engine::Hart;
use flick_riscv::register::{RA, SP, T1, T2};
use flick_translator::{
    Context, Counting, HostRegisters, Lookup, StateTable, Targets, Translator, Usage, VectorCall,
};

use crate::config::{self, Engine};
use crate::locks::try_lock::OwnedLock;
use crate::memory::own_heaps;
use crate::modules::signatures::Plan;
use crate::modules::{self, ModuleEntry, address_meaning, signature_table};
use crate::os::fatal;
use crate::os::own_stack::OwnStack;
use crate::thread::{Current, crossing_code};
use linked_code::in_module;

/// On which the translator runs, under its lock.
static STACK: OwnStack = OwnStack::new();

static TRANSLATOR: OwnedLock<Option<Translator>> = OwnedLock::new(None);
static STATES: AtomicPtr<StateTable> = AtomicPtr::new(ptr::null_mut());
static CODE_RANGE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether translated code runs in the calling thread by itself, and not on harts of a card.
#[inline]
pub fn enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Whether translated code is to run in this process. Call once, before any module's code runs.
pub fn init() {
    place::give_back();
    if config::get().engine == Engine::Interpret {
        return;
    }
    target_table::__flick_1_targets.init();
    flick_translator::set_vector_calls(state_at_vector_call);
    ENABLED.store(true, Ordering::Relaxed);
    // Translations of the link do not count.
    if crossing_code::counted() {
        need();
    }
}

/// There is code that the link has not translated: makes the translator, if this process is to have
/// one and can. Not when that code is called first: a program may have forbidden itself the system
/// calls by then.
pub fn need() {
    static MADE: AtomicBool = AtomicBool::new(false);
    let engine = config::get().engine;
    if !enabled() || engine == Engine::Ahead || MADE.swap(true, Ordering::Relaxed) {
        return;
    }
    let counting = match crossing_code::counted() {
        true => Counting::Retired,
        false => Counting::None,
    };
    if let Err(why) = make(counting, entry_for)
        && engine == Engine::Translate
    {
        cannot_translate(&why);
    }
}

fn cannot_translate(why: &str) -> ! {
    fatal::exit(
        "FLK0406",
        &format!("FLICK_ENGINE=translate, but NxP code cannot be translated: {why}"),
        "remove the cause (address space, SELinux without execmem, vm.memfd_noexec), or run \
         without FLICK_ENGINE: NxP code is interpreted then",
    )
}

/// The process's only translator, which asks `lookup` for code. Call once.
fn make(counting: Counting, lookup: Lookup) -> Result<(), String> {
    let unable = |error: std::io::Error| format!("no memory for translated code: {error}");
    STACK.init().map_err(unable)?;
    own_heaps::init().map_err(unable)?;
    // SAFETY: this is the process's only translator, which is made once.
    let translator = unsafe {
        Translator::within(
            place::pages(),
            &target_table::__flick_1_targets,
            counting,
            lookup,
        )
    }
    .map_err(unable)?;
    let (start, end) = translator.range();
    CODE_RANGE[0].store(start, Ordering::Relaxed);
    CODE_RANGE[1].store(end, Ordering::Relaxed);
    TRANSLATOR.with(|place| {
        let translator = place.insert(translator);
        perf::init(translator);
        STATES.store(
            ptr::from_ref(translator.states()).cast_mut(),
            Ordering::Release,
        );
    });
    Ok(())
}

/// Calls `f` on the translator's stack while nobody translates. `None`: there is no memory for it, or
/// `f` must not run now.
pub fn on_own_stack<R>(f: impl FnOnce() -> R) -> Option<R> {
    if on_signal_stack() {
        return None;
    }
    let called = TRANSLATOR.with(|_| {
        STACK.init().ok()?;
        Some(STACK.call(f))
    });
    called.flatten()
}

/// Start and end of where translated code can be; both 0 if there is none.
pub fn code() -> [u64; 2] {
    [0, 1].map(|n| CODE_RANGE[n].load(Ordering::Relaxed))
}

/// Whether a thread at `pc` executes translated code.
pub fn is_code(pc: u64) -> bool {
    is_made_here(pc) || modules::translation_at(pc).is_some()
}

fn is_made_here(pc: u64) -> bool {
    let [start, end] = code();
    (start..end).contains(&pc)
}

/// Where the table of guest registers is; 0: there is none.
pub fn states() -> u64 {
    STATES.load(Ordering::Relaxed) as u64
}

/// Translated code for a call of `target` (see [`flick_translator::Lookup`]).
///
/// # Safety
/// Called by the engine, which runs the hart of `context`.
pub unsafe extern "C" fn entry_for(context: *mut Context, target: u64) -> u64 {
    if target != crossing_code::xcall_address() {
        return entry(target);
    }
    if crossing_code::counted() {
        // SAFETY: by contract; NxP code calls by a signature.
        return unsafe { by_signature(context, target) };
    }
    let call = crossing_code::signature_call();
    // Not before the first such call: a table that is empty need not be searched for what goes.
    let _ = TRANSLATOR.try_with(|translator| match translator {
        // For the cell of code that is made here, too.
        Some(translator) => translator.remember(target, call),
        None => target_table::__flick_1_targets.insert(target, call),
    });
    call
}

/// The fast path makes calls by the signature at `text` from now on, if it is in use.
pub(crate) fn know_signature(text: u64, plan: &'static Plan) {
    if enabled() && !crossing_code::counted() {
        signature_table::add(text, plan);
    }
}

/// [`entry_for`] for a call by signature that the fast path does not know. From here on it does, if
/// there are moves for the signature, and then makes this call, too: the frames of its callers stay.
///
/// # Safety
/// As [`entry_for`]. NxP code has jumped to `__flick_xcall`.
pub(crate) unsafe extern "C" fn by_signature(context: *mut Context, _target: u64) -> u64 {
    // SAFETY: by contract; t1 is the signature, t2 the function.
    let (text, plan, function, address) = unsafe {
        let x = &(*context).hart.x;
        let plan = Current::crossed().plan(x[T1] as *const u8);
        (x[T1], plan, x[T2], nxp_by_signature(x))
    };
    know_signature(text, plan);
    let mut is_known = false;
    if !plan.to_host.first.is_null() && !crossing_code::counted() {
        // The fast path looks there, too.
        let known = known(function).or_else(|| {
            entry(function);
            known(function)
        });
        if known.is_some_and(crossing_code::is_host_call_code) {
            is_known = signature_table::add_call(function, text, plan);
        }
    }
    match address {
        Some(address) => {
            // SAFETY: by contract.
            unsafe { (*context).hart.pc = address };
            entry(address)
        }
        None if is_known => crossing_code::signature_call(),
        None => crossing_code::call_by_signature(),
    }
}

/// Where NxP code calls by a signature if that is NxP code, too, which finds its arguments where
/// the caller has put them.
///
/// # Safety
/// `x` are the registers of NxP code that has jumped to `__flick_xcall` in this thread.
unsafe fn nxp_by_signature(x: &[u64; 32]) -> Option<u64> {
    // SAFETY: by contract, t1 is the signature.
    unsafe {
        let thread = Current::crossed();
        let address_meaning::Target::Nxp(address) = thread.resolve(x[T2]) else {
            return None;
        };
        let plan = thread.plan(x[T1] as *const u8);
        (!plan.has_variadic_arguments).then_some(address)
    }
}

/// The same for what the interpreter has arrived at, if it is worth a translation. What translated
/// code calls always is: to interpret that would cut its callers off.
///
/// # Safety
/// As [`entry_for`].
pub unsafe extern "C" fn entry_if_hot(_context: *mut Context, target: u64) -> u64 {
    match known(target) {
        Some(known) => known,
        None if in_module(target).is_some() || hotness::is_hot(target) => translate(target),
        None => 0,
    }
}

fn entry(target: u64) -> u64 {
    known(target).unwrap_or_else(|| translate(target))
}

/// Whether the calling thread handles a signal on a stack for that. Asks the kernel only where the
/// thread is not on its own stack: a program may have forbidden itself that system call.
fn on_signal_stack() -> bool {
    let here = 0_u8;
    let frame = &raw const here as usize;
    Current::get().is_some_and(|thread| thread.host_stack.is_on_signal_stack(frame))
}

/// What translated code finds for a target by itself.
fn known(target: u64) -> Option<u64> {
    target_table::__flick_1_targets.get(target)
}

/// [`entry_for`] for code in a module, which calls through the cell at `cell`, if that is not 0.
///
/// # Safety
/// As [`entry_for`]; the cell is the module's.
pub(crate) unsafe extern "C" fn entry_for_module(
    context: *mut Context,
    target: u64,
    cell: *const AtomicU64,
) -> u64 {
    // SAFETY: by contract.
    unsafe {
        let entry = entry_for(context, target);
        // What is not in the table is looked for at each call.
        if cell.is_null() {
            return entry;
        }
        let near = crossing_code::host_call_for(cell as usize, entry);
        if entry != 0 && known(target) == Some(entry) {
            (*cell).store(near, Ordering::Release);
        }
        near
    }
}

/// The translation in the module that has the code at `address` leads there from now on, for
/// `target`, too, if that means the same at all times.
fn adopt(target: u64, address: u64, lasting: bool, entry: u64) {
    // A handler on a small stack, or one that has interrupted a change of the table, leaves it.
    let _ = TRANSLATOR.try_with(|_| {
        let starts = modules::function_range(address).is_some_and(|range| range.start == address);
        let key = if starts {
            address
        } else {
            Targets::middle(address)
        };
        target_table::__flick_1_targets.insert(key, entry);
        if lasting && target != address {
            target_table::__flick_1_targets.insert(target, entry);
        }
        record_in_gate(address, entry);
    });
}

#[cold]
fn translate(target: u64) -> u64 {
    let (meaning, lasting) = address_meaning::classify(target);
    if !lasting {
        // It is asked for at every call, so without the lock if need be.
        match meaning {
            address_meaning::Target::Nxp(address) => {
                if let Some(known) = known(address) {
                    return known;
                }
            }
            address_meaning::Target::Host => return crossing_code::host_call(),
        }
    }
    if let address_meaning::Target::Nxp(address) = meaning
        && let Some(entry) = in_module(address)
    {
        adopt(target, address, lasting, entry);
        return entry;
    }
    // Seen from the translator's stack the kernel takes a signal stack for unused: the next handler
    // would begin at its upper end, over the frames of this one.
    if on_signal_stack() {
        return 0;
    }
    let entry = TRANSLATOR.try_with(|translator| {
        let address_meaning::Target::Nxp(address) = meaning else {
            let call = crossing_code::host_call();
            match translator {
                Some(translator) => translator.remember(target, call),
                None => target_table::__flick_1_targets.insert(target, call),
            }
            return Some(call);
        };
        let translator = translator.as_mut()?;
        STACK.call(|| {
            own_heaps::with(|| {
                let known = translator.usage().translations;
                let entry = translator.entry(&process_code::Process, address)?;
                record_in_gate(address, entry);
                if translator.usage().translations != known
                    && let Some((guest, host)) = translator.states().translation_at(entry)
                {
                    perf::add(translator, host, guest);
                }
                // A gate, or a host copy; the address itself is known by now.
                if lasting && target != address {
                    translator.remember(target, entry);
                }
                Some(entry)
            })
        })
    });
    entry.flatten().unwrap_or(0)
}

/// Gates of a module lead to its translation, as the link sets them.
pub fn lead(gates: &[&Gate]) {
    for gate in gates {
        if let Some(ModuleEntry::At(code)) = modules::translated_entry(gate.image as u64) {
            gate.code.store(code, Ordering::Release);
        }
    }
}

/// The gate of the function at `address` leads to its translation from now on.
fn record_in_gate(address: u64, entry: u64) {
    let gate = modules::gate_of_image(address).filter(|_| !crossing_code::counted());
    if let Some(gate) = gate {
        // SAFETY: a gate of a registered module, whose code is about to run.
        unsafe { (*gate).code.store(entry, Ordering::Release) };
    }
}

/// Where in NxP code the translation begins that has code at `pc`.
pub fn entered_at(pc: u64) -> Option<u64> {
    if !is_made_here(pc) {
        return modules::translation_at(pc).map(|piece| piece.guest);
    }
    // SAFETY: the table lives as long as the process.
    let states = unsafe { &*STATES.load(Ordering::Relaxed) };
    states.translation_at(pc).map(|(guest, _)| guest)
}

/// The gate by which the host has called the leaf that a context is in, without a crossing. Such a leaf
/// leaves r11 as the gate has set it. From other callers it has a return address of the guest there.
/// Async-signal-safe.
pub fn leaf_entered(context: &libc::ucontext_t) -> Option<*const Gate> {
    let at = |register: libc::c_int| context.uc_mcontext.gregs[register as usize] as u64;
    let piece = modules::translation_at(at(libc::REG_RIP))?;
    modules::gate_at(at(libc::REG_R11), piece.guest)
}

/// The registers of NxP code in such a leaf. The hart has nothing of them.
///
/// # Safety
/// The context is that of a signal being handled in this thread, within a leaf that the host has
/// called.
pub unsafe fn leaf_state_at(context: &libc::ucontext_t) -> Option<Hart> {
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
    let piece = modules::translation_at(pc)?;
    let host = HostRegisters::of(context);
    // SAFETY: by contract.
    let state =
        unsafe { flick_translator::restore_leaf(piece.states, piece.offset, &host, piece.module) };
    let mut state = state.unwrap_or(Hart {
        pc: piece.guest,
        ..Hart::ZERO
    });
    state.x[RA] = crossing_code::return_address();
    state.x[SP] = Current::get().map_or(0, |thread| thread.stack_top as u64);
    Some(state)
}

/// The registers of NxP code whose translation faulted in a context; `None`: it was not translated
/// code. Async-signal-safe.
///
/// # Safety
/// The context is that of a signal being handled in this thread, which [`leaf_entered`] does not know.
pub unsafe fn state_at(context: &libc::ucontext_t) -> Option<Hart> {
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
    if let Some(call) = vector_call(pc) {
        // SAFETY: by contract, the call is being made.
        return state_at_vector_call(unsafe { &*call });
    }
    // SAFETY: by contract.
    unsafe { state_in(pc, &HostRegisters::of(context)) }
}

/// The call of a vector instruction's handler in which this thread is at `pc`, by translated code.
fn vector_call(pc: u64) -> Option<*const VectorCall> {
    let [start, end] = crossing_code::engine();
    let thread = Current::get().filter(|_| (start..end).contains(&pc))?;
    let call = thread.vectors.caller(thread.active.top());
    (call != 0).then_some(call as *const VectorCall)
}

/// The registers of NxP code at such a call. Async-signal-safe.
pub fn state_at_vector_call(call: &VectorCall) -> Option<Hart> {
    let at = |&place: &u64| {
        // SAFETY: the call is being made.
        unsafe { state_in(place, &call.registers) }
    };
    call.places().iter().find_map(at)
}

/// # Safety
/// The registers are those of code at `pc`, which is interrupted or waits for a call.
unsafe fn state_in(pc: u64, host: &HostRegisters) -> Option<Hart> {
    if !is_made_here(pc) {
        let piece = modules::translation_at(pc)?;
        // SAFETY: by contract.
        return unsafe {
            flick_translator::restore_from(piece.states, piece.offset, host, piece.module)
        };
    }
    // SAFETY: the table lives as long as the process; else by contract.
    unsafe { (*STATES.load(Ordering::Relaxed)).restore(pc, host) }
}

/// What is at these addresses goes away, or something else comes there.
pub fn invalidate(ranges: &[Range<u64>]) {
    if enabled() || code() != [0; 2] {
        TRANSLATOR.with(|translator| match translator {
            Some(translator) => own_heaps::with(|| translator.invalidate(ranges)),
            None => target_table::__flick_1_targets
                .invalidate(|at| ranges.iter().any(|range| range.contains(&at))),
        });
    }
}

/// What has been translated; nothing if another thread translates now.
pub fn usage() -> Usage {
    let usage = TRANSLATOR.try_with(|translator| translator.as_ref().map(Translator::usage));
    usage.flatten().unwrap_or_default()
}

/// Whether [`before_fork`] has taken the lock. It has not if a handler forks that interrupted a
/// translation.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Around `fork`, so that the child finds the lock free.
pub fn before_fork() {
    let locked = TRANSLATOR.lock();
    FORKING.store(locked, Ordering::Relaxed);
    // SAFETY: just locked.
    if let (true, Some(translator)) = (locked, unsafe { TRANSLATOR.locked() }) {
        translator.forking();
    }
}

pub fn after_fork_in_parent() {
    if FORKING.swap(false, Ordering::Relaxed) {
        TRANSLATOR.unlock();
    }
}

pub fn after_fork_in_child() {
    if FORKING.swap(false, Ordering::Relaxed) {
        // SAFETY: locked before the fork, by the thread that the child has.
        if let Some(translator) = unsafe { TRANSLATOR.locked() } {
            translator.forked();
        }
        TRANSLATOR.unlock();
    }
}

/// The calling thread leaves, by `longjmp` or by unwinding, what a signal has interrupted.
pub fn left() {
    if TRANSLATOR.is_mine() {
        own_heaps::left();
    }
    TRANSLATOR.left();
}
