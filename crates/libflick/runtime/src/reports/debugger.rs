//! What a debugger's script (`gdb/`) reads from the memory of a process or of its core file.
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use flick_abi::layout::Module;
use flick_engine::Hart;

use crate::config::{self, Trigger};
use crate::thread::activation::{self, Activation};
use crate::thread::crossing_code;
use crate::translation;

/// A module in the list. Written under the lock of the modules' table.
#[repr(C)]
struct Node {
    module: *const Module,
    next: AtomicPtr<Node>,
}

/// Layout version 7; later fields go to the end.
#[repr(C)]
pub struct Debugger {
    version: AtomicU64,
    modules: AtomicPtr<Node>,
    /// 1: NxP functions are entered by a fault (`FLICK_TRIGGER=fault`).
    trigger: AtomicU64,
    /// Bytes of a frame of the crossing: it ends where rbp points.
    activation_size: AtomicU64,
    /// Offsets in it.
    gate: AtomicU64,
    in_host: AtomicU64,
    pc: AtomicU64,
    /// To where NxP code returns at the end of an activation.
    return_address: AtomicU64,
    /// Code of the crossings and of the engine: start and end.
    crossings: [AtomicU64; 6],
    engine: [AtomicU64; 2],
    /// Of translated code: start and end; `states` and `hart_bias` are 0 if there is none.
    translated: [AtomicU64; 2],
    /// [`flick_translator::StateTable`].
    states: AtomicU64,
    /// What rbp is there, from the activation on, which begins with the hart.
    hart_bias: AtomicU64,
    /// Offset in the activation of what the crossing's caller has in rbx and r12 to r15.
    host_saved: AtomicU64,
    /// Since version 3. Where a host function comes back to translated code, whose frames are below.
    called_by_translated: AtomicU64,
    /// Since version 4. The code of a further crossing: start and end.
    signature_path: [AtomicU64; 2],
    /// Another place as `called_by_translated`.
    called_by_signature: AtomicU64,
    /// Offset in the activation of where the return address of translated code is that made a call
    /// with a signature.
    waits: AtomicU64,
    /// Since version 4, of the copy of the fast path in the program: start and end, and where a host
    /// function comes back to translated code. 0 without one.
    near: [AtomicU64; 3],
    /// Since version 5, the place in it as `called_by_signature`.
    near_called_by_signature: AtomicU64,
    /// Since version 6. The code of the crossings of the backend `card`: start and end of each.
    card_crossings: [AtomicU64; 4],
    /// Since version 7. Where host functions come back to them above frames of translated code; 0: there are
    /// no such frames.
    card_called: [AtomicU64; 2],
    /// Offset in the activation of the word that says on which tile it runs (`crossing/card/tile_place.rs`).
    of_backend: AtomicU64,
    /// Where the records of owners are, the bytes of one, names of tiles, how many, and the same of harts.
    card: [AtomicU64; 6],
}

const _: () = assert!(offset_of!(Activation, context) == 0);

/// Found by name; never moves.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static __flick_debugger: Debugger = Debugger {
    version: AtomicU64::new(0),
    modules: AtomicPtr::new(ptr::null_mut()),
    trigger: AtomicU64::new(0),
    activation_size: AtomicU64::new(0),
    gate: AtomicU64::new(0),
    in_host: AtomicU64::new(0),
    pc: AtomicU64::new(0),
    return_address: AtomicU64::new(0),
    crossings: [const { AtomicU64::new(0) }; 6],
    engine: [const { AtomicU64::new(0) }; 2],
    translated: [const { AtomicU64::new(0) }; 2],
    states: AtomicU64::new(0),
    hart_bias: AtomicU64::new(0),
    host_saved: AtomicU64::new(0),
    called_by_translated: AtomicU64::new(0),
    signature_path: [const { AtomicU64::new(0) }; 2],
    called_by_signature: AtomicU64::new(0),
    waits: AtomicU64::new(0),
    near: [const { AtomicU64::new(0) }; 3],
    near_called_by_signature: AtomicU64::new(0),
    card_crossings: [const { AtomicU64::new(0) }; 4],
    card_called: [const { AtomicU64::new(0) }; 2],
    of_backend: AtomicU64::new(0),
    card: [const { AtomicU64::new(0) }; 6],
};

