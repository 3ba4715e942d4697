//! Binary records. All fields are little-endian; pointers are 64-bit and relocated by the linker.
use crate::Version;
use core::ffi::{c_char, c_void};
use core::mem::{offset_of, size_of};
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

/// Header of an NxP object in section [`crate::names::SEC_NXP`] of a fat object. The payload (a
/// complete RV64 relocatable ELF) follows at `header_size`. `ld -r` concatenates records. Each
/// record starts at a multiple of 16, and the bytes between are zero.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FatHeader {
    /// [`FAT_MAGIC`].
    pub magic: [u8; 8],
    /// The version of this crate that the pass was built with.
    pub abi_version: Version,
    /// Bytes of this header. The payload begins behind them.
    pub header_size: u32,
    /// Bytes of the payload.
    pub payload_size: u64,
    /// XXH3-64 of the payload. It is the record's checksum and the name of the unit.
    pub unit_id: u64,
}
/// The first bytes of a [`FatHeader`].
pub const FAT_MAGIC: [u8; 8] = *b"FLKNXP1\0";
const _: () = assert!(size_of::<FatHeader>() == 32);

/// Each compiled unit that places a function or variable has one in [`crate::names::SEC_UNITS`]. It
/// shows the link step which units the host linker has kept.
#[repr(C)]
pub struct Unit {
    /// [`FatHeader::unit_id`] of the unit's NxP object.
    pub unit_id: u64,
    /// Address of [`crate::names::LINK_GUARD`]: only a Flick link defines it.
    pub guard: *const c_void,
}
const _: () = assert!(size_of::<Unit>() == 16);

/// Each function with NxP code that can be entered from outside its unit has one in
/// [`crate::names::SEC_GATES`].
#[repr(C)]
pub struct Gate {
    /// The gate jumps here with this record's address in r11. The link sets `__flick_lazy`. The
    /// registration of the module sets the crossing, the image address (trigger `fault`) or the
    /// host clone.
    pub target: AtomicPtr<c_void>,
    /// The function's first instruction in the image.
    pub image: *const c_void,
    /// The function's one address, through a local label: the gate, or for [`GATE_BOTH`] the host
    /// copy.
    pub entry: *const c_void,
    /// The host clone of the function, or for [`GATE_BOTH`] the same as `entry`.
    pub twin: *const c_void,
    /// The linker's name of the function, NUL-terminated. With [`GATE_TILE`] the name of a tile is behind
    /// it, NUL-terminated, too.
    pub name: *const c_char,
    /// See [`crate::signature`]. The registration of the module puts a copy of the text in its place,
    /// if the function is called by it.
    pub signature: AtomicPtr<c_char>,
    /// `GATE_*` bits; zero marks an empty record.
    pub flags: u32,
    /// Calls that ran the host clone because the module was not registered yet.
    pub early_calls: AtomicU32,
    /// The address of the function's translation, or 0 as long as there is none. The link sets it if
    /// it has translated the image ([`crate::names::CODE_PREFIX`]).
    pub code: AtomicU64,
}
const _: () = assert!(size_of::<Gate>() == 64);

/// Placed on the NxP: `entry` is a gate.
pub const GATE_NXP: u32 = 1;
/// Placed on both sides: `entry` is the host copy; NxP code that calls it runs the NxP copy.
pub const GATE_BOTH: u32 = 2;
/// Both calling conventions pass this signature in the same registers in the same order: at most
/// six integer and eight floating arguments in vector registers, none of them a `float` (a `float`
/// is boxed on the NxP, a pair of them is not), and nothing on the stack.
pub const GATE_PLAIN: u32 = 4;
/// The function has a variadic definition. Its NxP code expects in t2 a `va_list` of the host's
/// layout (psABI 3.5.7), past the named arguments. So NxP code that does not know the definition
/// calls the function by way of the host.
pub const GATE_VARIADIC: u32 = 8;

