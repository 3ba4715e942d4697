//! Modules come and go: `flickcrt.o`'s constructor and destructor register programs and libraries
//! with images. At the first of them the runtime starts.
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

use flick_abi::layout::{GATE_NXP, Gate, MODULE_MAGIC, MODULE_SIZE_AT_LEAST, Module};
use flick_abi::timed::TimedUnit;
use flick_abi::{ABI_VERSION, march};

use crate::accounts::timed::{host_code, nxp_map};
use crate::accounts::{gate_counts, stats};
use crate::config::{self, Trigger};
use crate::crossing::card::tiles;
use crate::crossing::{gate_target, leaf_gates, near_code, slow_path};
use crate::memory::{self, nxp_data};
use crate::modules::{self, Registered, signature_table, signatures, tile_data};
use crate::os::{fatal, one_runtime};
use crate::reports::{debug_code, debugger};
use crate::start::{self, Place};
use crate::thread::{self, crossing_code, vector_states};
use crate::translation::{self, shown_code};

/// Called by each module's constructor, before the module's own.
///
/// # Safety
/// `module` is the module's record, alive until `__flick_unregister`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_register(module: *const Module) {
    // SAFETY: by contract.
    let module = unsafe { &*module };
    validate(module);
    one_runtime::check();
    let place = start::place();
    // SAFETY: the gate range is the module's own section.
    let gates = unsafe { modules::gates_of(module) };
    if place == Place::Nxp {
        announce_vectors(module);
        near_code::adopt(module);
        debugger::near_crossing();
    }
    let target = |gate: &Gate| match place {
        Place::Host if stats::enabled() => slow_path::host_clone_counted_address() as *const _,
        Place::Host => gate.twin,
        Place::Nxp if config::get().trigger == Trigger::Fault => gate.image,
        Place::Nxp => gate_target::of(gate) as *const _,
    };
    if stats::enabled() {
        gate_counts::add(module.gates, module.gates_end);
    }
    if place == Place::Nxp {
        memory::add_data_range(module.nxp_data as usize, module.nxp_data_end as usize);
        nxp_map::add_data(module.nxp_data as usize, module.nxp_data_end as usize);
        for data in tile_data::of(module) {
            memory::add_data_range(data.start, data.end);
            nxp_map::add_data(data.start, data.end);
            // Data that no tile here has is the first one's, as all that has no tile.
            if let Some(tile) = tiles::number_of(data.tile) {
                nxp_data::give_to_tile(tile, data.start, data.end);
            }
        }
        // Another library may have been there, whose functions stayed known as the host's.
        let code = modules::code_of(module, &gates);
        translation::invalidate(&code);
        shown_code::invalidate(&code);
        signature_table::forget(&code);
        // SAFETY: the module is mapped until `__flick_unregister`.
        let mut new = unsafe { Registered::new(module, &gates) };
        if new.refuses_translation(module) {
            // What the link has made is for another runtime or processor.
            gates
                .iter()
                .for_each(|gate| gate.code.store(0, Ordering::Release));
        }
        let mut record = module;
        // The link makes no code for harts of a card.
        if crossing_code::on_card() || !new.has_translation() {
            translation::need();
            debugger::translator();
            if let Some(made) = debug_code::make(module) {
                record = made;
                if crossing_code::on_card() {
                    debugger::shown_code();
                }
                // SAFETY: the record holds as long as the module.
                new = unsafe { Registered::new(made, &gates) };
            }
        }
        signatures::learn(&gates);
        modules::add(new, || debugger::add(record));
        if !ptr::eq(record, module) && !crossing_code::on_card() {
            translation::lead(&gates);
        }
        debug_code::lead_pointers(module);
    }
    if place == Place::Host {
        stats::add_host_gates(&gates);
    }
    if place == Place::Nxp {
        leaf_gates::lead(debug_code::record_of(module));
    }
    let others = |gate: &&&Gate| gate.flags & GATE_NXP != 0 && !leaf_gates::leads(gate);
    for gate in gates.iter().filter(others) {
        gate.target
            .store(target(gate).cast_mut(), Ordering::Release);
    }
}