/// Call once, before the first module is added. `card`: what there is to read of it, on a card.
pub fn init(card: Option<[u64; 6]>) {
    let all = &__flick_debugger;
    let set = |field: &AtomicU64, value: u64| field.store(value, Ordering::Relaxed);
    set(
        &all.trigger,
        u64::from(config::get().trigger == Trigger::Fault),
    );
    set(&all.activation_size, activation::SIZE as u64);
    set(&all.gate, activation::GATE as u64);
    set(&all.in_host, offset_of!(Hart, mark) as u64);
    set(&all.pc, offset_of!(Hart, pc) as u64);
    set(&all.return_address, crossing_code::return_address());
    for (field, value) in all.crossings.iter().zip(crossing_code::crossings()) {
        set(field, value);
    }
    for (field, value) in all.engine.iter().zip(crossing_code::engine()) {
        set(field, value);
    }
    set(&all.host_saved, activation::SAVED as u64);
    if translation::enabled() {
        set(&all.hart_bias, flick_translator::HART_BIAS as u64);
        translator();
    }
    let [plain, by_signature] = crossing_code::called_by_translated();
    set(&all.called_by_translated, plain);
    set(&all.called_by_signature, by_signature);
    set(&all.waits, activation::CALL_WAITS as u64);
    for (field, value) in all
        .signature_path
        .iter()
        .zip(crossing_code::signature_path())
    {
        set(field, value);
    }
    for (field, value) in all
        .card_crossings
        .iter()
        .zip(crossing_code::card_crossings())
    {
        set(field, value);
    }
    if let Some(card) = card {
        set(&all.of_backend, offset_of!(Activation, of_backend) as u64);
        for (field, value) in all.card.iter().zip(card) {
            set(field, value);
        }
    }
    all.version.store(7, Ordering::Release);
}

/// The program may have a copy of the fast path now.
pub fn near_crossing() {
    let all = &__flick_debugger;
    let last = std::slice::from_ref(&all.near_called_by_signature);
    for (field, value) in all
        .near
        .iter()
        .chain(last)
        .zip(crossing_code::near_crossing())
    {
        field.store(value, Ordering::Relaxed);
    }
}

/// There is code that harts of a card execute and a debugger shows.
pub fn shown_code() {
    let all = &__flick_debugger;
    let called = crossing_code::called_on_card();
    for (field, value) in all.card_called.iter().zip(called) {
        field.store(value, Ordering::Relaxed);
    }
    all.hart_bias
        .store(flick_translator::HART_BIAS as u64, Ordering::Relaxed);
    translator();
}

/// The translator is there, if this process has one.
pub fn translator() {
    let all = &__flick_debugger;
    for (field, value) in all.translated.iter().zip(translation::code()) {
        field.store(value, Ordering::Relaxed);
    }
    all.states.store(translation::states(), Ordering::Relaxed);
}

/// The caller holds the lock of the modules' table.
pub fn add(module: *const Module) {
    let head = &__flick_debugger.modules;
    let node = Node {
        module,
        next: AtomicPtr::new(head.load(Ordering::Relaxed)),
    };
    head.store(Box::into_raw(Box::new(node)), Ordering::Release);
}

/// The caller holds the lock of the modules' table.
pub fn remove(module: *const Module) {
    let mut link = &__flick_debugger.modules;
    loop {
        let node = link.load(Ordering::Relaxed);
        if node.is_null() {
            return;
        }
        // SAFETY: nodes in the list are alive; the lock keeps others away.
        let found = unsafe { &*node };
        if ptr::eq(found.module, module) {
            link.store(found.next.load(Ordering::Relaxed), Ordering::Release);
            // SAFETY: made by `add`, and out of the list.
            drop(unsafe { Box::from_raw(node) });
            return;
        }
        link = &found.next;
    }
}