/// Since version 1.8: a machine with several tiles runs the function on that of the name behind
/// [`Gate::name`]. NxP code of other tiles calls it by its address. Only with [`GATE_NXP`].
pub const GATE_TILE: u32 = 16;
/// With [`GATE_TILE`]: a placement file names the tile, and not a mark.
pub const GATE_TILE_BY_FILE: u32 = 32;

/// A function of an image. The table is sorted by `offset` and has every function symbol of the
/// linked image.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FuncEntry {
    /// Offset of the function's first instruction in the image, in bytes.
    pub offset: u32,
    /// Bytes of the function's code.
    pub size: u32,
    /// Offset in the module's string table of the name for people: the name in the source, without
    /// prefixes, and demangled if it is a C++ name.
    pub name: u32,
    /// Offset in the image of the word that holds the address of its personality routine (host
    /// code). 0: it has none.
    pub personality: u32,
}
const _: () = assert!(size_of::<FuncEntry>() == 16);

/// The registers in which a function of an image receives its arguments, returns its results, and
/// passes arguments to the functions that it calls. The table is sorted by `offset`. A function
/// whose registers are not certain has no record. In the sets, bits 0 to 7 are a0 to a7, and bits 8
/// to 15 are fa0 to fa7. A set may be too large.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// Offset of the function's first instruction in the image, in bytes.
    pub offset: u32,
    /// The set of the registers with arguments.
    pub arguments: u16,
    /// The set of the registers with results.
    pub results: u16,
    /// The arguments of all its calls of functions without a record, together.
    pub calls: u16,
    /// `ARITY_*` bits.
    pub flags: u16,
}
const _: () = assert!(size_of::<Arity>() == 12);

/// The targets of a jump through a register at `offset`: `count` places in its function. They are
/// in the module's table of targets from `first` on, ascending. If `count` is 0, the jump leaves
/// the function, as a tail call. The table is sorted by `offset`. A jump whose targets are not
/// known has no record.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Offset of the jump in the image, in bytes.
    pub offset: u32,
    /// Index of the first target in the module's table of targets.
    pub first: u32,
    /// Number of targets.
    pub count: u32,
}
const _: () = assert!(size_of::<Jump>() == 12);

/// The function reads t2: its static chain, or its `va_list`.
pub const ARITY_HIDDEN: u16 = 1;
/// The function calls a function without a record that may read t2.
pub const ARITY_CALLS_HIDDEN: u16 = 2;

/// A row of an image's line table, which is sorted by `offset`. The row holds up to the next row.
/// If `line` is 0, the line is unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LineEntry {
    /// Offset in the image of the first instruction that the row is for, in bytes.
    pub offset: u32,
    /// Offset of the file name in the module's string table.
    pub file: u32,
    /// The line's number, from 1.
    pub line: u32,
    /// The innermost inlined call that the code belongs to: its index in the module's table plus 1;
    /// 0: none.
    pub inlined: u32,
}
const _: () = assert!(size_of::<LineEntry>() == 16);

/// A call of an image that the compiler replaced by the body of its function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct InlinedEntry {
    /// Offset in the module's string table of the function whose body it is.
    pub name: u32,
    /// Offset in the module's string table of the file with the call.
    pub file: u32,
    /// 0: unknown.
    pub line: u32,
    /// The inlined call around this one, as [`LineEntry::inlined`]; smaller than its own.
    pub parent: u32,
}
const _: () = assert!(size_of::<InlinedEntry>() == 16);

/// How to find the caller's frame, from `offset` up to the next row's. The table is sorted.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnwindEntry {
    /// Offset in the image of the first instruction that the row is for, in bytes.
    pub offset: u32,
    /// The canonical frame address (the caller's sp) is sp, or with [`UNWIND_BY_FP`] s0, plus this.
    pub cfa: i32,
    /// Offset of the saved return address from the canonical frame address. 0: it is still in ra.
    pub ra: i16,
    /// Offset of the saved s0 from the canonical frame address. 0: it is still in s0.
    pub fp: i16,
    /// `UNWIND_*` bits; from [`UNWIND_SAVED_SHIFT`] on, the row's place in the module's table of
    /// [`SavedRegisters`].
    pub flags: u32,
}
const _: () = assert!(size_of::<UnwindEntry>() == 16);

