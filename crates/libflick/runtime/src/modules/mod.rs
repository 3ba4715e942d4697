//! The programs and libraries with images in this process: registered by `flickcrt.o`'s constructor.
use std::ffi::{CStr, c_char, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::layout::{
    Arity, FuncEntry, GATE_BOTH, GATE_NXP, GATE_VARIADIC, Gate, InlinedEntry, Jump, LineEntry,
    MODULE_MAGIC, MODULE_SIZE_AT_LEAST, Module, SavedRegisters, UNWIND_SAVED_SHIFT, UnwindEntry,
};
use flick_abi::{ABI_VERSION, march};
use flick_engine::CodeRegion;
use flick_riscv::Insn;

use crate::config::{self, Offload, Statistics, Trigger};
use crate::sync::SignalSafeLock;
use crate::{
    crossing, debugger, device_check, fatal, memory, signals, single, stats, thread, timed,
    translation,
};

/// A registered module. Lives until its library is closed.
pub struct Registered {
    module: *const Module,
    region: Box<CodeRegion>,
    /// (host address, NxP address), sorted: gates and both-sided functions.
    by_entry: Vec<(u64, u64)>,
    /// (NxP address, gate), sorted: what the host may call in this image.
    by_image: Vec<(u64, *const Gate)>,
}

// SAFETY: the pointers lead to the module's own data, which nobody moves while it is registered.
unsafe impl Send for Registered {}
// SAFETY: as above; gates are read, and written only in atomics.
unsafe impl Sync for Registered {}

static MODULES: SignalSafeLock<Vec<Registered>> = SignalSafeLock::new(Vec::new());
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Changes whenever a module comes or goes.
#[inline]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Called by each module's constructor, before the module's own.
///
/// # Safety
/// `module` is the module's record, alive until `__flick_unregister`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_register(module: *const Module) {
    // SAFETY: by contract.
    let module = unsafe { &*module };
    validate(module);
    single::check();
    let place = place();
    // SAFETY: the gate range is the module's own section.
    let gates = unsafe { gates_of(module) };
    let target = |gate: &Gate| match place {
        Place::Host if stats::enabled() => crossing::twin_counted_address() as *const _,
        Place::Host => gate.twin,
        Place::Nxp if config::get().trigger == Trigger::Fault => gate.image,
        Place::Nxp => crossing::entrance(gate) as *const _,
    };
    if place == Place::Nxp {
        memory::add_data_range(module.nxp_data as usize, module.nxp_data_end as usize);
        timed::host::add_data(module.nxp_data as usize, module.nxp_data_end as usize);
        let text = module.image.wrapping_add(module.text_offset as usize);
        // SAFETY: the image's text is mapped, readable and unchanged while the module is registered.
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
        // Another library may have been there, whose functions stayed known as the host's.
        translation::forget(&code_of(module, &gates));
        MODULES.write(|modules| {
            debugger::add(module);
            modules.push(Registered {
                module,
                region,
                by_entry,
                by_image,
            });
        });
        GENERATION.fetch_add(1, Ordering::Release);
    }
    if place == Place::Host {
        stats::add_host_gates(&gates);
    }
    for gate in gates.iter().filter(|gate| gate.flags & GATE_NXP != 0) {
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
    if EXITING.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: the gate range is the module's own section.
    let gates = unsafe { gates_of(module) };
    for gate in gates.iter().filter(|gate| gate.flags & GATE_NXP != 0) {
        gate.target.store(gate.twin.cast_mut(), Ordering::Release);
    }
    stats::absorb(&gates);
    if place() != Place::Nxp {
        return;
    }
    memory::remove_data_range(module.nxp_data as usize, module.nxp_data_end as usize);
    let gone = MODULES.write(|modules| {
        debugger::remove(module);
        let at = modules
            .iter()
            .position(|known| ptr::eq(known.module, module));
        at.map(|at| modules.swap_remove(at))
    });
    GENERATION.fetch_add(1, Ordering::Release);
    translation::forget(&code_of(module, &gates));
    drop(gone);
}

static EXITING: AtomicU64 = AtomicU64::new(0);

/// From here on modules stay registered: the process is in `exit`.
pub extern "C" fn exiting() {
    EXITING.store(1, Ordering::Relaxed);
}

extern "C" fn before_fork() {
    translation::before_fork();
    MODULES.lock();
    translation::allocator_before_fork();
}

extern "C" fn after_fork_in_parent() {
    translation::allocator_after_fork();
    MODULES.unlock();
    translation::after_fork_in_parent();
}

extern "C" fn after_fork_in_child() {
    translation::allocator_after_fork();
    MODULES.unlock();
    translation::after_fork_in_child();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nxp,
    Host,
}

/// Reads the settings and does what they ask for, if no module has come yet.
pub fn begin() {
    place();
}

/// Decided once, at the first module: whether NxP code runs on the NxP.
fn place() -> Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    *PLACE.get_or_init(|| {
        let config = config::get();
        // Before the other parts register theirs: in the child, handlers run in this order, and
        // those of the statistics read the modules.
        // SAFETY: plain functions of the right types, which live as long as the process.
        unsafe {
            libc::pthread_atfork(
                Some(before_fork),
                Some(after_fork_in_parent),
                Some(after_fork_in_child),
            )
        };
        let place = if config.offload == Offload::Off {
            Place::Host
        } else {
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
        };
        if config.check_device && place == Place::Nxp {
            device_check::init();
        }
        if config.statistics != Statistics::Off {
            stats::init(config.statistics.clone());
        }
        if let Some(platform) = &config.platform {
            // Data that the program puts into NxP-local memory is there without offload, too: what it costs the host is
            // the baseline. Where there is none, all of it is the host's.
            let _ = memory::init();
            timed::init(platform);
        }
        if place == Place::Nxp && !config.check_device && !timed::enabled() {
            translation::init();
        }
        if config.statistics != Statistics::Off {
            let engine = if translation::enabled() {
                "translate"
            } else {
                "interp"
            };
            stats::set_engine(engine, "inline");
        }
        // SAFETY: a plain function of the right type, which lives as long as the process.
        unsafe { libc::atexit(exiting) };
        if place == Place::Nxp {
            debugger::init();
            thread::init();
            signals::init();
            main_text();
        }
        place
    })
}

