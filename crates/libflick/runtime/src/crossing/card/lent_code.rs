//! Code of an activation on a lent hart: the owner executes it within the hart's budget.
//!
//! It is translated code ([`crate::translation::budgeted_code`]), which the crossing calls, or the interpreter
//! executes it. So the rest of a budget may begin anew, when translated code has come back
//! ([`Lent::of`]). A timed run observes each instruction, and has no translated code.
use std::mem;

use flick_abi::card_interface::{Executed, NO_EXCEPTION};
use flick_abi::descriptor::{OWNER_HINTS, OWNER_LEFT};
use flick_engine::{
    Cause, CodeRegion, CsrAccess, Exit, Hart, Identity, InstructionBudget, LimitedCore, NoObserver,
    ProcessCore, Trap, access_fcsr, csr_number,
};
use flick_riscv::Isa;
use flick_riscv::register::T2;
use flick_translator::Reason;

use super::hints;
use super::ordered;
use super::owner::Owner;
use super::tile_place;
use super::tiles;
use super::token::{self, Loan};
use crate::accounts::hook::Accounts;
use crate::accounts::timed;
use crate::accounts::timed::card_time;
use crate::accounts::timed::tile_cores::HartOfTile;
use crate::crossing::backend::Event;
use crate::crossing::step;
use crate::modules::address_meaning::Target;
use crate::thread::crossing_code;
use crate::thread::entered::Entered;
use crate::translation;

/// Where a hart's mark is in [`tile_place::how`]; below is its budget.
const MARK_SHIFT: u32 = 21;
const _: () = assert!(MARK_SHIFT + u32::BITS == tile_place::PLACE_SHIFT);
/// A budget has 20 bits, and above these a bit that says whether it is in units of 16.
const BUDGET: u64 = (1 << (MARK_SHIFT - 1)) - 1;
const IN_UNITS: u64 = BUDGET + 1;
const LOG2_UNIT: u32 = 4;

/// Instructions in a turn of code that is interpreted. A whole budget of them would take 40 ms, in which no
/// other thread crosses.
const INTERPRETED: u64 = 250_000;

/// As much of a budget as the owner takes at a time. A hart that comes back early is lent again.
fn turn(budget: u64) -> u64 {
    match translation::budgeted_code::translates() {
        true => budget,
        false => budget.min(INTERPRETED),
    }
}

/// As much of a budget as a word may say.
fn budget_word(budget: u64) -> u64 {
    match budget <= BUDGET {
        true => budget,
        false => IN_UNITS | (budget >> LOG2_UNIT).min(BUDGET),
    }
}

fn budget_of(word: u64) -> u64 {
    match word & IN_UNITS {
        0 => word & BUDGET,
        _ => (word & BUDGET) << LOG2_UNIT,
    }
}

// SAFETY: NxP code is the program's own code; it may touch whatever its host code may.
const MEMORY: Identity = unsafe { Identity::new() };

/// How the code of an owner ends on a lent hart.
#[derive(Clone, Copy)]
pub enum End {
    /// The budget is over.
    Budget,
    /// A jump to this address, which is no code of an image.
    Leaves(u64),
    /// An instruction that cannot be executed.
    Fault(Exit),
    /// A call of `flick_hint`.
    Hints,
    /// The hart's kernel gets this hint.
    Hint(u64),
    /// It goes on on another tile.
    Moves,
}