/// A bit of [`UnwindEntry::flags`]: the canonical frame address counts from s0, and not from sp.
pub const UNWIND_BY_FP: u32 = 1;
/// Nothing is known here.
pub const UNWIND_UNKNOWN: u32 = 2;
/// The lowest bit of the row's place in the table of [`SavedRegisters`].
pub const UNWIND_SAVED_SHIFT: u32 = 8;

/// The offsets of a caller's saved registers from the canonical frame address of the frame that
/// saved them. 0: the value is still in the register. The first record of a module's table has
/// nothing saved.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SavedRegisters {
    /// s0 to s11.
    pub s: [i16; 12],
    /// fs0 to fs11.
    pub fs: [i16; 12],
}
const _: () = assert!(size_of::<SavedRegisters>() == 48);

/// Numbers of the registers that RV64 functions keep for their callers (RISC-V psABI), in the order
/// of [`SavedRegisters`]. They are the same for both register files.
pub const SAVED_NUMBERS: [u8; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

/// The state of NxP code for the second return of `setjmp`. It is in the frame of the function that
/// calls `setjmp`, as long as a `longjmp` may go there.
#[repr(C)]
pub struct JumpTarget {
    /// The host's rbx. The `jmp_buf` holds the address of this record in its place.
    pub rbx: u64,
    /// The address at which the crossing takes the second return.
    pub resume: u64,
    /// The NxP's ra: where NxP code goes on.
    pub ra: u64,
    /// The NxP's sp.
    pub sp: u64,
    /// [`SAVED_NUMBERS`] of both register files.
    pub s: [u64; 12],
    /// fs0 to fs11, by [`SAVED_NUMBERS`].
    pub fs: [u64; 12],
}
const _: () = assert!(size_of::<JumpTarget>() == 8 * 28);

/// The translation of an image to code of the host, which the link has made. Offsets count from the
/// start of the code.
#[repr(C)]
pub struct Translation {
    /// [`TRANSLATION_ABI`] of the translator.
    pub abi: u32,
    /// `size_of::<Translation>()` in the version that made it.
    pub size: u32,
    /// [`Module::image_id`] of the image that was translated.
    pub image_id: u64,
    /// Position-independent code of the host.
    pub code: *const u8,
    /// Bytes.
    pub code_size: u64,
    /// Sorted by `guest` and by `code`.
    pub pieces: *const TranslatedPiece,
    /// Records in `pieces`.
    pub piece_count: u64,
    /// Where the guest's registers are at each instruction that may fault (`docs/records.md`).
    pub states: *const u8,
    /// Bytes.
    pub states_size: u64,
    /// A cell has the host address of what to call for a word of the image that names a function
    /// outside of it. As long as that is not known, it has the address of its binder. In version 1
    /// of [`TRANSLATION_ABI`], it has 0.
    pub cells: *const AtomicU64,
    /// Words in `cells`.
    pub cell_count: u64,
    /// Sorted by `guest`: where NxP code goes on within a piece.
    pub entries: *const TranslatedEntry,
    /// Records in `entries`.
    pub entry_count: u64,
    /// XXH3-64 of the translation as the translator has made it: the code with zeros where the
    /// linker fills in displacements, the pieces, the entries, the records of registers. Tools
    /// alone read it. A record of [`TRANSLATION_SIZE_AT_LEAST`] bytes lacks it.
    pub stamp: u64,
    /// Since version 2 of [`TRANSLATION_ABI`]: the binder of the first cell, code that fills the
    /// cell. The binder of the next cell is [`BINDER_SIZE`] bytes further.
    pub binders: u64,
    /// The leaves that the host may call without a crossing, sorted: the [`TranslatedPiece::guest`] of
    /// each. Records of [`SIZE_WITHOUT_LEAVES`] bytes lack it.
    pub leaves: *const u32,
    /// Offsets in `leaves`.
    pub leaf_count: u64,
}
/// Bytes from a cell's binder to the next cell's.
pub const BINDER_SIZE: u64 = 16;
/// The smallest [`Translation::size`]. Later versions add fields at the end.
pub const TRANSLATION_SIZE_AT_LEAST: usize = 96;
/// The size of records that end before [`Translation::leaves`].
pub const SIZE_WITHOUT_LEAVES: usize = offset_of!(Translation, leaves);
/// Larger records are damaged.
const TRANSLATION_SIZE_AT_MOST: usize = 4096;
const _: () = assert!(size_of::<Translation>() == 128 && SIZE_WITHOUT_LEAVES == 112);
const _: () = assert!(offset_of!(Translation, stamp) == TRANSLATION_SIZE_AT_LEAST);

/// Number of the agreement between translated code and runtime: the layout of the hart, the guest's
/// registers in the host's, the functions of [`crate::names::TRANSLATION_WORDS`], cells, records of
/// registers.
///
/// | version | runtime's from | change |
/// |---|---|---|
/// | 1 | 1.6 | |
/// | 2 | 1.6 | cells are never 0 |
/// | 3 | 1.6 | sp goes to the hart where it goes down, and who leaves translated code stores it |
pub const TRANSLATION_ABI: u32 = 3;

/// The sizes that a record of this version of [`TRANSLATION_ABI`] may have; `None`: runtimes do not
/// run the version. Records of version 1 end before `binders`.
pub fn translation_sizes(abi: u32) -> Option<Range<usize>> {
    match abi {
        1 => Some(TRANSLATION_SIZE_AT_LEAST..SIZE_WITHOUT_LEAVES),
        2..=TRANSLATION_ABI => Some(SIZE_WITHOUT_LEAVES..TRANSLATION_SIZE_AT_MOST + 1),
        _ => None,
    }
}

/// The code for one entry of an image.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslatedPiece {
    /// Offset in the image of the instruction where it is entered.
    pub guest: u32,
    /// Its first instruction.
    pub code: u32,
    /// Bytes of instructions.
    pub size: u32,
    /// Offset in the records of registers; they end where the next piece's begin.
    pub states: u32,
    /// Bytes of a frame on the host's stack, without the return address.
    pub frame: u32,
}
const _: () = assert!(size_of::<TranslatedPiece>() == 20);

