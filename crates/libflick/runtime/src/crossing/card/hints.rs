//! `flick_hint` in NxP code on the card: what its next instructions need (`docs/migration.md`, "Hints"). The
//! code does not call the host for that: its owner sees where it goes, and the kernel gets the hint.
use std::ffi::{c_int, c_uint};
use std::ptr;
use std::sync::OnceLock;

use flick_abi::card::hint;
use flick_riscv::register::{A0, RA};

use super::owner::Owner;
use super::tile_place::Place;
use super::tiles;
use crate::os::errno::set_errno;
use crate::os::host_library;
use crate::thread::entered::Entered;

const ALL: u64 = hint::VECTORS | hint::FLOATS | hint::CUSTOM;

/// The function's address, by which code calls it.
static ADDRESS: OnceLock<u64> = OnceLock::new();

/// Learns the address that programs have: it may be in a program without PIE.
pub fn init() {
    ADDRESS.get_or_init(|| {
        let loader = host_library::get().and_then(|library| (library.loader)());
        // SAFETY: the C library's own function, of all loaded libraries.
        let found = loader.map(|loader| unsafe {
            (loader.dlsym)(ptr::null_mut(), c"flick_hint".as_ptr()) as u64
        });
        let found = found.filter(|found| *found != 0);
        found.unwrap_or(flick_hint as *const () as u64)
    });
}

/// Does code that goes to this address give a hint?
#[inline]
pub fn is_call(target: u64) -> bool {
    ADDRESS.get() == Some(&target)
}

/// What becomes of code that has given a hint.
pub enum Taken {
    /// It goes on as before: no hart has what it says.
    Refused,
    /// The kernel of its tile gets this hint.
    Here(u64),
    /// It goes on on another tile.
    On(u16),
}

/// Code has called the function with the registers of `act`, and goes on behind the call.
pub fn take(act: &mut Entered, owner: Owner, place: Place) -> Taken {
    let hart = &mut act.context.hart;
    let what = hart.x[A0] & u64::from(u32::MAX);
    (hart.pc, hart.x[A0]) = (hart.x[RA], 0);
    let is_known = what & !ALL == 0;
    let tile = match what {
        hint::GENERAL => Some(place.own),
        _ if is_known => tiles::for_hint(what, place.tile, place.own),
        _ => None,
    };
    let Some(tile) = tile else {
        hart.x[A0] = -1_i64 as u64;
        set_errno(if is_known { libc::ENOENT } else { libc::EINVAL });
        return Taken::Refused;
    };
    owner.set_hint(what);
    match tile == place.tile {
        true => Taken::Here(what),
        false => Taken::On(tile),
    }
}

/// What the calling thread's next NxP instructions need; without a card, and in host code, it does nothing.
/// -1 with errno EINVAL: no such hint; with ENOENT: no hart of the machine has that.
#[unsafe(no_mangle)]
pub extern "C" fn flick_hint(what: c_uint) -> c_int {
    match u64::from(what) & !ALL {
        0 => 0,
        _ => {
            set_errno(libc::EINVAL);
            -1
        }
    }
}
