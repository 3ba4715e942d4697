//! The interpreter loop.

use crate::control::Control;
use crate::core::{Core, Exception};
use crate::csr::CsrAccess;
use crate::fp::{self, conversions, quiet, sse};
use crate::guest_memory::{AmoOp, Memory};
use crate::hart_state::{Cause, Exit, Hart, Trap};
use crate::integer;
use crate::observer::Observer;
use crate::vector;
use flick_riscv::{Insn, Op};

/// Executes `hart` on `core` from `hart.pc` until something happens that the caller must see to.
///
/// Does not panic or unwind, allocates nothing and holds nothing that needs dropping. Registers are
/// always in `hart`; `hart.pc` is stored before every instruction that may fault (loads, stores,
/// atomics, floating point).
#[inline(always)]
#[unsafe(link_section = "flick_engine")]
pub fn run<C: Core, O: Observer, K: Control>(
    hart: &mut Hart,
    core: &mut C,
    observer: &mut O,
    control: &mut K,
) -> Exit {
    match interpret(hart, core, observer, control) {
        Exit::Illegal { bits } if is_vector(bits) => {
            run_vectors(hart, core, observer, control, bits)
        }
        exit => exit,
    }
}

/// No other instructions have these opcodes, so that [`interpret`] has not asked the core.
fn is_vector(bits: u32) -> bool {
    matches!(bits & 0x7f, 0x07 | 0x27 | 0x57)
}

/// Goes on at the vector instruction at [`Hart::pc`], for which [`interpret`] has ended. It is apart so
/// that code without vectors pays nothing for their handlers.
#[cold]
#[inline(never)]
#[unsafe(link_section = "flick_engine")]
fn run_vectors<C: Core, O: Observer, K: Control>(
    hart: &mut Hart,
    core: &mut C,
    observer: &mut O,
    control: &mut K,
    bits: u32,
) -> Exit {
    let mut bits = bits;
    loop {
        let insn = flick_riscv::decode(bits);
        match step_vector(hart, core, observer, control, insn) {
            Ok(pc) => hart.pc = pc,
            Err(exit) => return exit,
        }
        match interpret(hart, core, observer, control) {
            Exit::Illegal { bits: next } if is_vector(next) => bits = next,
            exit => return exit,
        }
    }
}

/// Executes the vector instruction at [`Hart::pc`], for which [`interpret`] has ended.
#[cold]
#[inline(never)]
#[unsafe(link_section = "flick_engine")]
fn step_vector<C: Core, O: Observer, K: Control>(
    hart: &mut Hart,
    core: &mut C,
    observer: &mut O,
    control: &mut K,
    insn: Insn,
) -> Result<u64, Exit> {
    let pc = hart.pc;
    let done = match core.vector(hart, insn) {
        Some((state, memory)) => {
            observer.vector(insn, state.vl() * state.element_bits());
            vector::execute(hart, state, memory, observer, insn)
        }
        None => Err(Exception::Illegal {
            bits: insn.imm() as u32,
        }),
    };
    if let Err(exception) = done {
        return core.exception(hart, exception);
    }
    if !O::TAKES_TIME {
        core.retired();
    }
    control.retired(pc, insn);
    observer.retired(pc, insn);
    Ok(pc.wrapping_add(insn.len()))
}

/// The address behind `insn`. The next fetch waits for this sum: it is two additions, where the
/// compiler would make a slower `lea` of them.
#[inline(always)]
fn behind(pc: u64, insn: Insn) -> u64 {
    let (mut behind_2, more) = (pc.wrapping_add(2), insn.len() - 2);
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!("add {}, {}", inout(reg) behind_2, in(reg) more,
            options(pure, nomem, nostack));
    }
    behind_2
}