/// A place in a piece at which NxP code goes on after the host's frames were cut off.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslatedEntry {
    /// Offset in the image.
    pub guest: u32,
    /// With [`ENTRY_BEHIND_CALL`]: behind a call, within the piece's frame. Otherwise it is entered
    /// as a piece is.
    pub code: u32,
}
const _: () = assert!(size_of::<TranslatedEntry>() == 8);

/// The highest bit of [`TranslatedEntry::code`].
pub const ENTRY_BEHIND_CALL: u32 = 1 << 31;

/// The description of a program or shared library with an image, for the runtime. The image link
/// makes one per module, the hidden symbol `__flick_module`. A pointer pair is a half-open range.
#[repr(C)]
pub struct Module {
    /// [`MODULE_MAGIC`].
    pub magic: [u8; 8],
    /// The version of this crate that the link was made with.
    pub abi_version: Version,
    /// `size_of::<Module>()` in the version that made it.
    pub size: u32,
    /// The first byte of the image.
    pub image: *const u8,
    /// Bytes of the image.
    pub image_size: u64,
    /// The executable part of the image, as offsets.
    pub text_offset: u64,
    /// Bytes of the executable part.
    pub text_size: u64,
    /// The functions, sorted by offset.
    pub funcs: *const FuncEntry,
    /// Number of functions.
    pub func_count: u64,
    /// The line table, sorted by offset. It is empty without debug information.
    pub lines: *const LineEntry,
    /// Number of rows of the line table.
    pub line_count: u64,
    /// The string table: NUL-terminated strings, which other tables name by their offsets.
    pub strings: *const c_char,
    /// Bytes of the string table.
    pub strings_size: u64,
    /// The first gate of the module.
    pub gates: *const Gate,
    /// The end of the gates.
    pub gates_end: *const Gate,
    /// The first byte of the marked variables (`FLICK_NXP_DATA`).
    pub nxp_data: *const u8,
    /// The end of the marked variables.
    pub nxp_data_end: *const u8,
    /// ISA string of the image, NUL-terminated.
    pub march: *const c_char,
    /// XXH3-64 of the image before relocation.
    pub image_id: u64,
    /// The inlined calls, to which [`LineEntry::inlined`] leads.
    pub inlined: *const InlinedEntry,
    /// Number of inlined calls.
    pub inlined_count: u64,
    /// The rows of unwind information, sorted by offset.
    pub unwind: *const UnwindEntry,
    /// Number of these rows.
    pub unwind_count: u64,
    /// Since version 1.1.
    pub saved: *const SavedRegisters,
    /// Number of records in `saved`.
    pub saved_count: u64,
    /// Since version 1.3.
    pub arity: *const Arity,
    /// Number of records in `arity`.
    pub arity_count: u64,
    /// Since version 1.5.
    pub jumps: *const Jump,
    /// Number of records in `jumps`.
    pub jumps_count: u64,
    /// Offsets in the image.
    pub targets: *const u32,
    /// Number of offsets in `targets`.
    pub targets_count: u64,
    /// Since version 1.6. Null: the image has no translation.
    pub translation: *const Translation,
    /// The copy of the crossing's fast path in the same program or library. Null: there is none.
    pub near: *const NearCrossing,
    /// Since version 1.9: where data of tiles is. Null: there is none.
    pub tile_data: *const TileData,
    /// The end of these records.
    pub tile_data_end: *const TileData,
}

