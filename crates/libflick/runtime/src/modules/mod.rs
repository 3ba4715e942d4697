//! The programs and libraries with images in this process: what is known of their code.
pub(crate) mod address_meaning;
pub(crate) mod argument_moves;
mod module_records;
mod module_translation;
pub(crate) mod signature_table;
pub(crate) mod signatures;
pub(crate) mod tile_data;

use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flick_abi::layout::{
    Arity, FuncEntry, GATE_BOTH, GATE_NXP, GATE_TILE, GATE_VARIADIC, Gate, InlinedEntry, Jump,
    LineEntry, Module, SavedRegisters, UNWIND_SAVED_SHIFT, UnwindEntry,
};
use flick_engine::CodeRegion;
use flick_riscv::Insn;

use crate::locks::signal_safe::SignalSafeLock;

use module_records::table;
use module_translation::ModuleTranslation;
pub use module_translation::{ModuleEntry, TranslatedCode};

/// A registered module. Lives until its library is closed.
pub struct Registered {
    module: *const Module,
    region: Box<CodeRegion>,
    /// (host address, NxP address), sorted: gates and both-sided functions.
    by_entry: Vec<(u64, u64)>,
    /// (NxP address, gate), sorted: what the host may call in this image.
    by_image: Vec<(u64, *const Gate)>,
    /// The module's translation, if this process may run it.
    translation: Option<ModuleTranslation>,
}

// SAFETY: the pointers lead to the module's own data, which nobody moves while it is registered.
unsafe impl Send for Registered {}
// SAFETY: as above; gates are read, and written only in atomics.
unsafe impl Sync for Registered {}

static MODULES: SignalSafeLock<Vec<Registered>> = SignalSafeLock::new(Vec::new());
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// See [`have_tiles`].
static HAVE_TILES: AtomicBool = AtomicBool::new(false);

/// Whether a function of a module that is or was registered has a tile.
#[inline]
pub fn have_tiles() -> bool {
    HAVE_TILES.load(Ordering::Relaxed)
}

/// Changes whenever a module comes or goes.
#[inline]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

impl Registered {
    /// `gates` are the module's.
    ///
    /// # Safety
    /// The module is mapped until it is removed.
    pub(crate) unsafe fn new(module: &Module, gates: &[&Gate]) -> Self {
        let text = module.image.wrapping_add(module.text_offset as usize);
        // SAFETY: the image's text is mapped, readable and unchanged while the module is
        // registered.
        let region = Box::new(unsafe { CodeRegion::new(text as u64, module.text_size) });
        let mut by_entry: Vec<_> = gates
            .iter()
            // NxP code calls these by way of the host, which makes their `va_list`.
            .filter(|gate| gate.flags & GATE_VARIADIC == 0)
            .map(|gate| (gate.entry as u64, gate.image as u64))
            .collect();
        by_entry.sort_unstable();
        let mut by_image: Vec<_> = gates
            .iter()
            .filter(|gate| gate.flags & GATE_NXP != 0)
            .map(|gate| (gate.image as u64, ptr::from_ref(*gate)))
            .collect();
        by_image.sort_unstable();
        if gates.iter().any(|gate| gate.flags & GATE_TILE != 0) {
            HAVE_TILES.store(true, Ordering::Relaxed);
        }
        Self {
            module,
            region,
            by_entry,
            by_image,
            // SAFETY: by contract.
            translation: unsafe { ModuleTranslation::of(module) },
        }
    }
}

impl Registered {
    /// Whether the link has translated the module for this runtime and processor.
    pub(crate) fn has_translation(&self) -> bool {
        self.translation.is_some()
    }

    /// Whether the module has a translation that this process must not run.
    pub(crate) fn refuses_translation(&self, module: &Module) -> bool {
        // SAFETY: the module's record is as its size says.
        let is_there = unsafe { !module_translation::code_range(module).is_empty() };
        is_there && self.translation.is_none()
    }
}

