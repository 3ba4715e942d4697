//! What is said on stderr before a signal that NxP code caused ends the program: place and
//! registers. Async-signal-safe.
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use flick_abi::layout::Gate;
use flick_riscv::REGISTERS;
use flick_riscv::register::RA;

use crate::memory::nxp_stack;
use crate::os::fatal::write_stderr;
use crate::os::illegal;
use crate::os::text::Text;
use crate::reports::backtrace::{self, Outer, Step};
use crate::thread::activation::Activation;
use crate::thread::{Current, crossing_code};
use crate::{config, modules, translation};

/// Places in code, as a report shows them.
trait Places {
    fn place(&mut self, address: u64) -> &mut Self;
    fn source(&mut self, place: &modules::CodePlace) -> &mut Self;
    fn print(&mut self);
}

impl Places for Text {
    /// `0x55… in function+0x12 (file.c:34)`, or just the address. The function is the one that the
    /// author wrote: an inlined one has no offset.
    fn place(&mut self, address: u64) -> &mut Self {
        self.str("0x").hex(address, 0);
        if let Some(place) = modules::innermost(address) {
            // SAFETY: names are C strings of the module.
            unsafe { self.str(" in ").c_str(place.function) };
            if let Some(offset) = place.offset {
                self.str("+0x").hex(offset, 0);
            }
            if !place.file.is_null() {
                self.str(" (").source(&place).str(")");
            }
        }
        self
    }

    /// `file.c:34`; the file is known.
    fn source(&mut self, place: &modules::CodePlace) -> &mut Self {
        // SAFETY: names are C strings of the module.
        unsafe { self.c_str(place.file) };
        self.str(":").decimal(place.line)
    }

    fn print(&mut self) {
        write_stderr(self.bytes());
        self.clear();
    }
}

/// Before the default action of a SIGSEGV or SIGBUS. Silent unless NxP code has to do with it.
pub fn fault(signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t) {
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
    // SAFETY: faults have an address; for others it is not printed.
    let address = unsafe { info.si_addr() } as u64;
    if let Some(gate) = translation::leaf_entered(context) {
        // SAFETY: the context is this thread's, which has called a leaf.
        return unsafe { fault_in_leaf(signal, address, gate, context) };
    }
    // SAFETY: the thread's top activation is alive if it runs in the engine. Nothing goes on in
    // translated code once this is said, so its registers may be in the hart.
    let act = unsafe {
        let act = Current::get().and_then(|thread| thread.active.top().as_mut());
        if let Some(act) = act {
            if let Some(state) = translation::state_at(context) {
                act.context.hart = state;
            } else if let Some(entry) = translation::entered_at(pc) {
                // Somebody has sent it. Where the function was called is not known.
                act.context.hart.pc = entry;
                act.context.hart.x[RA] = 0;
            }
            Some(&*act)
        } else {
            None
        }
    };
    if let (Some(act), true) = (act, illegal::is_illegal(signal, context)) {
        return stopped(act, signal);
    }
    let mut text = Text::new();
    if nxp_stack::guard_of(address as usize).is_some() {
        return overflow(address, act.map(|act| (act, Outer::Rest)));
    }
    if let Some(act) = act {
        if !act.in_host() && in_engine(pc) {
            return access(signal, address, act, Outer::Rest);
        }
        if act.in_host() && pc == address && called_by_crossing(context) {
            text.str("flick: error: [FLK0501] ")
                .str(name(signal))
                .str(" in NxP code: call of 0x");
            text.hex(address, 0)
                .str(", which is no code, from ")
                .place(act.context.hart.x[RA])
                .str("\n");
            text.print();
            registers(&mut text, act, Outer::Rest, FAULT);
            return;
        }
    }
    if pc == address && modules::in_image(pc) {
        text.str("flick: error: [FLK0501] ").str(name(signal));
        text.str(": host code jumped into NxP code that is not the entry of a function: ");
        text.place(pc)
            .str("\n  help: call the function by its own address (a gate), not by a computed one; ")
            .str("see `flick explain FLK0501`\n");
        text.print();
    }
}

/// The same in a leaf that the host has called by `gate` without a crossing: the report is as if there
/// were an activation.
///
/// # Safety
/// The context is that of a signal in this thread, within the leaf.
unsafe fn fault_in_leaf(
    signal: c_int,
    address: u64,
    gate: *const Gate,
    context: &libc::ucontext_t,
) {
    // SAFETY: any bits are a valid activation.
    let mut act: Activation = unsafe { MaybeUninit::zeroed().assume_init() };
    act.gate = gate;
    // SAFETY: by contract.
    if let Some(state) = unsafe { translation::leaf_state_at(context) } {
        act.context.hart = state;
    }
    if nxp_stack::guard_of(address as usize).is_some() {
        overflow(address, Some((&act, Outer::All)));
    } else {
        access(signal, address, &act, Outer::All);
    }
}

/// An access to `address` by the NxP code of `act`.
fn access(signal: c_int, address: u64, act: &Activation, outer: Outer) {
    let mut text = Text::new();
    text.str("flick: error: [FLK0501] ")
        .str(name(signal))
        .str(" in NxP code: access to 0x");
    text.hex(address, 0)
        .str(" at ")
        .place(act.context.hart.pc)
        .str("\n");
    text.print();
    registers(&mut text, act, outer, FAULT);
}

