//! The tiles of the machine that take programs of the host, and which of them an activation runs on
//! (`docs/card.md`, "Several tiles").
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use flick_abi::card::hint;
use flick_abi::card_interface::{HartRow, TileChoice, TileRow};
use flick_abi::layout::{GATE_TILE, GATE_TILE_BY_FILE, Gate};
use flick_riscv::{Extension, Isa};

use super::card_library::Machine;
use crate::accounts::timed::tile_cores;
use crate::config;
use crate::heap::{blocks, exports, tile_heaps};
use crate::memory;
use crate::modules;
use crate::os::errno::set_errno;
use crate::os::fatal;
use crate::thread::{Current, crossing_code, vector_states};

/// A tile.
struct Tile {
    /// In descriptors.
    number: u16,
    name: CString,
    /// Those of its harts for threads.
    isas: Vec<Isa>,
}

impl Tile {
    fn has(&self, bits: u32) -> bool {
        let mut isas = self.isas.iter();
        isas.any(|&isa| flick_engine::has_instruction(limited(isa), bits))
    }

    /// Has one of its harts what a hint says?
    fn has_hinted(&self, what: u64) -> bool {
        use Extension::{D, V, XFlickCrc, XFlickDot, XFlickGather, XFlickSad, XTheadCmo};
        let all: [(u64, &[Extension]); 3] = [
            (hint::VECTORS, &[V]),
            (hint::FLOATS, &[D]),
            (
                hint::CUSTOM,
                &[XTheadCmo, XFlickDot, XFlickSad, XFlickCrc, XFlickGather],
            ),
        ];
        self.isas.iter().any(|&isa| {
            let isa = limited(isa);
            let has = |some: &[Extension]| some.iter().any(|&one| isa.has(one));
            all.iter().all(|(bit, some)| what & bit == 0 || has(some))
        })
    }
}

/// A hart's ISA, as the code sees it: registers of another size cannot hold the thread's.
pub fn limited(isa: Isa) -> Isa {
    match isa.vlen() == Some(vector_states::vlen()) {
        true => isa,
        false => isa.without_vectors(),
    }
}

static TILES: OnceLock<Vec<Tile>> = OnceLock::new();

/// Learns which there are.
pub fn init(machine: &mut Machine) {
    let mut all = Vec::new();
    let mut row = TileRow::default();
    while machine.tile(all.len(), &mut row) {
        let name = row.name.get(..row.name_size).unwrap_or_default();
        // Names are TOML's, which has no NUL.
        let name = CString::new(name).unwrap_or_default();
        let isas = row.isas.iter().take(row.isa_count);
        all.push(Tile {
            number: row.number,
            name,
            isas: isas.map(|&bits| Isa::from_bits(bits)).collect(),
        });
    }
    let mut harts = Vec::new();
    let mut row = HartRow::default();
    while machine.hart(harts.len(), &mut row) {
        let name = row.name.get(..row.name_size).unwrap_or_default();
        harts.push(CString::new(name).unwrap_or_default());
    }
    let known = all
        .iter()
        .map(|tile| (tile.number, tile.name.to_str().unwrap_or_default()));
    tile_cores::learn(&known.collect::<Vec<_>>());
    TILES.get_or_init(|| all);
    NAMES.get_or_init(|| Names::of(harts));
}

/// Names for a debugger's script, as C strings: of tiles and of harts, by their numbers.
struct Names {
    harts: Vec<CString>,
    all: [Vec<*const c_char>; 2],
}

// SAFETY: the pointers lead to strings that live as long as the process.
unsafe impl Send for Names {}
// SAFETY: as above.
unsafe impl Sync for Names {}

static NAMES: OnceLock<Names> = OnceLock::new();