/// The marked variables of a tile (`FLICK_NXP_DATA_ON`). Each unit that has some has a record in
/// [`crate::names::SEC_TILE_DATA`], so there may be several of a tile. All of them say the same.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TileData {
    /// The first byte. Null: the link has dropped the variables.
    pub start: *const u8,
    /// The end.
    pub end: *const u8,
    /// The name of the tile, NUL-terminated.
    pub tile: *const c_char,
}
const _: () = assert!(size_of::<TileData>() == 24);

/// A copy of the fast path of the crossing, in `flickcrt.o`: near the gates and the translated code
/// that enter it. Places are distances from this record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NearCrossing {
    /// Stands for the code and all layouts that it knows. A runtime with another number uses its own
    /// copy.
    pub number: u64,
    /// Where gates enter.
    pub entry: i32,
    /// Where translated code calls the host.
    pub host_call: i32,
    /// The call of the host function.
    pub calls: i32,
    /// Where the host function returns to.
    pub called: i32,
    /// The end of the code, which begins at `entry`.
    pub end: i32,
    /// The words through which the code reaches the runtime, which sets them.
    pub words: i32,
    /// Where gates of functions with a signature enter.
    pub signature: i32,
    /// Where those enter that get the address of an object aligned to 16.
    pub signature_aligned: i32,
    /// Where translated code calls by a signature.
    pub signature_call: i32,
    /// Such a call of the host function.
    pub signature_calls: i32,
    /// Where the host function returns to from it.
    pub signature_called: i32,
    /// The table of the moves of arguments.
    pub moves: i32,
}
const _: () = assert!(size_of::<NearCrossing>() == 56);
/// The first bytes of a [`Module`].
pub const MODULE_MAGIC: [u8; 8] = *b"FLKMOD1\0";
/// `Module::size` of the first minor version. Later versions add fields at the end. A runtime reads
/// no field that a module's size does not cover.
pub const MODULE_SIZE_AT_LEAST: usize = 176;
const _: () = assert!(size_of::<Module>() >= MODULE_SIZE_AT_LEAST);
const _: () = assert!(offset_of!(Module, image) == 16);
const _: () = assert!(offset_of!(Module, gates) == 96);
const _: () = assert!(offset_of!(Module, image_id) == 136);
