//! What libflick and `libflick-card.so` agree on. That library has the machine on which placed functions
//! run under `FLICK_BACKEND=card` (`docs/card.md`).
//!
//! Both are installed together. The number in the table's name changes with its type.
use core::ffi::{CStr, c_void};

use crate::descriptor::Descriptor;

/// The library's file, beside `libflick.so`.
pub const LIBRARY: &str = "libflick-card.so";
/// The name of a value of type [`Functions`].
pub const FUNCTIONS: &CStr = c"__flick_card_7";

/// What machine there is to be.
#[repr(C)]
pub struct Setup {
    /// The name or file of the machine, as UTF-8, and its bytes.
    pub machine: *const u8,
    /// See `machine`.
    pub machine_size: usize,
    /// The file of the kernel, and its bytes.
    pub kernel: *const u8,
    /// See `kernel`.
    pub kernel_size: usize,
    /// The file of the machine's faults, and its bytes; none: there are no faults.
    pub inject: *const u8,
    /// See `inject`.
    pub inject_size: usize,
    /// The file with the first files of its servers, and its bytes; none: it has no servers.
    pub files: *const u8,
    /// See `files`.
    pub files_size: usize,
    /// Whether the machine takes the times of its file, and shares its clock with the owners.
    pub is_timed: bool,
    /// Room for a reason, which gets a fragment of UTF-8 for people if there is none.
    pub reason: [u8; 512],
    /// Bytes of it.
    pub reason_size: usize,
    /// Gets the bits of a vector register of the harts; 0: no hart has vectors.
    pub vlen: u32,
    /// Gets what all harts execute, as `flick_riscv::Isa::bits` gives it.
    pub isa: u64,
}

/// What comes next in the machine that is not the machine's own.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// `owner` executes its code on `hart`, `budget` instructions at most, or picoseconds in a timed run.
    Run = 0,
    /// `message` is for its owner.
    Message = 1,
    /// Nothing will happen without a further descriptor.
    Idle = 2,
    /// The machine has ended, at `time`, with a status: `message.error`.
    Ended = 3,
    /// It was reset at `time`: its kernel knows no owner any more.
    Reset = 4,
    /// Its harts execute without end, and nothing comes of it.
    Endless = 5,
    /// What comes next is not before the time up to which the machine was to run.
    Later = 6,
}

/// See [`OrderKind`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Which.
    pub kind: OrderKind,
    /// Of [`OrderKind::Run`].
    pub hart: u32,
    /// See `hart`.
    pub owner: u64,
    /// See `hart`.
    pub budget: u64,
    /// The ISA of the hart, as `flick_riscv::Isa::bits` gives it.
    pub isa: u64,
    /// The virtual time at which the hart has come to the code, or the message to the host, or the machine to
    /// its end. Picoseconds since the machine was booted.
    pub time: u64,
    /// Of [`OrderKind::Run`] in a timed run: how long all harts executed code of others, while the owner's
    /// descriptor waited. Picoseconds.
    pub waited: u64,
    /// Of [`OrderKind::Message`].
    pub message: Descriptor,
}

/// What a function has executed on a hart.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RanRow {
    /// The address of its gate.
    pub function: u64,
    /// Calls that began there.
    pub calls: u64,
    /// Instructions.
    pub instructions: u64,
    /// How often it came to an instruction that the hart lacks.
    pub moves: u64,
    /// The hart.
    pub hart: u32,
    /// Why its calls began on the hart's tile.
    pub why: TileChoice,
}

/// Why an activation runs on its tile (`docs/card.md`, "Several tiles").
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TileChoice {
    /// Nothing has chosen another one.
    #[default]
    Default = 0,
    /// The thread has, by `flick_prefer`.
    Preferred = 1,
    /// A mark of the function has.
    Marked = 2,
    /// A placement file has.
    Placed = 3,
    /// No hart of its own tile has an instruction of its.
    Moved = 4,
}

