//! The interface between libflick and host code compiled with `--flick-timed` (`docs/timing.md`,
//! "Host code").

/// Version of the records here. Units of later versions, and of versions before [`FIRST_VERSION`],
/// are not counted.
pub const VERSION: u32 = 5;
/// The earliest version whose units are counted.
pub const FIRST_VERSION: u32 = 2;

/// The first version with [`TimedUnit::chains`].
pub const CHAINS_VERSION: u32 = 4;

/// The first version with [`TimedUnit::flows`] and [`TimedUnit::loops`].
pub const FLOWS_VERSION: u32 = 5;

/// Classes of host operations, as the pass counts them on LLVM IR.
pub const HOST_CLASSES: usize = 12;

/// A class of host operations: an index into [`Block::counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum HostClass {
    /// Integer and address arithmetic, comparisons, selects.
    Int = 0,
    /// Integer multiplication.
    Mul = 1,
    /// Integer division and remainder.
    Div = 2,
    /// A load, without the cost of its memory.
    Load = 3,
    /// A store, without the cost of its memory.
    Store = 4,
    /// Branches within a function, conditional or not.
    Branch = 5,
    /// Calls and returns.
    Call = 6,
    /// Addition, subtraction, comparison, conversion.
    Fp = 7,
    /// Multiplication, fused multiply-add.
    FpMul = 8,
    /// Division, square root.
    FpDiv = 9,
    /// SIMD arithmetic of any kind.
    Vector = 10,
    /// Atomic updates, and loads and stores that are sequentially consistent.
    Atomic = 11,
}

/// The operations that a basic block executes, by class; counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Block {
    /// By [`HostClass`]: executions in one execution of the block.
    pub counts: [u16; HOST_CLASSES],
}

/// Length of [`NxpBlock::counts`]: the classes of RV64 instructions (`flick_timing`'s `NxpClass`),
/// then branches that are taken, loads from the function's stack, and stores to it.
pub const NXP_COUNTS: usize = 17;
/// Index of the branches that are taken.
pub const NXP_TAKEN: usize = 14;
/// Index of the loads from the function's stack.
pub const NXP_STACK_LOAD: usize = 15;
/// Index of the stores to the function's stack.
pub const NXP_STACK_STORE: usize = 16;
/// The unit of [`NxpBlock::counts`]: one execution of an instruction.
pub const NXP_UNIT: u32 = 256;

/// The instructions that stand for an execution of the block in RV64 code of the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct NxpBlock {
    /// 0 where the function has no such code.
    pub known: u32,
    /// Executions of instructions in one execution of the block, in units of 1 / [`NXP_UNIT`].
    pub counts: [u32; NXP_COUNTS],
}

/// The unit of [`Flow::each`] and [`Loop::chain`].
pub const FLOW_UNIT: u32 = 256;

/// How a block's operations flow through a core that executes out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Flow {
    /// Operations that the core issues: a comparison with its branch, or a load with the only operation
    /// that uses it, is one.
    pub issued: u32,
    /// The number of the block's innermost loop in [`TimedUnit::loops`], plus 1; 0: it is in none.
    pub of_loop: u32,
    /// LLVM's estimate of the block's executions in an iteration of that loop, in units of
    /// 1 / [`FLOW_UNIT`].
    pub each: u32,
}

/// The longest chain of operations from an iteration of a loop to the next one: each needs the result of
/// the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Loop {
    /// By [`HostClass`]: operations of the chain in one iteration, in units of 1 / [`FLOW_UNIT`].
    pub chain: [u32; HOST_CLASSES],
}

/// What a run of a loop saves, because the core executes its first iterations beside the end of the run
/// before. Host code takes it from its time. Of `n` iterations, with a window of `w` iterations, these
/// cost nothing: `n * w / (n + w)` if `n < w`, and else `min(n / 2, w)`, in times of the chain. But all of
/// them cost what they cost side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct LoopRun {
    /// Femtoseconds of an iteration by which the chain takes longer than all operations side by side.
    pub longer: i64,
    /// Iterations that the core's window has.
    pub window: i64,
    /// Femtoseconds of an iteration.
    pub chain: i64,
    /// 0.
    pub unused: i64,
}