impl Names {
    fn of(harts: Vec<CString>) -> Self {
        let tiles = all().iter().map(|tile| usize::from(tile.number) + 1);
        let mut names = vec![c"".as_ptr(); tiles.max().unwrap_or(0)];
        for tile in all() {
            names[usize::from(tile.number)] = tile.name.as_ptr();
        }
        let of_harts = harts.iter().map(|name| name.as_ptr()).collect();
        Self {
            harts,
            all: [names, of_harts],
        }
    }
}

/// The name of a hart, with its tile's.
pub fn hart_name(hart: u32) -> &'static CStr {
    let names = NAMES.get().and_then(|names| names.harts.get(hart as usize));
    names.map_or(c"", CString::as_c_str)
}

/// For a debugger's script: where pointers to the names of tiles are, how many, and the same of harts.
pub fn names() -> [u64; 4] {
    let all = NAMES.get().map(|names| &names.all);
    let place = |n: usize| all.map_or((0, 0), |all| (all[n].as_ptr() as u64, all[n].len() as u64));
    let (tiles, harts) = (place(0), place(1));
    [tiles.0, tiles.1, harts.0, harts.1]
}

fn all() -> &'static [Tile] {
    TILES.get().map_or(&[], |all| all)
}

/// The machine's first tile that takes programs of the host: that of activations without another one.
pub fn first() -> u16 {
    all().first().map_or(0, |tile| tile.number)
}

/// The number of the tile of this name; `None`: the machine has none, or there is no card.
pub fn number_of(name: &CStr) -> Option<u16> {
    let found = all().iter().find(|known| known.name.as_c_str() == name);
    found.map(|tile| tile.number)
}

/// The tile for an instruction that no hart of `tile` has: the activation's own, or the first one. `None`:
/// some hart of `tile` has it, or no tile.
#[cold]
pub fn for_instruction(bits: u32, tile: u16, own: u16) -> Option<u16> {
    let has = |number| {
        all()
            .iter()
            .any(|one| one.number == number && one.has(bits))
    };
    if has(tile) {
        return None;
    }
    if has(own) {
        return Some(own);
    }
    all().iter().find(|one| one.has(bits)).map(|one| one.number)
}

/// The tile for code with a hint: `tile`, where it is, the activation's own, or the first one. `None`: no hart
/// has what it says.
pub fn for_hint(what: u64, tile: u16, own: u16) -> Option<u16> {
    let has = |number: &u16| {
        let found = all().iter().find(|one| one.number == *number);
        found.is_some_and(|one| one.has_hinted(what))
    };
    let numbers = all().iter().map(|one| one.number);
    [tile, own].into_iter().chain(numbers).find(has)
}

/// Has any hart of the machine this instruction? Async-signal-safe.
pub fn have_instruction(bits: u32) -> bool {
    all().iter().any(|tile| tile.has(bits))
}

/// The tile on which the gate's function begins when the host calls it, and why.
#[inline]
pub fn choose(gate: &Gate, thread: Current) -> (u16, TileChoice) {
    if gate.flags & GATE_TILE != 0 {
        return named(gate);
    }
    match thread.preferred_tile() {
        Some(tile) => (tile, TileChoice::Preferred),
        None => (
            all().first().map_or(0, |first| first.number),
            TileChoice::Default,
        ),
    }
}

/// The tile of a function that has one.
fn named(gate: &Gate) -> (u16, TileChoice) {
    let why = match gate.flags & GATE_TILE_BY_FILE {
        0 => TileChoice::Marked,
        _ => TileChoice::Placed,
    };
    // SAFETY: the gate is a registered module's.
    match unsafe { modules::tile_of(gate) }.and_then(number_of) {
        Some(number) => (number, why),
        None => no_such_tile(gate, why),
    }
}

/// Does a function with this NxP code, which NxP code of `tile` calls by its address, run elsewhere?
#[inline]
pub fn is_elsewhere(code: u64, tile: u16) -> bool {
    modules::have_tiles() && is_of_another(code, tile)
}