/// The loop of [`run`]: it ends at a vector instruction, too, with [`Exit::Illegal`].
#[unsafe(link_section = "flick_engine")]
#[inline(never)]
fn interpret<C: Core, O: Observer, K: Control>(
    hart: &mut Hart,
    core: &mut C,
    observer: &mut O,
    control: &mut K,
) -> Exit {
    hart.x[0] = 0;
    let Some(mut pc) = core.target(hart.pc) else {
        return Exit::Leave;
    };
    // Signal handlers look at the hart, and a guest address may even point into it.
    let hart: *mut Hart = hart;
    // SAFETY: `hart` was a unique reference.
    let (x, f) = unsafe { (&raw mut (*hart).x, &raw mut (*hart).f) };
    let (x, f) = (x.cast::<u64>(), f.cast::<u64>());

    // Register numbers are below 32 by construction of `Insn`.
    macro_rules! x {
        ($i:expr) => {
            // SAFETY: an index below 32.
            unsafe { *x.add($i) }
        };
        ($i:expr => $value:expr) => {{
            let value: u64 = $value;
            // SAFETY: an index below 32.
            unsafe { *x.add($i) = value }
        }};
    }
    macro_rules! f {
        ($i:expr) => {
            // SAFETY: an index below 32.
            unsafe { *f.add($i) }
        };
        ($i:expr => $value:expr) => {{
            let value: u64 = $value;
            // SAFETY: an index below 32.
            unsafe { *f.add($i) = value }
        }};
    }
    macro_rules! set_pc {
        ($value:expr) => {
            // SAFETY: `hart` is valid.
            unsafe { (*hart).pc = $value }
        };
    }
    macro_rules! exit {
        ($exit:expr) => {{
            set_pc!(pc);
            return $exit;
        }};
    }
    // The hart for the core, which finds the pc of the instruction in it.
    macro_rules! hart {
        () => {
            // SAFETY: `hart` is valid, and nothing else refers to it during the call.
            unsafe { &mut *hart }
        };
    }
    // Goes on where the core says, or ends the run.
    macro_rules! go_on {
        ($answer:expr) => {
            match $answer {
                Ok(at) => {
                    pc = at;
                    continue;
                }
                Err(exit) => return exit,
            }
        };
    }
    macro_rules! exception {
        ($exception:expr) => {{
            let exception: Exception = $exception;
            set_pc!(pc);
            go_on!(core.exception(hart!(), exception))
        }};
    }
    macro_rules! illegal {
        () => {
            exception!(Exception::Illegal {
                bits: core.bits(pc)
            })
        };
    }

    loop {
        if core.is_interrupted() {
            set_pc!(pc);
            go_on!(core.interrupt(hart!()));
        }
        // SAFETY: `pc` is what the core said, or behind the last instruction.
        let insn = unsafe { core.fetch(pc) };
        let mut next = behind(pc, insn);

        if !control.proceed(pc) {
            exit!(Exit::Budget);
        }
        observer.at(pc);

        // Writes an integer register that the decoder has not shown to differ from x0.
        macro_rules! set {
            ($value:expr) => {{
                let value: u64 = $value;
                x!(insn.rd() => value);
                x!(0 => 0);
            }};
        }
        // A jump to where no instruction can be has no effect.
        macro_rules! check_target {
            ($target:expr) => {
                if core.is_misaligned($target) {
                    let (cause, addr) = (Cause::FetchMisaligned, $target & !1);
                    exception!(Exception::Trap(Trap { cause, addr }));
                }
            };
        }
        // Goes to a target that may be anywhere.
        macro_rules! go {
            ($target:expr) => {{
                let target: u64 = $target;
                let Some(at) = core.target(target) else {
                    set_pc!(target);
                    if !O::TAKES_TIME {
                        core.retired();
                    }
                    control.retired(pc, insn);
                    observer.retired(pc, insn);
                    return Exit::Leave;
                };
                next = at;
            }};
        }
        macro_rules! branch {
            ($condition:expr) => {{
                let target = pc.wrapping_add(insn.imm());
                let taken = $condition;
                if taken {
                    check_target!(target);
                }
                observer.branch(pc, target, taken);
                if taken {
                    go!(target);
                }
            }};
        }
        // Computations: rd is not x0, or the decoder would have made them `Nop`.
        macro_rules! rri {
            (|$a:ident, $i:ident| $value:expr) => {{
                let ($a, $i) = (x!(insn.rs1()), insn.imm());
                x!(insn.rd() => $value);
            }};
        }
        macro_rules! r {
            (|$a:ident| $value:expr) => {{
                let $a = x!(insn.rs1());
                x!(insn.rd() => $value);
            }};
        }
        macro_rules! rrr {
            (|$a:ident, $b:ident| $value:expr) => {{
                let ($a, $b) = (x!(insn.rs1()), x!(insn.rs2()));
                x!(insn.rd() => $value);
            }};
        }
        macro_rules! access {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(fault) => go_on!(core.exception(hart!(), Exception::Trap(fault.into()))),
                }
            };
        }
        macro_rules! load {
            ($method:ident, $len:literal, |$v:ident| $value:expr) => {{
                let addr = x!(insn.rs1()).wrapping_add(insn.imm());
                set_pc!(pc);
                observer.load(addr, $len);
                let $v = access!(core.memory().$method(addr));
                $value
            }};
        }
        macro_rules! store {
            ($method:ident, $len:literal, $value:expr) => {{
                let addr = x!(insn.rs1()).wrapping_add(insn.imm());
                set_pc!(pc);
                observer.store(addr, $len);
                access!(core.memory().$method(addr, $value));
            }};
        }
        // The address of an atomic, which must be aligned.
        macro_rules! atomic_addr {
            ($len:literal, $cause:expr) => {{
                let addr = x!(insn.rs1());
                set_pc!(pc);
                if !control.synchronises() {
                    return Exit::Budget;
                }
                observer.atomic();
                if addr % $len != 0 {
                    let cause = $cause;
                    go_on!(core.exception(hart!(), Exception::Trap(Trap { cause, addr })));
                }
                addr
            }};
        }
        macro_rules! load_reserved {
            ($method:ident, $len:literal, $signed:ty) => {{
                let addr = atomic_addr!($len, Cause::LoadMisaligned);
                observer.load(addr, $len);
                let value = access!(core.memory().$method(addr));
                // SAFETY: `hart` is valid.
                unsafe {
                    (*hart).reservation = addr;
                    (*hart).reserved_value = u64::from(value);
                    (*hart).reservation_len = $len;
                }
                set!(value as $signed as u64);
            }};
        }
        macro_rules! store_conditional {
            ($method:ident, $len:literal, $unsigned:ty) => {{
                let addr = atomic_addr!($len, Cause::StoreMisaligned);
                // SAFETY: `hart` is valid.
                let (reservation, len, old) = unsafe {
                    (
                        (*hart).reservation,
                        (*hart).reservation_len,
                        (*hart).reserved_value,
                    )
                };
                let mut stored = false;
                if len == $len && reservation == addr {
                    observer.store(addr, $len);
                    let new = x!(insn.rs2()) as $unsigned;
                    stored = access!(core.memory().$method(addr, old as $unsigned, new));
                }
                // SAFETY: `hart` is valid.
                unsafe { (*hart).reservation_len = 0 };
                set!(u64::from(!stored));
            }};
        }
        macro_rules! amo32 {
            ($op:expr) => {{
                let addr = atomic_addr!(4, Cause::StoreMisaligned);
                observer.load(addr, 4);
                observer.store(addr, 4);
                let old = access!(core.memory().amo32(addr, $op, x!(insn.rs2()) as u32));
                set!(old as i32 as u64);
            }};
        }
        macro_rules! amo64 {
            ($op:expr) => {{
                let addr = atomic_addr!(8, Cause::StoreMisaligned);
                observer.load(addr, 8);
                observer.store(addr, 8);
                let old = access!(core.memory().amo64(addr, $op, x!(insn.rs2())));
                set!(old);
            }};
        }
        // A rounded floating-point instruction: `$plain` computes it under MXCSR as it is.
        macro_rules! rounded {
            ($op:ident, $a:expr, $b:expr, $c:expr, $plain:expr) => {{
                set_pc!(pc);
                // SAFETY: `hart` is valid.
                let frm = u32::from(unsafe { (*hart).frm });
                if fp::is_plain(frm, insn.rm()) {
                    $plain
                } else {
                    match fp::rounded(frm, insn.rm(), Op::$op, $a, $b, $c) {
                        Some(value) => value,
                        None => illegal!(),
                    }
                }
            }};
        }
        macro_rules! unary {
            ($op:ident, $plain:path) => {{
                let a = f!(insn.rs1());
                f!(insn.rd() => rounded!($op, a, 0, 0, $plain(a)));
            }};
        }
        macro_rules! binary {
            ($op:ident, $plain:path) => {{
                let (a, b) = (f!(insn.rs1()), f!(insn.rs2()));
                f!(insn.rd() => rounded!($op, a, b, 0, $plain(a, b)));
            }};
        }
        macro_rules! fused {
            ($op:ident, $plain:path) => {{
                let (a, b, c) = (f!(insn.rs1()), f!(insn.rs2()), f!(insn.rs3()));
                f!(insn.rd() => rounded!($op, a, b, c, $plain(a, b, c)));
            }};
        }
        macro_rules! to_int {
            ($op:ident, $plain:path, $rtz:path) => {{
                let a = f!(insn.rs1());
                if insn.rm() == fp::RTZ {
                    set_pc!(pc);
                    set!($rtz(a));
                } else {
                    set!(rounded!($op, a, 0, 0, $plain(a)));
                }
            }};
        }
        macro_rules! from_int {
            ($op:ident, $plain:path) => {{
                let a = x!(insn.rs1());
                f!(insn.rd() => rounded!($op, a, 0, 0, $plain(a)));
            }};
        }
        // Not rounded, into a floating-point or integer register.
        macro_rules! quiet {
            ($function:path) => {{
                set_pc!(pc);
                f!(insn.rd() => $function(f!(insn.rs1()), f!(insn.rs2())));
            }};
        }
        macro_rules! compare {
            ($function:path) => {{
                set_pc!(pc);
                set!($function(f!(insn.rs1()), f!(insn.rs2())));
            }};
        }

        match insn.op() {
            Op::Undecoded => match core.fill(pc) {
                Ok(()) => continue,
                Err(trap) => exception!(Exception::Trap(trap)),
            },
            Op::End => exit!(Exit::Leave),
            Op::Illegal => exception!(Exception::Illegal {
                bits: insn.imm() as u32
            }),
            Op::Nop => {}
            Op::Lui => x!(insn.rd() => insn.imm()),
            Op::Auipc => x!(insn.rd() => pc.wrapping_add(insn.imm())),
            Op::Jal => {
                let target = pc.wrapping_add(insn.imm());
                check_target!(target);
                control.jump(pc, target);
                observer.jump(pc, target);
                set!(next);
                go!(target);
            }
            Op::Jalr => {
                let target = x!(insn.rs1()).wrapping_add(insn.imm());
                check_target!(target);
                control.jump(pc, target);
                observer.jump(pc, target);
                set!(next);
                go!(target);
            }
            Op::Beq => branch!(x!(insn.rs1()) == x!(insn.rs2())),
            Op::Bne => branch!(x!(insn.rs1()) != x!(insn.rs2())),
            Op::Blt => branch!((x!(insn.rs1()) as i64) < x!(insn.rs2()) as i64),
            Op::Bge => branch!(x!(insn.rs1()) as i64 >= x!(insn.rs2()) as i64),
            Op::Bltu => branch!(x!(insn.rs1()) < x!(insn.rs2())),
            Op::Bgeu => branch!(x!(insn.rs1()) >= x!(insn.rs2())),

            Op::Lb => set!(load!(load8, 1, |v| v as i8 as u64)),
            Op::Lh => set!(load!(load16, 2, |v| v as i16 as u64)),
            Op::Lw => set!(load!(load32, 4, |v| v as i32 as u64)),
            Op::Ld => set!(load!(load64, 8, |v| v)),
            Op::Lbu => set!(load!(load8, 1, |v| u64::from(v))),
            Op::Lhu => set!(load!(load16, 2, |v| u64::from(v))),
            Op::Lwu => set!(load!(load32, 4, |v| u64::from(v))),
            Op::Sb => store!(store8, 1, x!(insn.rs2()) as u8),
            Op::Sh => store!(store16, 2, x!(insn.rs2()) as u16),
            Op::Sw => store!(store32, 4, x!(insn.rs2()) as u32),
            Op::Sd => store!(store64, 8, x!(insn.rs2())),

            Op::Addi => rri!(|a, i| a.wrapping_add(i)),
            Op::Slti => rri!(|a, i| u64::from((a as i64) < i as i64)),
            Op::Sltiu => rri!(|a, i| u64::from(a < i)),
            Op::Xori => rri!(|a, i| a ^ i),
            Op::Ori => rri!(|a, i| a | i),
            Op::Andi => rri!(|a, i| a & i),
            Op::Slli => rri!(|a, i| a << (i & 63)),
            Op::Srli => rri!(|a, i| a >> (i & 63)),
            Op::Srai => rri!(|a, i| (a as i64 >> (i & 63)) as u64),
            Op::Add => rrr!(|a, b| a.wrapping_add(b)),
            Op::Sub => rrr!(|a, b| a.wrapping_sub(b)),
            Op::Sll => rrr!(|a, b| a << (b & 63)),
            Op::Slt => rrr!(|a, b| u64::from((a as i64) < b as i64)),
            Op::Sltu => rrr!(|a, b| u64::from(a < b)),
            Op::Xor => rrr!(|a, b| a ^ b),
            Op::Srl => rrr!(|a, b| a >> (b & 63)),
            Op::Sra => rrr!(|a, b| (a as i64 >> (b & 63)) as u64),
            Op::Or => rrr!(|a, b| a | b),
            Op::And => rrr!(|a, b| a & b),
            Op::Addiw => rri!(|a, i| a.wrapping_add(i) as i32 as u64),
            Op::Slliw => rri!(|a, i| ((a as i32) << (i & 31)) as u64),
            Op::Srliw => rri!(|a, i| (a as u32 >> (i & 31)) as i32 as u64),
            Op::Sraiw => rri!(|a, i| (a as i32 >> (i & 31)) as u64),
            Op::Addw => rrr!(|a, b| a.wrapping_add(b) as i32 as u64),
            Op::Subw => rrr!(|a, b| a.wrapping_sub(b) as i32 as u64),
            Op::Sllw => rrr!(|a, b| ((a as i32) << (b & 31)) as u64),
            Op::Srlw => rrr!(|a, b| (a as u32 >> (b & 31)) as i32 as u64),
            Op::Sraw => rrr!(|a, b| (a as i32 >> (b & 31)) as u64),

            Op::Mul => rrr!(|a, b| a.wrapping_mul(b)),
            Op::Mulh => rrr!(|a, b| integer::mulh(a, b)),
            Op::Mulhsu => rrr!(|a, b| integer::mulhsu(a, b)),
            Op::Mulhu => rrr!(|a, b| integer::mulhu(a, b)),
            Op::Div => rrr!(|a, b| integer::div(a as i64, b as i64) as u64),
            Op::Divu => rrr!(|a, b| integer::divu(a, b)),
            Op::Rem => rrr!(|a, b| integer::rem(a as i64, b as i64) as u64),
            Op::Remu => rrr!(|a, b| integer::remu(a, b)),
            Op::Mulw => rrr!(|a, b| a.wrapping_mul(b) as i32 as u64),
            Op::Divw => rrr!(|a, b| integer::divw(a as i32, b as i32) as u64),
            Op::Divuw => rrr!(|a, b| integer::divuw(a as u32, b as u32) as i32 as u64),
            Op::Remw => rrr!(|a, b| integer::remw(a as i32, b as i32) as u64),
            Op::Remuw => rrr!(|a, b| integer::remuw(a as u32, b as u32) as i32 as u64),

            Op::AddUw => rrr!(|a, b| b.wrapping_add(u64::from(a as u32))),
            Op::Sh1add => rrr!(|a, b| b.wrapping_add(a << 1)),
            Op::Sh2add => rrr!(|a, b| b.wrapping_add(a << 2)),
            Op::Sh3add => rrr!(|a, b| b.wrapping_add(a << 3)),
            Op::Sh1addUw => rrr!(|a, b| b.wrapping_add(u64::from(a as u32) << 1)),
            Op::Sh2addUw => rrr!(|a, b| b.wrapping_add(u64::from(a as u32) << 2)),
            Op::Sh3addUw => rrr!(|a, b| b.wrapping_add(u64::from(a as u32) << 3)),
            Op::SlliUw => rri!(|a, i| u64::from(a as u32) << (i & 63)),
            Op::Andn => rrr!(|a, b| a & !b),
            Op::Orn => rrr!(|a, b| a | !b),
            Op::Xnor => rrr!(|a, b| !(a ^ b)),
            Op::Clz => r!(|a| u64::from(a.leading_zeros())),
            Op::Clzw => r!(|a| u64::from((a as u32).leading_zeros())),
            Op::Ctz => r!(|a| u64::from(a.trailing_zeros())),
            Op::Ctzw => r!(|a| u64::from((a as u32).trailing_zeros())),
            Op::Cpop => r!(|a| u64::from(a.count_ones())),
            Op::Cpopw => r!(|a| u64::from((a as u32).count_ones())),
            Op::Max => rrr!(|a, b| (a as i64).max(b as i64) as u64),
            Op::Maxu => rrr!(|a, b| a.max(b)),
            Op::Min => rrr!(|a, b| (a as i64).min(b as i64) as u64),
            Op::Minu => rrr!(|a, b| a.min(b)),
            Op::SextB => r!(|a| a as i8 as u64),
            Op::SextH => r!(|a| a as i16 as u64),
            Op::ZextH => r!(|a| u64::from(a as u16)),
            Op::Rol => rrr!(|a, b| a.rotate_left(b as u32 & 63)),
            Op::Rolw => rrr!(|a, b| (a as u32).rotate_left(b as u32 & 31) as i32 as u64),
            Op::Ror => rrr!(|a, b| a.rotate_right(b as u32 & 63)),
            Op::Rori => rri!(|a, i| a.rotate_right(i as u32 & 63)),
            Op::Roriw => rri!(|a, i| (a as u32).rotate_right(i as u32 & 31) as i32 as u64),
            Op::Rorw => rrr!(|a, b| (a as u32).rotate_right(b as u32 & 31) as i32 as u64),
            Op::OrcB => r!(|a| integer::orc_b(a)),
            Op::Rev8 => r!(|a| a.swap_bytes()),
            Op::Bclr => rrr!(|a, b| a & !(1 << (b & 63))),
            Op::Bclri => rri!(|a, i| a & !(1 << (i & 63))),
            Op::Bext => rrr!(|a, b| a >> (b & 63) & 1),
            Op::Bexti => rri!(|a, i| a >> (i & 63) & 1),
            Op::Binv => rrr!(|a, b| a ^ 1 << (b & 63)),
            Op::Binvi => rri!(|a, i| a ^ 1 << (i & 63)),
            Op::Bset => rrr!(|a, b| a | 1 << (b & 63)),
            Op::Bseti => rri!(|a, i| a | 1 << (i & 63)),
            Op::CzeroEqz => rrr!(|a, b| integer::czero_eqz(a, b)),
            Op::CzeroNez => rrr!(|a, b| integer::czero_nez(a, b)),

            Op::Fence => {
                if !control.synchronises() {
                    exit!(Exit::Budget);
                }
                core.memory().fence();
            }
            Op::FenceI => core.fence_i(),
            Op::Pause => std::hint::spin_loop(),
            Op::Ecall => exception!(Exception::Ecall),
            Op::Ebreak => exception!(Exception::Ebreak),
            Op::Csrrw | Op::Csrrs | Op::Csrrc | Op::Csrrwi | Op::Csrrsi | Op::Csrrci => {
                set_pc!(pc);
                let hart = hart!();
                let access = CsrAccess::of(hart, insn);
                match core.csr(hart, access) {
                    Some(old) => set!(old),
                    None => illegal!(),
                }
            }

            // `run` executes it: a call here would change the code of all other instructions.
            Op::VConfig | Op::VArith | Op::VLoad | Op::VStore => exit!(Exit::Illegal {
                bits: insn.imm() as u32
            }),

            Op::Sret
            | Op::Mret
            | Op::Wfi
            | Op::SfenceVma
            | Op::SinvalVma
            | Op::SfenceWInval
            | Op::SfenceInvalIr
            | Op::CboInval
            | Op::CboClean
            | Op::CboFlush
            | Op::CboZero
            | Op::ThDcacheCall
            | Op::ThDcacheIall
            | Op::ThDcacheCiall
            | Op::ThIcacheIall
            | Op::FlickDot
            | Op::FlickSad
            | Op::FlickCrc
            | Op::FlickGather => {
                set_pc!(pc);
                match core.privileged(hart!(), insn) {
                    Ok(at) => next = at,
                    Err(exception) => go_on!(core.exception(hart!(), exception)),
                }
            }

            Op::LrW => load_reserved!(load_reserved32, 4, i32),
            Op::LrD => load_reserved!(load_reserved64, 8, i64),
            Op::ScW => store_conditional!(store_conditional32, 4, u32),
            Op::ScD => store_conditional!(store_conditional64, 8, u64),
            Op::AmoswapW => amo32!(AmoOp::Swap),
            Op::AmoaddW => amo32!(AmoOp::Add),
            Op::AmoxorW => amo32!(AmoOp::Xor),
            Op::AmoandW => amo32!(AmoOp::And),
            Op::AmoorW => amo32!(AmoOp::Or),
            Op::AmominW => amo32!(AmoOp::Min),
            Op::AmomaxW => amo32!(AmoOp::Max),
            Op::AmominuW => amo32!(AmoOp::MinU),
            Op::AmomaxuW => amo32!(AmoOp::MaxU),
            Op::AmoswapD => amo64!(AmoOp::Swap),
            Op::AmoaddD => amo64!(AmoOp::Add),
            Op::AmoxorD => amo64!(AmoOp::Xor),
            Op::AmoandD => amo64!(AmoOp::And),
            Op::AmoorD => amo64!(AmoOp::Or),
            Op::AmominD => amo64!(AmoOp::Min),
            Op::AmomaxD => amo64!(AmoOp::Max),
            Op::AmominuD => amo64!(AmoOp::MinU),
            Op::AmomaxuD => amo64!(AmoOp::MaxU),

            Op::Flw => f!(insn.rd() => load!(load32, 4, |v| fp::boxed(v))),
            Op::Fld => f!(insn.rd() => load!(load64, 8, |v| v)),
            Op::Fsw => store!(store32, 4, f!(insn.rs2()) as u32),
            Op::Fsd => store!(store64, 8, f!(insn.rs2())),

            Op::FaddS => binary!(FaddS, sse::add_s),
            Op::FaddD => binary!(FaddD, sse::add_d),
            Op::FsubS => binary!(FsubS, sse::sub_s),
            Op::FsubD => binary!(FsubD, sse::sub_d),
            Op::FmulS => binary!(FmulS, sse::mul_s),
            Op::FmulD => binary!(FmulD, sse::mul_d),
            Op::FdivS => binary!(FdivS, sse::div_s),
            Op::FdivD => binary!(FdivD, sse::div_d),
            Op::FsqrtS => unary!(FsqrtS, sse::sqrt_s),
            Op::FsqrtD => unary!(FsqrtD, sse::sqrt_d),
            Op::FmaddS => fused!(FmaddS, sse::madd_s),
            Op::FmaddD => fused!(FmaddD, sse::madd_d),
            Op::FmsubS => fused!(FmsubS, sse::msub_s),
            Op::FmsubD => fused!(FmsubD, sse::msub_d),
            Op::FnmsubS => fused!(FnmsubS, sse::nmsub_s),
            Op::FnmsubD => fused!(FnmsubD, sse::nmsub_d),
            Op::FnmaddS => fused!(FnmaddS, sse::nmadd_s),
            Op::FnmaddD => fused!(FnmaddD, sse::nmadd_d),

            Op::FsgnjS => quiet!(quiet::sgnj_s),
            Op::FsgnjD => quiet!(quiet::sgnj_d),
            Op::FsgnjnS => quiet!(quiet::sgnjn_s),
            Op::FsgnjnD => quiet!(quiet::sgnjn_d),
            Op::FsgnjxS => quiet!(quiet::sgnjx_s),
            Op::FsgnjxD => quiet!(quiet::sgnjx_d),
            Op::FminS => quiet!(quiet::min_s),
            Op::FminD => quiet!(quiet::min64),
            Op::FmaxS => quiet!(quiet::max_s),
            Op::FmaxD => quiet!(quiet::max64),
            Op::FeqS => compare!(sse::eq_s),
            Op::FeqD => compare!(sse::eq_d),
            Op::FltS => compare!(sse::lt_s),
            Op::FltD => compare!(sse::lt_d),
            Op::FleS => compare!(sse::le_s),
            Op::FleD => compare!(sse::le_d),
            Op::FclassS => set!(quiet::class_s(f!(insn.rs1()))),
            Op::FclassD => set!(quiet::class64(f!(insn.rs1()))),

            Op::FcvtWS => to_int!(FcvtWS, conversions::w_from_s, conversions::w_from_s_rtz),
            Op::FcvtWuS => to_int!(FcvtWuS, conversions::wu_from_s, conversions::wu_from_s_rtz),
            Op::FcvtLS => to_int!(FcvtLS, conversions::l_from_s, conversions::l_from_s_rtz),
            Op::FcvtLuS => to_int!(FcvtLuS, conversions::lu_from_s, conversions::lu_from_s_rtz),
            Op::FcvtWD => to_int!(FcvtWD, conversions::w_from_d, conversions::w_from_d_rtz),
            Op::FcvtWuD => to_int!(FcvtWuD, conversions::wu_from_d, conversions::wu_from_d_rtz),
            Op::FcvtLD => to_int!(FcvtLD, conversions::l_from_d, conversions::l_from_d_rtz),
            Op::FcvtLuD => to_int!(FcvtLuD, conversions::lu_from_d, conversions::lu_from_d_rtz),
            Op::FcvtSW => from_int!(FcvtSW, conversions::s_from_w),
            Op::FcvtSWu => from_int!(FcvtSWu, conversions::s_from_wu),
            Op::FcvtSL => from_int!(FcvtSL, conversions::s_from_l),
            Op::FcvtSLu => from_int!(FcvtSLu, conversions::s_from_lu),
            Op::FcvtDW => from_int!(FcvtDW, conversions::d_from_w),
            Op::FcvtDWu => from_int!(FcvtDWu, conversions::d_from_wu),
            Op::FcvtDL => from_int!(FcvtDL, conversions::d_from_l),
            Op::FcvtDLu => from_int!(FcvtDLu, conversions::d_from_lu),
            Op::FcvtSD => unary!(FcvtSD, conversions::s_from_d),
            Op::FcvtDS => unary!(FcvtDS, conversions::d_from_s),
            Op::FmvXW => set!(f!(insn.rs1()) as i32 as u64),
            Op::FmvXD => set!(f!(insn.rs1())),
            Op::FmvWX => f!(insn.rd() => fp::boxed(x!(insn.rs1()) as u32)),
            Op::FmvDX => f!(insn.rd() => x!(insn.rs1())),
        }
        if !O::TAKES_TIME {
            core.retired();
        }
        control.retired(pc, insn);
        observer.retired(pc, insn);
        pc = next;
    }
}