/// A compiled unit. It is registered before the program's own constructors run.
#[derive(Debug)]
#[repr(C)]
pub struct TimedUnit {
    /// [`VERSION`] of the compiler's pass.
    pub version: u32,
    /// Length of both arrays.
    pub blocks: u32,
    /// The operations of each block.
    pub classes: *const Block,
    /// Each block's price; 0 until the runtime writes it.
    pub costs: *mut Price,
    /// The unit's instrumented functions.
    pub functions: *const TimedFunction,
    /// Length of `functions`.
    pub function_count: u64,
    /// `blocks` records; since version 3.
    pub nxp: *const NxpBlock,
    /// For each block, how many of its loads have an address that the same load has given, an
    /// execution before; since version 4.
    pub chains: *const u16,
    /// `blocks` records; since version 5, as the next three.
    pub flows: *const Flow,
    /// The loops of all functions.
    pub loops: *const Loop,
    /// Length of `loops`.
    pub loop_count: u64,
    /// What each loop's runs save; 0 until the runtime writes it.
    pub runs: *mut LoopRun,
}

/// Femtoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Price {
    /// On the host.
    pub host: i64,
    /// The time that the same operations would take on the NxP.
    pub nxp: i64,
}

/// An instrumented function. Strings end in NUL.
#[derive(Debug)]
#[repr(C)]
pub struct TimedFunction {
    /// The function's address.
    pub entry: *const core::ffi::c_void,
    /// The linker's name.
    pub name: *const core::ffi::c_char,
    /// The error's code, if the function cannot be placed on the NxP; else null.
    pub refusal: *const core::ffi::c_char,
}

/// A callee that may be code without instrumentation.
#[derive(Debug)]
#[repr(C)]
pub struct TimedCallee {
    /// NUL-terminated; null for a call through a pointer.
    pub name: *const core::ffi::c_char,
    /// For the runtime's own use; 0 at first.
    pub state: u64,
}

const _: () = assert!(size_of::<Block>() == 24);
const _: () = assert!(size_of::<NxpBlock>() == 72);
const _: () = assert!(size_of::<TimedUnit>() == 88);
const _: () = assert!(size_of::<Flow>() == 12);
const _: () = assert!(size_of::<Loop>() == 48);
const _: () = assert!(size_of::<LoopRun>() == 32);
const _: () = assert!(size_of::<TimedFunction>() == 24);
const _: () = assert!(size_of::<TimedCallee>() == 16);

/// Thread-local [`Price`] (initial-exec): the time that the thread has spent. The host's part
/// counts up from minus a sampling period.
pub const CLOCK: &str = "__flick_timed_clock";
/// A `const unsigned char *` and a u64 that masks the index. For each 2^[`MAP_SHIFT`] bytes of user
/// address space, a byte says whether NxP-local memory may be there.
pub const MAP: &str = "__flick_timed_map";
/// log2 of the bytes for which [`MAP`] has one byte.
pub const MAP_SHIFT: u32 = 21;
/// `void (const TimedUnit *)`.
pub const UNIT: &str = "__flick_timed_unit";
/// `void (u64 why)` keeps all registers but r11 and xmm (preserve_most). Host code calls it when
/// the host's part of the clock is not negative. `why` is [`RETURNS`] or [`CALLS`], with the bits
/// [`GROWS`] and [`LEAVES`].
pub const FULL: &str = "__flick_timed_full";
/// The function returns now.
pub const RETURNS: u32 = 0;
/// The function is about to call.
pub const CALLS: u32 = 1;
/// A bit: the function's stack pointer moves while it runs (alloca).
pub const GROWS: u32 = 2;
/// A bit: the call takes the place of the function's frame (a tail call).
pub const LEAVES: u32 = 4;
/// `void (const void *p, u64 what, u64 spent)`, preserve_most. Host code calls it for an access where
/// the map is not 0 and [`LINES`] has another line. `what` is
/// `parts << PARTS_SHIFT | size << 1 | is_write`: the NxP makes `parts` accesses of it (before version
/// 3: 0). Since version 4 there is also
/// `ACCESS_CHAINED | either << EITHER_SHIFT | own << OWN_SHIFT | from << FROM_SHIFT | from << FROM_SHIFT + 6`: the places of a
/// load, and of up to two loads that the address comes from; and `spent` is what the function has
/// spent and not added to the clock.
pub const ACCESS: &str = "__flick_timed_access";
/// The lowest bit of the number of parts in the second argument of [`ACCESS`].
pub const PARTS_SHIFT: u32 = 32;
/// The highest number of parts.
pub const MOST_PARTS: u64 = (1 << 11) - 1;
/// A bit: the address comes from the load that was executed last, of the two places, and not from both.
pub const EITHER_SHIFT: u32 = 43;
/// The lowest bit of the place of a load in the second argument of [`ACCESS`]. Places have 6 bits, and
/// 0 is none.
pub const OWN_SHIFT: u32 = 44;
/// The lowest bit of the first of the places that an address comes from.
pub const FROM_SHIFT: u32 = 50;
/// The place that stands for whatever was loaded last; the pass gives no load this one.
pub const LATEST: u32 = 63;
/// A bit: the access is to a local variable of the function.
pub const ACCESS_LOCAL: u64 = 1 << 62;
/// A bit: there are places, and a third argument.
pub const ACCESS_CHAINED: u64 = 1 << 63;
/// Thread-local pointer to [`LINE_COUNT`] u64 (initial-exec): addresses of lines of 64 bytes. Where the
/// element of an address (its bits 6 to 15) is the address of its line, the access costs nothing beyond
/// its class.
pub const LINES: &str = "__flick_timed_line_table";
/// The length of [`LINES`].
pub const LINE_COUNT: usize = 1 << 10;
/// Host code of format 1.9 had 16 elements itself, thread-local, under this name.
pub const OWN_LINES: &str = "__flick_timed_lines";
/// Thread-local pointer to a [`BranchTable`] (initial-exec), by which host code predicts its own
/// branches; null where a wrong prediction costs nothing.
pub const BRANCHES: &str = "__flick_timed_branches";
/// log2 of the places of a branch in [`BranchTable`] for one history.
pub const BRANCH_SHIFT: u32 = 4;
/// The length of the tables of a [`BranchTable`].
pub const BRANCH_COUNT: usize = 1 << 14;