/// What is at the pc of an activation.
pub enum Meaning {
    /// Code of this region. The pc is there, and no gate that leads there.
    Code(&'static CodeRegion),
    /// The end of its function.
    Returns,
    /// A host function, or what stands for a call of one.
    Calls { target: u64, pc: u64 },
}

impl Meaning {
    /// What is to be done without the card.
    pub fn event(self) -> Event {
        match self {
            Self::Returns | Self::Code(_) => Event::Return,
            Self::Calls { target, pc } => Event::HostCall { target, pc },
        }
    }
}

/// On this tile.
pub fn meaning(act: &mut Entered, tile: u16) -> Meaning {
    let thread = act.thread();
    let pc = act.context.hart.pc;
    let target = if pc == crossing_code::return_address() {
        return Meaning::Returns;
    } else if pc == crossing_code::xcall_address() {
        act.context.hart.x[T2]
    } else {
        pc
    };
    let Target::Nxp(address) = thread.resolve(target) else {
        return Meaning::Calls { target, pc };
    };
    if pc != target && step::plan_of_call(act).has_variadic_arguments {
        // Only the host has them where a function without dots looks for them.
        return Meaning::Calls { target, pc };
    }
    if address != target && tiles::is_elsewhere(address, tile) {
        return Meaning::Calls { target, pc };
    }
    act.context.hart.pc = address;
    // SAFETY: null, or a region, which lives while its code runs.
    match unsafe { thread.region(address).as_ref() } {
        Some(region) => Meaning::Code(region),
        // Its library was closed under the running code.
        None => Meaning::Calls { target, pc },
    }
}

/// What the code of an owner has taken: instructions, and picoseconds in a timed run.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub instructions: u64,
    pub time: u64,
}

/// A hart that is lent to an activation.
#[derive(Clone, Copy)]
pub struct Lent {
    /// [`Loan::mark`].
    mark: u32,
    budget: u64,
    isa: Isa,
}

impl Lent {
    /// The hart of this loan is lent to `act`. In [`Context::retired`](flick_translator::Context::retired) is
    /// the negative of what is left, but in timed runs.
    pub fn begin<A: Accounts>(act: &mut Entered, loan: Loan, budget: u64, isa: Isa) -> Self {
        let (mark, isa) = (loan.mark(), tiles::limited(isa));
        let word = budget_word(turn(budget));
        let budget = if is_timed::<A>() {
            budget
        } else {
            budget_of(word)
        };
        if !is_timed::<A>() {
            A::instructions(&mut act.context);
            act.context.retired = budget.wrapping_neg();
        }
        tile_place::set_how(act, u64::from(mark) << MARK_SHIFT | word);
        Self { mark, budget, isa }
    }

    /// The hart on which translated code of `act` was, if it has come back from there.
    pub fn of(act: &Entered) -> Option<Self> {
        let word = tile_place::how(act);
        let mark = (word >> MARK_SHIFT) as u32;
        (mark != 0).then(|| Self {
            mark,
            budget: budget_of(word),
            // It is of no use if the hart was given back meanwhile.
            isa: tiles::limited(token::lent_isa(Owner::of_thread().slot())),
        })
    }

    /// Does the thread have the hart still?
    pub fn is_held(&self) -> bool {
        let loan = Owner::of_thread().loan();
        loan.is_some_and(|loan| self.is(loan) && token::is_lent(loan))
    }

    /// Until when the code may go on, whose time is over: where threads are ordered, as long as the hart may.
    fn may_go_on_until(&self) -> Option<u64> {
        let loan = Owner::of_thread().loan();
        loan.filter(|&loan| self.is(loan))
            .and_then(ordered::may_go_on_until)
    }

    /// Is it that of this loan?
    pub fn is(&self, loan: Loan) -> bool {
        self.mark == loan.mark()
    }

    /// Executes the code of `act` from `hart.pc` on, within what is left of the budget, up to where translated
    /// code is to be entered, at this address. Or says how it ends. `reason`: why translated code has come
    /// back.
    pub fn run<A: Accounts>(
        &self,
        act: &mut Entered,
        tile: u16,
        mut reason: Reason,
    ) -> Result<u64, (End, Spent)> {
        if is_timed::<A>() {
            return Err(observe::<A>(act, tile, self));
        }
        let lookup = translation::budgeted_code::lookup(self.isa);
        let end = loop {
            let code = match meaning(act, tile) {
                Meaning::Code(code) => code,
                Meaning::Calls { target, .. } if hints::is_call(target) => break End::Hints,
                Meaning::Returns | Meaning::Calls { .. } => {
                    break End::Leaves(act.context.hart.pc);
                }
            };
            let (context, reason) = (&mut act.context, mem::take(&mut reason));
            // SAFETY: NxP code is the program's own.
            let advanced = unsafe {
                flick_translator::advance_within(context, &MEMORY, code, self.isa, lookup, reason)
            };
            match advanced {
                Ok(translated) => return Ok(translated),
                Err(Exit::Leave) => {}
                Err(Exit::Budget) => break End::Budget,
                Err(exit) => break End::Fault(exit),
            }
        };
        Err((end, self.spent::<A>(act)))
    }

