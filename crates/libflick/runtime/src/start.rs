//! The start of the runtime, in its order. It happens once, at the first module or at the first
//! unit of host code that counts its time, before the program's own constructors.
use std::ffi::c_int;
use std::sync::OnceLock;

use flick_abi::card::RootCall;

use crate::accounts::{device_check, stats, timed};
use crate::config::{self, Backend, Config, Engine, Offload, Statistics};
use crate::crossing::{card, fast_path, signal_handler};
use crate::os::{fatal, one_runtime};
use crate::reports::debugger;
use crate::signals::dispositions;
use crate::thread::{self, crossing_code};
use crate::{forks, heap, modules, translation};

/// Where the NxP's functions run in this process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Nxp,
    Host,
}

/// Starts the runtime, if no module has come yet.
pub fn begin() {
    place();
}

/// Whether NxP code runs on the NxP. The first call starts the runtime.
pub fn place() -> Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    *PLACE.get_or_init(start)
}

/// The order of start-up.
fn start() -> Place {
    let config = config::get();
    forks::install();
    let place = choose_place(config);
    open_accounts(config, place);
    if place == Place::Nxp && config.backend == Backend::Card {
        card::init(config);
    }
    make_translator(config, place);
    if timed::enabled() {
        timed::order::kept_timers::started();
    }
    // SAFETY: a plain function of the right type, which lives as long as the process.
    unsafe { libc::atexit(modules::exiting) };
    if place == Place::Nxp {
        fast_path::init();
        debugger::init(crossing_code::on_card().then(card::shown));
        thread::init();
        dispositions::init(signal_handler::handle);
        modules::main_text();
    }
    place
}

/// Makes NxP-local memory, if NxP code is to run there and can.
fn choose_place(config: &Config) -> Place {
    if config.offload == Offload::Off {
        return Place::Host;
    }
    match able() {
        Ok(()) => Place::Nxp,
        Err((why, help)) if config.offload == Offload::Require => fatal::exit(
            "FLK0403",
            &format!("FLICK_OFFLOAD=require, but NxP code cannot run: {why}"),
            &format!("{help}, or run with FLICK_OFFLOAD=auto"),
        ),
        Err((why, _)) => {
            stats::set_fallback(&why);
            Place::Host
        }
    }
}

/// Whether NxP code can run here; if not, why, and what would help.
fn able() -> Result<(), (String, &'static str)> {
    if one_runtime::in_own_namespace() {
        return Err((
            "the library was loaded into a namespace of its own (dlmopen)".into(),
            "load the library by dlopen",
        ));
    }
    heap::init().map_err(|error| {
        let help = "give the program more address space (ulimit -v)";
        (format!("[FLK0402] {error}"), help)
    })
}

/// Opens the accounts that the settings ask for. They decide which crossing gates enter.
fn open_accounts(config: &Config, place: Place) {
    if config.check_device && place == Place::Nxp {
        device_check::init();
    }
    if config.statistics != Statistics::Off {
        stats::init(config.statistics.clone());
    }
    if let Some(platform) = &config.platform {
        // Data that the program puts into NxP-local memory is there without offload, too: what it
        // costs the host is the baseline. Where there is none, all of it is the host's.
        let _ = heap::init();
        timed::init(platform);
    }
    if stats::enabled() || device_check::enabled() || timed::enabled() {
        crossing_code::count();
    }
}

/// Makes the translator, unless something has to see each instruction.
fn make_translator(config: &Config, place: Place) {
    let is_whole = config.check_device || timed::enabled();
    if place == Place::Nxp && !is_whole {
        match crossing_code::on_card() {
            true => translation::budgeted_code::init(),
            false => translation::init(),
        }
    }
    if config.statistics != Statistics::Off {
        let engine = match config.engine {
            Engine::Ahead => "ahead",
            _ if translation::code() != [0; 2] => "translate",
            _ => "interp",
        };
        let backend = if crossing_code::on_card() {
            "card"
        } else {
            "inline"
        };
        stats::set_engine(engine, backend);
    }
}

/// For `libflick-files.a`: makes a call of the root role (`docs/host-files.md`), whose results are a0 and a1 of the
/// kernel. 0; or an errno: ENODEV without a card, EINVAL for another call. A program may have no module of its own.
///
/// # Safety
/// `arguments` has six words, and `results` has two. Addresses among the arguments are of the program's memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_root_call(
    number: u64,
    arguments: *const [u64; 6],
    results: *mut [u64; 2],
) -> c_int {
    let Some(number) = RootCall::from_number(number) else {
        return libc::EINVAL;
    };
    // SAFETY: by contract.
    let arguments = unsafe { *arguments };
    let made = match place() {
        Place::Nxp => card::program_calls::make(number, arguments),
        Place::Host => None,
    };
    match made {
        Some(made) => {
            // SAFETY: by contract.
            unsafe { *results = made };
            0
        }
        None => libc::ENODEV,
    }
}