/// Adds a module. `beside` runs with the table locked.
pub(crate) fn add(new: Registered, beside: impl FnOnce()) {
    MODULES.write(|modules| {
        beside();
        modules.push(new);
    });
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Removes a module, if it is known. `beside` runs with the table locked.
pub(crate) fn remove(module: &Module, beside: impl FnOnce()) -> Option<Registered> {
    let gone = MODULES.write(|modules| {
        beside();
        let at = modules
            .iter()
            .position(|known| ptr::eq(known.module, module));
        let gone = at.map(|at| modules.swap_remove(at));
        clear_cells(modules);
        gone
    });
    GENERATION.fetch_add(1, Ordering::Release);
    gone
}

static FINAL: AtomicBool = AtomicBool::new(false);

/// From here on modules stay registered: the process is in `exit`.
pub(crate) extern "C" fn exiting() {
    FINAL.store(true, Ordering::Relaxed);
}

/// Whether modules stay registered from here on.
pub(crate) fn are_final() -> bool {
    FINAL.load(Ordering::Relaxed)
}

/// Keeps everybody out of the table: around `fork`, so that the child finds it free.
pub(crate) fn lock() {
    MODULES.lock();
}

/// After [`lock`], in the parent and in the child.
pub(crate) fn unlock() {
    MODULES.unlock();
}

/// The module's gate records without the empty ones.
///
/// # Safety
/// The module's gate range is mapped for `'a`.
pub(crate) unsafe fn gates_of<'a>(module: &Module) -> Vec<&'a Gate> {
    let count = (module.gates_end as usize - module.gates as usize) / size_of::<Gate>();
    // SAFETY: by contract; records are only changed through their atomics.
    let all = unsafe { std::slice::from_raw_parts(module.gates, count) };
    all.iter()
        .filter(|gate| gate.flags & (GATE_NXP | GATE_BOTH) != 0)
        .collect()
}

/// Where a module has code that NxP code may call: its image, from its first gate to its last one,
/// and the image's translation.
pub(crate) fn code_of(module: &Module, gates: &[&Gate]) -> [Range<u64>; 3] {
    let image = module.image as u64;
    let entries = gates.iter().map(|gate| gate.entry as u64);
    let first = entries.clone().min().unwrap_or_default();
    let end = entries.max().map_or(first, |last| last + 1);
    // SAFETY: the module's record is as its size says.
    let translated = unsafe { module_translation::code_range(module) };
    [image..image + module.image_size, first..end, translated]
}

fn find<T>(f: impl FnMut(&Registered) -> Option<T>) -> Option<T> {
    MODULES.read(|modules| modules.iter().find_map(f))
}

/// What `f` makes of the module in whose image `address` is, and of the offset there.
fn find_in_image<T>(address: u64, mut f: impl FnMut(&Module, u64) -> Option<T>) -> Option<T> {
    find(|known| {
        // SAFETY: a registered module is mapped.
        let module = unsafe { &*known.module };
        let offset = address.checked_sub(module.image as u64)?;
        if offset >= module.image_size {
            return None;
        }
        f(module, offset)
    })
}

/// # Safety
/// The module's tables are as its record says.
unsafe fn function_at(module: &Module, offset: u64) -> Option<&FuncEntry> {
    // SAFETY: by contract.
    let funcs: &[FuncEntry] = unsafe { table(module.funcs, module.func_count) };
    funcs[..funcs.partition_point(|f| u64::from(f.offset) <= offset)].last()
}

fn binary<V: Copy>(sorted: &[(u64, V)], key: u64) -> Option<V> {
    sorted
        .binary_search_by_key(&key, |(k, _)| *k)
        .ok()
        .map(|at| sorted[at].1)
}

/// The NxP code of the function whose host address is `entry`.
pub fn nxp_code_of(entry: u64) -> Option<u64> {
    find(|known| binary(&known.by_entry, entry))
}

/// The gate whose NxP code starts at `address`. Async-signal-safe.
pub fn gate_of_image(address: u64) -> Option<*const Gate> {
    find(|known| binary(&known.by_image, address))
}

/// Does a function with this NxP code belong to a tile?
pub fn belongs_to_tile(code: u64) -> bool {
    // SAFETY: the gate of a registered module.
    let has_tile = |gate: *const Gate| unsafe { (*gate).flags } & GATE_TILE != 0;
    have_tiles() && gate_of_image(code).is_some_and(has_tile)
}

/// The name of the gate's tile, if it has one.
///
/// # Safety
/// The gate's module is mapped for `'a`.
pub unsafe fn tile_of<'a>(gate: &Gate) -> Option<&'a CStr> {
    if gate.flags & GATE_TILE == 0 {
        return None;
    }
    // SAFETY: by contract; the name of a tile is behind that of the function.
    unsafe {
        let name = CStr::from_ptr(gate.name);
        Some(CStr::from_ptr(gate.name.add(name.count_bytes() + 1)))
    }
}

/// Whether `gate` is one that the host may call. Async-signal-safe.
pub fn is_gate(gate: *const Gate) -> bool {
    let ours = |(_, known): &(u64, *const Gate)| ptr::eq(*known, gate);
    find(|known| known.by_image.iter().any(ours).then_some(())).is_some()
}

/// The code region with `address`. It stays valid while its module is registered, which the caller
/// knows because it runs code of it.
pub fn region_of(address: u64) -> Option<*const CodeRegion> {
    find(|known| {
        known
            .region
            .contains(address)
            .then(|| ptr::from_ref(&*known.region))
    })
}

/// Whether `address` lies in any module's image. Async-signal-safe.
pub fn in_image(address: u64) -> bool {
    find_in_image(address, |_, _| Some(())).is_some()
}

/// The whole image with `address`: code and tables.
pub fn image_range(address: u64) -> Option<Range<u64>> {
    find_in_image(address, |module, _| {
        let start = module.image as u64;
        Some(start..start + module.image_size)
    })
}

/// The instruction at `address`, if an image has code there.
pub fn insn_at(address: u64) -> Option<Insn> {
    find(|known| {
        let region = &known.region;
        region.contains(address).then(|| region.insn(address))
    })
}

/// The function with the code at `address`.
pub fn function_range(address: u64) -> Option<Range<u64>> {
    find_in_image(address, |module, offset| {
        // SAFETY: a registered module's tables are as its record says.
        let func = unsafe { function_at(module, offset)? };
        let start = module.image as u64 + u64::from(func.offset);
        let range = start..start + u64::from(func.size);
        range.contains(&address).then_some(range)
    })
}

/// The instruction at `pc`, with 16 or 32 bits. `None`: there is no code of a function.
pub fn instruction_at(pc: u64) -> Option<u32> {
    function_range(pc)?;
    // SAFETY: code of an image, which the host may read. A second half is read only if there is one.
    unsafe {
        let low = u32::from((pc as *const u16).read());
        Some(match low & 3 {
            3 => low | u32::from((pc as *const u16).add(1).read()) << 16,
            _ => low,
        })
    }
}

/// Whether a function of an image starts at `address`.
pub fn is_function(address: u64) -> bool {
    function_range(address).is_some_and(|range| range.start == address)
}

/// The record of the function that starts at `address`, if its compiler has made one.
pub fn arity(address: u64) -> Option<Arity> {
    find_in_image(address, |module, offset| {
        if (module.size as usize) < offset_of!(Module, jumps) {
            return None;
        }
        // SAFETY: a registered module's tables are as its record says.
        let all: &[Arity] = unsafe { table(module.arity, module.arity_count) };
        let at = all.binary_search_by_key(&offset, |f| u64::from(f.offset));
        at.ok().map(|at| all[at])
    })
}

/// Where the jump through a register at `address` leads, if its compiler has said: to one of these
/// addresses; none of them: out of its function.
pub fn jump(address: u64) -> Option<Vec<u64>> {
    find_in_image(address, |module, offset| {
        if (module.size as usize) < offset_of!(Module, translation) {
            return None;
        }
        // SAFETY: a registered module's tables are as its record says.
        let (all, targets): (&[Jump], &[u32]) = unsafe {
            (
                table(module.jumps, module.jumps_count),
                table(module.targets, module.targets_count),
            )
        };
        let at = all.binary_search_by_key(&offset, |jump| u64::from(jump.offset));
        let jump = all[at.ok()?];
        let first = jump.first as usize;
        let mine = targets.get(first..first.checked_add(jump.count as usize)?)?;
        let image = module.image as u64;
        Some(mine.iter().map(|&at| image + u64::from(at)).collect())
    })
}

/// `len` bytes (4 or 8) of an image, which do not change once it is registered.
pub fn constant_at(address: u64, len: u64) -> Option<u64> {
    find_in_image(address, |module, offset| {
        if offset.checked_add(len)? > module.image_size {
            return None;
        }
        // SAFETY: inside the image, which is mapped and readable.
        unsafe {
            Some(match len {
                4 => u64::from((address as *const u32).read_unaligned()),
                _ => (address as *const u64).read_unaligned(),
            })
        }
    })
}

/// How NxP code is entered at `address`, or goes on there, in the translation of its module.
/// Async-signal-safe.
pub fn translated_entry(address: u64) -> Option<ModuleEntry> {
    find(|known| known.translation.as_ref()?.entry(address))
}

/// Calls `f` with the gates of leaves that the host may call without a crossing, of the module with
/// this record or of all modules. Async-signal-safe.
pub fn for_each_leaf(module: Option<*const Module>, mut f: impl FnMut(&Gate)) {
    MODULES.read(|modules| {
        for known in modules {
            let is_meant = module.is_none_or(|module| ptr::eq(known.module, module));
            let (true, Some(translation)) = (is_meant, &known.translation) else {
                continue;
            };
            // Both are in ascending order, and a function may have several gates.
            let mut gates = &known.by_image[..];
            for leaf in translation.leaves() {
                while let [(image, gate), rest @ ..] = gates
                    && *image <= leaf
                {
                    if *image == leaf {
                        // SAFETY: a gate of a registered module.
                        f(unsafe { &**gate });
                    }
                    gates = rest;
                }
            }
        }
    });
}

/// The gate at the address `at`, if it is one of the NxP function at `function`. Async-signal-safe.
pub fn gate_at(at: u64, function: u64) -> Option<*const Gate> {
    find_in_image(function, |module, _| {
        let gates = module.gates as u64..module.gates_end as u64;
        let is_gate =
            gates.contains(&at) && (at - gates.start).is_multiple_of(size_of::<Gate>() as u64);
        let gate = at as *const Gate;
        // SAFETY: in the section of gates of a registered module.
        (is_gate && unsafe { (*gate).image } as u64 == function).then_some(gate)
    })
}

/// The translation in a module with host code at `pc`. Async-signal-safe.
pub fn translation_at(pc: u64) -> Option<TranslatedCode> {
    find(|known| known.translation.as_ref()?.at(pc))
}

/// What calls through cells of modules lead to is looked for again. Call with other threads' NxP code
/// of gone modules ended.
fn clear_cells(modules: &[Registered]) {
    for known in modules {
        if let Some(translation) = &known.translation {
            translation.clear_cells();
        }
    }
}

/// Calls `f` with every gate record of the registered modules.
pub fn for_each_gate(mut f: impl FnMut(&Gate)) {
    MODULES.read(|modules| {
        for known in modules {
            // SAFETY: a registered module is mapped.
            for gate in unsafe { gates_of(&*known.module) } {
                f(gate);
            }
        }
    });
}

/// A function at a place in an image, for people.
#[derive(Clone, Copy)]
pub struct CodePlace {
    pub function: *const c_char,
    /// Null without debug information.
    pub file: *const c_char,
    pub line: u32,
    /// From the start of a real function; `None` for one that was inlined into the next.
    pub offset: Option<u64>,
}

/// Calls `visit` with the functions that the code at `address` belongs to: inlined ones, innermost
/// first, then the real one. Nothing for an address in no image. Async-signal-safe.
pub fn describe(address: u64, mut visit: impl FnMut(CodePlace)) {
    find_in_image(address, |module, offset| {
        // SAFETY: a registered module's tables are as its record says.
        unsafe {
            let func = function_at(module, offset)?;
            let lines: &[LineEntry] = table(module.lines, module.line_count);
            let inlined: &[InlinedEntry] = table(module.inlined, module.inlined_count);
            let text = |at: u32| module.strings.wrapping_add(at as usize);
            let row = lines[..lines.partition_point(|l| u64::from(l.offset) <= offset)].last();
            let mut place = CodePlace {
                function: text(func.name),
                file: ptr::null(),
                line: 0,
                offset: None,
            };
            let at = |place: &mut CodePlace, file: u32, line: u32| {
                let known = line != 0;
                place.file = if known { text(file) } else { ptr::null() };
                place.line = line;
            };
            let mut call = 0;
            if let Some(row) = row {
                at(&mut place, row.file, row.line);
                call = row.inlined as usize;
            }
            while let Some(entry) = call.checked_sub(1).and_then(|call| inlined.get(call)) {
                place.function = text(entry.name);
                visit(place);
                at(&mut place, entry.file, entry.line);
                // Outer calls come first in the table.
                call = (entry.parent as usize).min(call - 1);
            }
            place.function = text(func.name);
            place.offset = Some(offset - u64::from(func.offset));
            visit(place);
            Some(())
        }
    });
}

/// The first of [`describe`]: the function that the author wrote there.
pub fn innermost(address: u64) -> Option<CodePlace> {
    let mut first = None;
    describe(address, |place| {
        first.get_or_insert(place);
    });
    first
}

/// How to leave the frame of the code at `address`. Async-signal-safe.
pub fn unwind_row(address: u64) -> Option<UnwindEntry> {
    find_in_image(address, |module, offset| {
        // SAFETY: a registered module's tables are as its record says.
        unsafe {
            let rows: &[UnwindEntry] = table(module.unwind, module.unwind_count);
            let count = rows.partition_point(|row| u64::from(row.offset) <= offset);
            rows[..count].last().copied()
        }
    })
}

/// Where the frame that `row` describes keeps its caller's registers; `address` is in the same
/// image. Async-signal-safe.
pub fn saved_registers(address: u64, row: &UnwindEntry) -> Option<SavedRegisters> {
    find_in_image(address, |module, _| {
        if (module.size as usize) < offset_of!(Module, arity) {
            return None;
        }
        // SAFETY: a registered module's tables are as its record says.
        unsafe {
            let saved: &[SavedRegisters] = table(module.saved, module.saved_count);
            saved
                .get((row.flags >> UNWIND_SAVED_SHIFT) as usize)
                .copied()
        }
    })
}

/// The personality routine of the function with the code at `address`: the one that the host's copy
/// of it has. Async-signal-safe.
pub fn personality(address: u64) -> Option<*const c_void> {
    find_in_image(address, |module, offset| {
        // SAFETY: as above; the word is the image's, relocated and aligned.
        unsafe {
            let func = function_at(module, offset)?;
            let word = module.image.wrapping_add(func.personality as usize);
            (func.personality != 0).then(|| word.cast::<*const c_void>().read())
        }
    })
    .filter(|routine| !routine.is_null())
}

/// Executable range of the main program: where a canonical PLT entry can be.
pub(crate) fn main_text() -> (u64, u64) {
    static TEXT: OnceLock<(u64, u64)> = OnceLock::new();
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: usize,
        out: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: dl_iterate_phdr passes a valid record; `out` is the tuple below.
        unsafe {
            let info = &*info;
            let out = &mut *out.cast::<(u64, u64)>();
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            for header in headers {
                if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
                    let start = info.dlpi_addr + header.p_vaddr;
                    *out = (out.0.min(start), out.1.max(start + header.p_memsz));
                }
            }
        }
        1
    }
    *TEXT.get_or_init(|| {
        let mut range = (u64::MAX, 0);
        // SAFETY: `first` has the callback's type; the first object is the main program.
        unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut range).cast()) };
        range
    })
}

/// Where the PLT entry at `address` of the main program leads now, if it is one:
/// `[endbr64] [bnd] jmp *slot(%rip)` (x86-64 psABI 5.2).
pub fn plt_slot(address: u64) -> Option<u64> {
    let (start, end) = main_text();
    if address < start || address.checked_add(16)? > end {
        return None;
    }
    // SAFETY: 16 bytes inside the program's own executable segments, which are readable.
    let code = unsafe { std::slice::from_raw_parts(address as *const u8, 16) };
    let mut at = 0;
    if code.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) {
        at += 4;
    }
    if code[at] == 0xf2 {
        at += 1;
    }
    if code[at..].starts_with(&[0xff, 0x25]) {
        let displacement = i32::from_le_bytes(code[at + 2..at + 6].try_into().ok()?);
        let slot = (address + at as u64 + 6).wrapping_add_signed(i64::from(displacement));
        // SAFETY: a jmp through memory right at a function's address reads this word too.
        return Some(unsafe { (slot as *const u64).read_volatile() });
    }
    None
}