    /// What the code has taken, of which the accounts learn.
    pub fn spent<A: Accounts>(&self, act: &mut Entered) -> Spent {
        let instructions = self.budget.wrapping_add(act.context.retired);
        act.context.retired = if A::COUNT { instructions } else { 0 };
        Spent {
            instructions,
            time: 0,
        }
    }
}

fn is_timed<A: Accounts>() -> bool {
    A::COUNT && timed::enabled()
}

/// The same in a timed run, whose budget is a time. Scalar instructions that the platform's core lacks are
/// emulated on each hart.
fn observe<A: Accounts>(act: &mut Entered, tile: u16, lent: &Lent) -> (End, Spent) {
    let (begin, before) = (card_time::now(), act.context.retired);
    let mut until = card_time::until(begin.saturating_add(lent.budget));
    let isa = lent.isa;
    let on = HartOfTile { isa, tile };
    let end = loop {
        let code = match meaning(act, tile) {
            Meaning::Code(code) => code,
            Meaning::Calls { target, .. } if hints::is_call(target) => break End::Hints,
            Meaning::Returns | Meaning::Calls { .. } => break End::Leaves(act.context.hart.pc),
        };
        match observe_in::<A>(act, code, on, until) {
            Exit::Leave => {}
            Exit::Budget => match lent.may_go_on_until() {
                Some(time) => until = card_time::until(time),
                None => break End::Budget,
            },
            exit => break End::Fault(exit),
        }
    };
    let spent = Spent {
        instructions: act.context.retired - before,
        time: card_time::now() - begin,
    };
    (end, spent)
}

/// Up to where the code is left, or up to this time of the thread. Threads that do not observe their code take
/// no time for it.
fn observe_in<A: Accounts>(
    act: &mut Entered,
    code: &CodeRegion,
    on: HartOfTile,
    until: u128,
) -> Exit {
    if let Some(exit) = A::observe(&mut act.context, &MEMORY, code, (until, Some(on))) {
        return exit;
    }
    let mut core = LimitedCore::new(ProcessCore::new(&MEMORY, code), on.isa);
    let mut budget = InstructionBudget { left: u64::MAX };
    let hart = &mut act.context.hart;
    let exit = flick_engine::run(hart, &mut core, &mut NoObserver, &mut budget);
    act.context.retired += u64::MAX - budget.left;
    exit
}

/// `mcause` of a fetch from what is no code of the hart's, and of an illegal instruction.
const INVERTED_NX: u64 = Cause::FetchPage as u64;
pub const ILLEGAL: u64 = 2;
pub const BREAKPOINT: u64 = 3;

/// How the hart comes back.
pub fn executed(act: &mut Entered, (hart, end): (u32, End), spent: Spent) -> Executed {
    let pc = act.context.hart.pc;
    let (cause, value) = match end {
        End::Budget => (NO_EXCEPTION, 0),
        End::Leaves(to) => (INVERTED_NX, to),
        End::Hint(what) => (OWNER_HINTS, what),
        // No hart takes a hint as its code has it.
        End::Moves | End::Hints => (OWNER_LEFT, 0),
        End::Fault(Exit::Illegal { bits }) => (ILLEGAL, bits.into()),
        End::Fault(Exit::Ebreak) => (BREAKPOINT, pc),
        End::Fault(Exit::Trap(Trap { cause, addr })) => (cause as u64, addr),
        // A program of the host calls no kernel of the card.
        End::Fault(_) => (ILLEGAL, 0),
    };
    Executed {
        hart,
        instructions: spent.instructions,
        time: spent.time,
        fcsr: fcsr(&mut act.context.hart),
        cause,
        value,
    }
}

/// The hart's fcsr.
pub fn fcsr(hart: &mut Hart) -> u64 {
    let access = CsrAccess {
        number: csr_number::FCSR,
        reads: true,
        write: None,
    };
    access_fcsr(hart, access).unwrap_or(0)
}