/// Called by the module's destructor: at exit, or when its library is closed.
///
/// # Safety
/// `module` was registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_unregister(module: *const Module) {
    // SAFETY: by contract; the module is still mapped.
    let module = unsafe { &*module };
    // Destructors that run later (of the program, or of libraries it uses) may still call in: they
    // run on the host then. The image stays known for calls that are under way at exit.
    if modules::are_final() {
        return;
    }
    // SAFETY: the gate range is the module's own section.
    let gates = unsafe { modules::gates_of(module) };
    for gate in gates.iter().filter(|gate| gate.flags & GATE_NXP != 0) {
        gate.target.store(gate.twin.cast_mut(), Ordering::Release);
    }
    stats::absorb(&gates);
    gate_counts::remove(module.gates);
    if start::place() != Place::Nxp {
        return;
    }
    memory::remove_data_range(module.nxp_data as usize, module.nxp_data_end as usize);
    for data in tile_data::of(module) {
        memory::remove_data_range(data.start, data.end);
        if let Some(tile) = tiles::number_of(data.tile) {
            nxp_data::take_from_tile(tile, data.start, data.end);
        }
    }
    let record = debug_code::record_of(module);
    let gone = modules::remove(record, || debugger::remove(record));
    let code = modules::code_of(record, &gates);
    translation::invalidate(&code);
    shown_code::invalidate(&code);
    signature_table::forget(&code);
    signature_table::forget_texts(&code[0]);
    drop(gone);
    debug_code::remove(module);
}

/// Registers a unit of host code that counts its time, before the program's own constructors.
///
/// # Safety
/// `unit` is what the pass has made, and stays loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_timed_unit(unit: *const TimedUnit) {
    // A program without NxP code has no other beginning.
    start::begin();
    // SAFETY: by contract.
    unsafe { host_code::add_unit(unit) };
}

fn validate(module: &Module) {
    if module.magic != MODULE_MAGIC {
        fatal::exit(
            "FLK0308",
            &format!(
                "the image is corrupted: {}: its record does not begin as it should",
                file_of(ptr::from_ref(module).cast()),
            ),
            "build the program again with flick cc",
        );
    }
    let version = module.abi_version;
    if !ABI_VERSION.reads(version) || (module.size as usize) < MODULE_SIZE_AT_LEAST {
        let runtime = file_of(validate as *const c_void);
        let help = if version > ABI_VERSION {
            "run it with the libflick that belongs to it: look for an older one in LD_LIBRARY_PATH or \
             LD_PRELOAD, else install the newer Flick; or link it again with the older flick cc"
        } else {
            "link it again with the flick cc that belongs to this libflick"
        };
        fatal::exit(
            "FLK0401",
            &format!(
                "a program or library and the runtime are of different versions: {}: it was linked \
                 by Flick with format {version}, the runtime {runtime} has {ABI_VERSION}",
                file_of(ptr::from_ref(module).cast()),
            ),
            help,
        );
    }
    // SAFETY: `march` is a C string of the module.
    let isa = unsafe { CStr::from_ptr(module.march) };
    if !isa.to_str().is_ok_and(march::runs) {
        fatal::exit(
            "FLK0401",
            &format!(
                "NxP code for another instruction set: {}: it is for {}, the engine executes \
                 rv64 with {}",
                file_of(ptr::from_ref(module).cast()),
                isa.to_string_lossy(),
                march::EXTENSIONS.join(", "),
            ),
            "compile it again with flick cc, with --nxp-march= of these or without",
        );
    }
}

/// The module may have code with vector instructions, which needs registers that are large enough.
fn announce_vectors(module: &Module) {
    // SAFETY: `march` is a C string of the module.
    let isa = unsafe { CStr::from_ptr(module.march) }.to_string_lossy();
    let Some(least) = march::vector_size(&isa) else {
        return;
    };
    let wanted = config::get().vlen;
    let Err(vlen) = vector_states::announce(least, wanted, thread::vector_state_of) else {
        return;
    };
    let help = match wanted {
        Some(_) => "leave FLICK_VLEN away, or set it to as many bits at least",
        None => {
            "set FLICK_VLEN to as many bits at least: NxP code has run with smaller ones already"
        }
    };
    fatal::exit(
        "FLK0401",
        &format!(
            "NxP code for larger vector registers: {}: it is for {isa} and needs {least} bits, the \
             engine's have {vlen}",
            file_of(ptr::from_ref(module).cast()),
        ),
        help,
    );
}

/// The program or library that `address` is in.
fn file_of(address: *const c_void) -> String {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr only reads the loader's tables and fills the record; its name is a C string.
    unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) != 0 && !info.assume_init().dli_fname.is_null()
        {
            return CStr::from_ptr(info.assume_init().dli_fname)
                .to_string_lossy()
                .into_owned();
        }
    }
    "this program".into()
}
