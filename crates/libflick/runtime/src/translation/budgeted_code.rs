//! Translations of code that the harts of a card execute (`docs/card.md`): within budgets, and for the
//! instructions that a hart has. The host is not called from this code: it leaves it.
//!
//! The process's translator makes them, since on a card it makes no others. Each ISA has a set.
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use flick_riscv::{Insn, Isa, illegal};
use flick_translator::{Context, Counting, Lookup, Program, Summary, Target, Targets, is_on_hart};

use super::process_code::Process;
use super::shown_code::{self, may_be_elsewhere};
use super::{STACK, TRANSLATOR, cannot_translate, hotness, make, on_signal_stack, perf};
use crate::config::{self, Engine};
use crate::memory::own_heaps;
use crate::modules::address_meaning;
use crate::os::signal_mask::BlockedSignals;

/// ISAs that have translations. Harts of others interpret.
const SETS: usize = 4;

/// What finds the code of each set: if it is worth a translation, and in any case.
const LOOKUPS: [(Lookup, Lookup); SETS] = [
    (entry_if_hot::<0>, entry_for::<0>),
    (entry_if_hot::<1>, entry_for::<1>),
    (entry_if_hot::<2>, entry_for::<2>),
    (entry_if_hot::<3>, entry_for::<3>),
];

/// See [`translates`].
static TRANSLATES: AtomicBool = AtomicBool::new(false);

/// The ISA of each set; 0: there is none yet.
static ISAS: [AtomicU64; SETS] = [const { AtomicU64::new(0) }; SETS];
/// Where jumps of each set lead; null: there is none yet.
static TARGETS: [AtomicPtr<Targets>; SETS] = [const { AtomicPtr::new(ptr::null_mut()) }; SETS];

/// Makes the translator, if code on lent harts is to be translated and can be. Call once, before any module's
/// code runs.
pub fn init() {
    let engine = config::get().engine;
    // The link has made no code that a hart could be taken from.
    if matches!(engine, Engine::Interpret | Engine::Ahead) {
        return;
    }
    super::target_table::__flick_1_targets.init();
    flick_translator::set_vector_calls(super::state_at_vector_call);
    match make(Counting::Budget, LOOKUPS[0].1) {
        Ok(()) => TRANSLATES.store(true, Ordering::Relaxed),
        Err(why) if engine == Engine::Translate => cannot_translate(&why),
        Err(_) => {}
    }
}

/// Is code on lent harts translated, where it is hot?
pub fn translates() -> bool {
    TRANSLATES.load(Ordering::Relaxed)
}

/// What finds translated code for harts with this ISA.
pub fn lookup(isa: Isa) -> Lookup {
    match set_of(isa) {
        Some(set) => LOOKUPS[set].0,
        None => nothing,
    }
}

fn set_of(isa: Isa) -> Option<usize> {
    let has = |known: &AtomicU64| known.load(Ordering::Acquire) == isa.bits();
    ISAS.iter().position(has).or_else(|| add_set(isa))
}

#[cold]
fn add_set(isa: Isa) -> Option<usize> {
    if on_signal_stack() {
        return None;
    }
    let added = TRANSLATOR.try_with(|translator| {
        let translator = translator.as_mut()?;
        let set = ISAS
            .iter()
            .position(|known| known.load(Ordering::Relaxed) == 0)?;
        if set != 0 {
            STACK.call(|| own_heaps::with(|| translator.add_set(LOOKUPS[set].1)));
        }
        let targets = ptr::from_ref(translator.targets_of(set)).cast_mut();
        TARGETS[set].store(targets, Ordering::Relaxed);
        ISAS[set].store(isa.bits(), Ordering::Release);
        Some(set)
    });
    added.flatten()
}

unsafe extern "C" fn nothing(_: *mut Context, _: u64) -> u64 {
    0
}

unsafe extern "C" fn entry_for<const SET: usize>(_: *mut Context, target: u64) -> u64 {
    known(SET, target).unwrap_or_else(|| translate(SET, target))
}

unsafe extern "C" fn entry_if_hot<const SET: usize>(_: *mut Context, target: u64) -> u64 {
    match known(SET, target).or_else(|| shown_code::entry(target)) {
        Some(known) => known,
        None if hotness::is_hot(target) => translate(SET, target),
        None => 0,
    }
}

fn known(set: usize, target: u64) -> Option<u64> {
    // SAFETY: null, or a table that lives as long as the process.
    unsafe { TARGETS[set].load(Ordering::Relaxed).as_ref() }?.get(target)
}

#[cold]
fn translate(set: usize, target: u64) -> u64 {
    let leave = flick_translator::leave_at_call_counted as *const () as u64;
    let (meaning, lasting) = address_meaning::classify(target);
    let address = match meaning {
        address_meaning::Target::Nxp(address) if !may_be_elsewhere(target, address) => {
            Some(address)
        }
        _ => None,
    };
    let Some(address) = address else {
        if lasting {
            let _ = TRANSLATOR.try_with(|translator| {
                if let Some(translator) = translator {
                    translator.remember_in(set, target, leave);
                }
            });
        }
        return leave;
    };
    if !lasting && let Some(known) = known(set, address) {
        return known;
    }
    // It counts in memory.
    if shown_code::called(address).is_some() {
        return leave;
    }
    // See `super::translate`.
    if on_signal_stack() {
        return 0;
    }
    let isa = Isa::from_bits(ISAS[set].load(Ordering::Acquire));
    // A handler without a stack of its own would run on the translator's.
    let _blocked = BlockedSignals::new();
    let entry = TRANSLATOR.try_with(|translator| {
        let translator = translator.as_mut()?;
        STACK.call(|| {
            own_heaps::with(|| {
                let made = translator.usage().translations;
                let entry = translator.entry_in(set, &OnHart { isa }, address)?;
                if translator.usage().translations != made
                    && let Some((guest, host)) = translator.states().translation_at(entry)
                {
                    perf::add(translator, host, guest);
                }
                if lasting && target != address {
                    translator.remember_in(set, target, entry);
                }
                Some(entry)
            })
        })
    });
    entry.flatten().unwrap_or(0)
}

/// The NxP code of the process as a hart with this ISA sees it.
struct OnHart {
    isa: Isa,
}

impl OnHart {
    /// What the hart lacks is left to the interpreter, which finds that out.
    fn limited(&self, pc: u64, insn: Insn) -> Insn {
        if is_on_hart(self.isa, insn) {
            return insn;
        }
        // SAFETY: there is an instruction of so many bytes.
        let bits = unsafe {
            match insn.len() {
                2 => u32::from((pc as *const u16).read_unaligned()),
                _ => (pc as *const u32).read_unaligned(),
            }
        };
        illegal(bits)
    }
}

impl Program for OnHart {
    fn insn(&self, pc: u64) -> Option<Insn> {
        Process.insn(pc).map(|insn| self.limited(pc, insn))
    }

    fn function(&self, pc: u64) -> Option<std::ops::Range<u64>> {
        Process.function(pc)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        Process.constant(address, len)
    }

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        Process.jump(pc)
    }

    fn summary(&self, pc: u64) -> Option<Summary> {
        Process.summary(pc)
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        match Process.resolve(target) {
            Some(Target::Guest(address)) if may_be_elsewhere(target, address) => {
                Some(Target::Elsewhere)
            }
            resolved => resolved,
        }
    }
}