/// Whether the code at the context's pc was called by NxP code. The pc is no code, so that nothing
/// has been pushed since.
fn called_by_crossing(context: &libc::ucontext_t) -> bool {
    let sp = context.uc_mcontext.gregs[libc::REG_RSP as usize] as *const u64;
    // SAFETY: the call has just stored its return address there.
    crossing_code::is_host_call(unsafe { sp.read() })
}

/// Before the default action of a signal that NxP code raised by an instruction.
pub fn stopped(act: &Activation, signal: c_int) {
    let mut text = Text::new();
    text.str("flick: error: [FLK0501] ")
        .str(name(signal))
        .str(" in NxP code at ");
    text.place(act.context.hart.pc);
    if signal == libc::SIGILL {
        say_who_lacks(&mut text, act.context.hart.pc);
    }
    text.str("\n").print();
    registers(&mut text, act, Outer::Rest, FAULT);
}

/// `: no hart of the machine card has vsetvli (v)`, if that is why the instruction at `pc` is illegal.
fn say_who_lacks(text: &mut Text, pc: u64) {
    let Some(bits) = modules::instruction_at(pc) else {
        return;
    };
    match CARD_HAS.get() {
        Some(has) if has(bits) => return,
        Some(_) => text
            .str(": no hart of the machine ")
            .str(&config::get().machine)
            .str(" has "),
        None => text.str(": there is no card, whose harts may have "),
    };
    match flick_riscv::extension_name(bits) {
        Some((op, extension)) => text.str(op).str(" (").str(extension).str(")"),
        None => text.str("the instruction 0x").hex(bits.into(), 0),
    };
}

/// Has any hart of the card an instruction? Async-signal-safe.
static CARD_HAS: OnceLock<fn(u32) -> bool> = OnceLock::new();

/// NxP code runs on a card, which says what its harts have.
pub fn set_card(has: fn(u32) -> bool) {
    CARD_HAS.get_or_init(|| has);
}

fn overflow(address: u64, act: Option<(&Activation, Outer)>) {
    let mut text = Text::new();
    text.str("flick: error: [FLK0502] NxP stack overflow: access to 0x");
    text.hex(address, 0);
    match act {
        Some((act, outer)) => {
            text.str(" at ")
                .place(act.context.hart.pc)
                .str("\n")
                .print();
            registers(&mut text, act, outer, OVERFLOW);
        }
        None => text.str(" before the first call\n").str(OVERFLOW).print(),
    }
}

const FAULT: &str = "  help: look at that line (build with -g for file and line), or run with FLICK_OFFLOAD=off \
     in a debugger; see `flick explain FLK0501`\n";
const OVERFLOW: &str = "  help: end the recursion, or raise the limit before the thread starts (`ulimit -s`, \
     pthread_attr_setstacksize); see `flick explain FLK0502`\n";

fn registers(text: &mut Text, act: &Activation, outer: Outer, help: &str) {
    text.str("  pc   ").hex(act.context.hart.pc, 16);
    for (at, name) in REGISTERS.iter().enumerate().skip(1) {
        if at % 4 == 0 {
            text.str("\n");
        }
        text.str("  ")
            .str(name)
            .str(&"     "[..5 - name.len().max(1)])
            .hex(act.context.hart.x[at], 16);
    }
    text.str("\n").print();
    // An endless recursion says the same again and again.
    let most = if help == OVERFLOW { 6 } else { 24 };
    calls(text, act, outer, most);
    text.str(help).print();
}

/// The NxP's calls, innermost first: `#0 f at a.c:3 (inlined by)`, `#1 g+0x8 at a.c:9`.
fn calls(text: &mut Text, act: &Activation, outer: Outer, most: usize) {
    let thread = Current::get();
    text.str("  NxP calls, innermost first:\n");
    let mut number = 0;
    let mut steps = 0;
    backtrace::walk(thread.as_deref(), act, outer, most, |step| {
        steps += 1;
        match step {
            Step::Frame { pc } => modules::describe(pc, |place| {
                text.str("  #")
                    .decimal(number)
                    .str(if number < 10 { "  " } else { " " });
                number += 1;
                // SAFETY: names are C strings of the module.
                unsafe { text.c_str(place.function) };
                if let Some(offset) = place.offset {
                    text.str("+0x").hex(offset, 0);
                }
                if !place.file.is_null() {
                    text.str(" at ").source(&place);
                }
                text.str(if place.offset.is_none() {
                    " (inlined by)\n"
                } else {
                    "\n"
                });
            }),
            Step::Host { gate } => {
                text.str("      called by the host through the gate of ");
                let mut name = None;
                // SAFETY: the gate of a live activation is its module's.
                modules::describe(unsafe { (*gate).image } as u64, |place| {
                    name = Some(place.function);
                });
                // SAFETY: names are C strings of the module.
                unsafe { text.c_str(name.unwrap_or((*gate).name)) };
                text.str("\n");
            }
            Step::Lost => {
                text.str("      its caller is not known\n");
            }
        }
        text.print();
    });
    if steps == most {
        text.str("      and so on\n").print();
    }
}

fn name(signal: c_int) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        _ => "signal",
    }
}

/// Whether a thread at `pc` executes NxP code.
pub fn in_engine(pc: u64) -> bool {
    let [start, end] = crossing_code::engine();
    (start..end).contains(&pc) || translation::is_code(pc)
}