/// Whether NxP code can run here; if not, why, and what would help.
fn able() -> Result<(), (String, &'static str)> {
    if single::in_own_namespace() {
        return Err((
            "the library was loaded into a namespace of its own (dlmopen)".into(),
            "load the library by dlopen",
        ));
    }
    memory::init().map_err(|error| {
        let help = "give the program more address space (ulimit -v)";
        (format!("[FLK0402] {error}"), help)
    })
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

/// The module's gate records without the empty ones.
///
/// # Safety
/// The module's gate range is mapped for `'a`.
unsafe fn gates_of<'a>(module: &Module) -> Vec<&'a Gate> {
    let count = (module.gates_end as usize - module.gates as usize) / size_of::<Gate>();
    // SAFETY: by contract; records are only changed through their atomics.
    let all = unsafe { std::slice::from_raw_parts(module.gates, count) };
    all.iter()
        .filter(|gate| gate.flags & (GATE_NXP | GATE_BOTH) != 0)
        .collect()
}

/// Where a module has code that NxP code may call: its image, and from its first gate to its last one.
fn code_of(module: &Module, gates: &[&Gate]) -> [Range<u64>; 2] {
    let image = module.image as u64;
    let entries = gates.iter().map(|gate| gate.entry as u64);
    let first = entries.clone().min().unwrap_or_default();
    let end = entries.max().map_or(first, |last| last + 1);
    [image..image + module.image_size, first..end]
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

/// Where the jump through a register at `address` leads, if its compiler has said: to one of these addresses; none
/// of them: out of its function.
pub fn jump(address: u64) -> Option<Vec<u64>> {
    find_in_image(address, |module, offset| {
        if (module.size as usize) < size_of::<Module>() {
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

/// Where the frame that `row` describes keeps its caller's registers; `address` is in the same image.
/// Async-signal-safe.
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

/// The personality routine of the function with the code at `address`: the one that the host's copy of
/// it has. Async-signal-safe.
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

/// # Safety
/// `start` is the first of `count` records, or anything if `count` is 0.
unsafe fn table<'a, T>(start: *const T, count: u64) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(start, count as usize) }
}

/// Executable range of the main program: where a canonical PLT entry can be.
fn main_text() -> (u64, u64) {
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