/// Predicts branches. A branch's place is a number of its own, with the last directions, by exclusive or.
/// Its counter there is 0 or 15 where the branch has long gone one way: that is 0 for not taken. Where the
/// counter and the direction do not agree so, the code calls `far`. Where they do, it takes one from
/// `rest`, and calls `far` at 0. It calls `far_target` for a switch, or a call through a pointer, whose
/// target's lowest byte is not the last one of its place.
///
/// Both functions have the place in rax, the branch's own number in rcx, the direction or the target in
/// rdx, and the table in rdi. They keep all registers but rax and rcx, and those of vectors, too. rcx is
/// the offset of what the code then adds to the clock, in [`BranchTable::costs`].
#[derive(Debug)]
#[repr(C, align(64))]
pub struct BranchTable {
    /// Of a right and of a wrong prediction.
    pub costs: [Price; 2],
    /// The last directions, the latest one in the lowest bit, with that of the branch that is predicted.
    pub history: u64,
    /// The code for branches.
    pub far: unsafe extern "C" fn(),
    /// The code for targets.
    pub far_target: unsafe extern "C" fn(),
    /// So many branches that go as their counters say are not shown to `far`.
    pub rest: u64,
    /// By place.
    pub counters: [u8; BRANCH_COUNT],
    /// By place: the last target.
    pub targets: [u8; BRANCH_COUNT],
}
/// Offset of [`BranchTable::history`].
pub const BRANCH_HISTORY: usize = core::mem::offset_of!(BranchTable, history);
/// Offset of [`BranchTable::far`].
pub const BRANCH_FAR: usize = core::mem::offset_of!(BranchTable, far);
/// Offset of [`BranchTable::far_target`].
pub const BRANCH_FAR_TARGET: usize = core::mem::offset_of!(BranchTable, far_target);
/// Offset of [`BranchTable::rest`].
pub const BRANCH_REST: usize = core::mem::offset_of!(BranchTable, rest);
/// Offset of [`BranchTable::counters`].
pub const BRANCH_COUNTERS: usize = core::mem::offset_of!(BranchTable, counters);
/// Offset of [`BranchTable::targets`].
pub const BRANCH_TARGETS: usize = core::mem::offset_of!(BranchTable, targets);

/// `void (void *dst, const void *src, u64 n)`: a block is copied, or filled if `src` is null.
pub const MEMORY: &str = "__flick_timed_memory";
/// Host code of format 1.3 called this and the next function for pthread_create(3) and
/// pthread_join(3).
pub const THREAD_CREATE: &str = "__flick_timed_thread_create";
/// The call for pthread_join(3), as [`THREAD_CREATE`].
pub const THREAD_JOIN: &str = "__flick_timed_thread_join";
/// `void (TimedCallee *, u64 n, const void *target)`. Host code calls it when a call that has
/// recorded nothing has returned.
pub const LIBRARY: &str = "__flick_timed_library";