/// A tile that takes programs of the host.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TileRow {
    /// Its name, as UTF-8, and the bytes of it.
    pub name: [u8; 64],
    /// See `name`.
    pub name_size: usize,
    /// Its number in descriptors.
    pub number: u16,
    /// The ISAs of its harts for threads, each once, as `flick_riscv::Isa::bits` gives them.
    pub isas: [u64; 64],
    /// How many these are.
    pub isa_count: usize,
}

impl Default for TileRow {
    fn default() -> Self {
        Self {
            name: [0; 64],
            name_size: 0,
            number: 0,
            isas: [0; 64],
            isa_count: 0,
        }
    }
}

/// What a hart has executed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HartRow {
    /// Its tile and its own name, as UTF-8, and the bytes of it.
    pub name: [u8; 64],
    /// See `name`.
    pub name_size: usize,
    /// Instructions of the kernel, since it has booted.
    pub firmware: u64,
    /// Instructions of owners.
    pub functions: u64,
}

impl Default for HartRow {
    fn default() -> Self {
        Self {
            name: [0; 64],
            name_size: 0,
            firmware: 0,
            functions: 0,
        }
    }
}

/// The cause of no exception, in [`Executed`].
pub const NO_EXCEPTION: u64 = u64::MAX;

/// What an owner has done on a hart that was lent.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Executed {
    /// The hart.
    pub hart: u32,
    /// Instructions.
    pub instructions: u64,
    /// Picoseconds that they have taken, in a timed run.
    pub time: u64,
    /// The hart's fcsr.
    pub fcsr: u64,
    /// The exception that it takes, if that is not [`NO_EXCEPTION`], and its `mtval`.
    pub cause: u64,
    /// See `cause`.
    pub value: u64,
}

/// No time, where there may be one.
pub const NO_TIME: u64 = u64::MAX;

/// What the library does. One thread calls at a time, with all signals blocked. Nothing waits.
#[repr(C)]
pub struct Functions {
    /// Makes the machine, and boots it. False: there is none, for a reason.
    pub open: unsafe extern "C" fn(&mut Setup) -> bool,
    /// A descriptor for the card, which comes at a virtual time in a timed run. False: the ring is full; it
    /// has room again after some `advance`.
    pub send: unsafe extern "C" fn(&Descriptor, time: u64) -> bool,
    /// Runs the machine up to what comes next, or, in a timed run, up to a time ([`NO_TIME`]: without end).
    pub advance: unsafe extern "C" fn(&mut Order, until: u64),
    /// When the machine goes on by itself; [`NO_TIME`]: not without a descriptor, or a hart that is back.
    pub next: unsafe extern "C" fn() -> u64,
    /// Until when the owner of a lent hart, who is at a time, may execute its code in a timed run, if others
    /// are at theirs. That time itself, or one before: the hart has to come back.
    pub until: unsafe extern "C" fn(hart: u32, at: u64, others: u64) -> u64,
    /// Loads the registers of a hart that is lent into a `flick_engine::Hart`: x, f and pc.
    pub registers: unsafe extern "C" fn(hart: u32, registers: *mut c_void),
    /// An owner has executed code on a hart that is lent, which is back with these registers (a
    /// `flick_engine::Hart`). It goes on, or takes an exception.
    pub executed: unsafe extern "C" fn(&Executed, registers: *const c_void),
    /// In a child of `fork`, before anything else: the machine is the child's own from now on.
    pub forked: unsafe extern "C" fn(),
    /// What has been counted: instructions of all harts, those of owners, descriptors there and back, and
    /// picoseconds of virtual time.
    pub counts: unsafe extern "C" fn(&mut [u64; 5]),
    /// A function has executed so much.
    pub has_run: unsafe extern "C" fn(&RanRow),
    /// The row of this number, of all that functions have executed. False: there are not so many.
    pub ran: unsafe extern "C" fn(usize, &mut RanRow) -> bool,
    /// The row of the hart of this number. False: there are not so many.
    pub hart: unsafe extern "C" fn(usize, &mut HartRow) -> bool,
    /// The row of the tile of this number, of those that take programs of the host. False: there are not
    /// so many.
    pub tile: unsafe extern "C" fn(usize, &mut TileRow) -> bool,
}