#[cold]
fn is_of_another(code: u64, tile: u16) -> bool {
    let Some(gate) = modules::gate_of_image(code) else {
        return false;
    };
    // SAFETY: its module is registered, as long as its code can be called.
    let name = unsafe { modules::tile_of(&*gate) };
    // What no tile has is refused where it is entered.
    name.is_some_and(|name| number_of(name) != Some(tile))
}

#[cold]
fn no_such_tile(gate: &Gate, why: TileChoice) -> ! {
    // SAFETY: the gate is a registered module's.
    let name = unsafe { modules::tile_of(gate) }.unwrap_or_default();
    let by = match why {
        TileChoice::Placed => "a placement file",
        _ => "its mark",
    };
    let tiles: Vec<_> = all()
        .iter()
        .map(|tile| tile.name.to_string_lossy())
        .collect();
    fatal::exit(
        "FLK0512",
        &format!(
            "{} is to run on the tile {name:?} by {by}, which the machine {} does not have; it has {}",
            function_of(gate),
            config::get().machine,
            tiles.join(", "),
        ),
        "name a machine with this tile by FLICK_MACHINE, or run without FLICK_BACKEND: inline, all \
         tiles are the one NxP",
    )
}

/// The gate's function and where it is, for people.
fn function_of(gate: &Gate) -> String {
    // SAFETY: strings of a registered module.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy();
    match modules::innermost(gate.image as u64) {
        Some(place) if !place.file.is_null() => format!(
            "{} at {}:{}",
            text(place.function),
            text(place.file),
            place.line
        ),
        Some(place) => text(place.function).into_owned(),
        None => text(gate.name).into_owned(),
    }
}

/// Chooses the tile for functions without one that the calling thread calls from now on; NULL: the
/// machine's first. -1 with errno ENOENT: the machine has none of this name.
///
/// # Safety
/// NULL or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flick_prefer(tile: *const c_char) -> c_int {
    if !crossing_code::on_card() {
        return 0;
    }
    // SAFETY: by contract.
    let Some(number) = (unsafe { number_of_text(tile) }) else {
        return -1;
    };
    Current::get_or_make().prefer_tile(number);
    0
}

/// The tile of a name of C's, or none for NULL. `None`, and errno is ENOENT: the machine lacks it.
///
/// # Safety
/// NULL or a string.
unsafe fn number_of_text(text: *const c_char) -> Option<Option<u16>> {
    if text.is_null() {
        return Some(None);
    }
    // SAFETY: by contract.
    let number = number_of(unsafe { CStr::from_ptr(text) });
    if number.is_none() {
        set_errno(libc::ENOENT);
    }
    number.map(Some)
}

/// NxP-local memory of a tile, as `flick_alloc` gives it; NULL: of the machine's first. NULL with errno
/// ENOENT: the machine has none of this name. Without a card the NxP is one.
///
/// # Safety
/// NULL or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flick_alloc_on(tile: *const c_char, size: usize) -> *mut c_void {
    let mut number = None;
    if crossing_code::on_card() {
        // SAFETY: by contract.
        match unsafe { number_of_text(tile) } {
            Some(found) => number = found,
            None => return std::ptr::null_mut(),
        }
    }
    match number {
        Some(number) if blocks::is_open() => blocks::alloc_on(number, size),
        _ => exports::flick_alloc(exports::MEM_NXP, size),
    }
}

/// The name of the tile whose memory this is; NULL: it is not NxP-local, or there is no card.
#[unsafe(no_mangle)]
pub extern "C" fn flick_tile_of(address: *const c_void) -> *const c_char {
    if !crossing_code::on_card() || !memory::is_local(address as usize) {
        return std::ptr::null();
    }
    let tile = tile_heaps::owner_of(address as usize);
    let found = all()
        .iter()
        .find(|one| tile.is_none_or(|tile| tile == one.number));
    found.map_or(std::ptr::null(), |one| one.name.as_ptr())
}
