//! The interrupt controller: the RISC-V Platform-Level Interrupt Controller Specification, version
//! 1.0.0.
//!
//! Each source has a level-triggered gateway. It forwards one request, which stays pending even if
//! the source's level falls, and forwards the next only after the completion of the former.
//! Reserved registers read as 0 and ignore writes; all accesses have 4 bytes.
use crate::device::{BadState, Device, Refused, Surroundings, check_state, load_state, save_state};
use serde::{Deserialize, Serialize};

/// The largest number of a source.
pub const MAX_SOURCES: u32 = 1023;
/// The largest number of contexts.
pub const MAX_CONTEXTS: usize = 15_872;

const PENDING: u64 = 0x1000;
const ENABLE: u64 = 0x2000;
const ENABLE_STRIDE: u64 = 0x80;
const CONTEXTS: u64 = 0x20_0000;
const CONTEXT_STRIDE: u64 = 0x1000;
const END: u64 = 0x400_0000;

/// A target of interrupts: a privilege mode of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The hart.
    pub hart: usize,
    /// The bit of its `mip` that the controller drives: 11 (MEIP) or 9 (SEIP).
    pub bit: u32,
}

/// What a PLIC has.
#[derive(Clone, Debug)]
pub struct PlicDescription {
    /// Sources are numbered from 1 to this (at most [`MAX_SOURCES`]).
    pub sources: u32,
    /// The bits of a priority or threshold, at most 32. QEMU's `virt` has 3.
    pub priority_bits: u32,
    /// The contexts in the order of the device tree's `interrupts-extended`.
    pub contexts: Vec<Context>,
}

/// A PLIC that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPlic {
    /// Too many sources, or none.
    #[error("a PLIC has from 1 to {MAX_SOURCES} sources, and not {0}")]
    Sources(u32),
    /// Too many contexts.
    #[error("a PLIC has at most {MAX_CONTEXTS} contexts, and not {0}")]
    Contexts(usize),
    /// Priorities wider than their register.
    #[error("a PLIC's priorities have from 1 to 32 bits, and not {0}")]
    Priority(u32),
}

/// One bit for each source.
type Bits = Vec<u32>;

fn bit(bits: &Bits, source: u32) -> bool {
    bits[source as usize / 32] >> (source % 32) & 1 != 0
}

fn set_bit(bits: &mut Bits, source: u32, value: bool) {
    let word = &mut bits[source as usize / 32];
    *word = *word & !(1 << (source % 32)) | u32::from(value) << (source % 32);
}

/// What can change of a context.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ContextState {
    enabled: Bits,
    threshold: u32,
    level: bool,
}

/// What can change.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    priority: Vec<u32>,
    levels: Bits,
    pending: Bits,
    /// The gateway has forwarded a request that is not complete.
    closed: Bits,
    contexts: Vec<ContextState>,
}

/// A PLIC. Its range has 0x4000000 bytes, of which a machine may map fewer.
#[derive(Clone, Debug)]
pub struct Plic {
    description: PlicDescription,
    state: State,
}

impl Plic {
    /// A PLIC after reset: all priorities are 0, and no source is enabled.
    pub fn new(description: PlicDescription) -> Result<Self, BadPlic> {
        let sources = description.sources;
        if !(1..=MAX_SOURCES).contains(&sources) {
            return Err(BadPlic::Sources(sources));
        }
        if description.contexts.len() > MAX_CONTEXTS {
            return Err(BadPlic::Contexts(description.contexts.len()));
        }
        if !(1..=32).contains(&description.priority_bits) {
            return Err(BadPlic::Priority(description.priority_bits));
        }
        let none: Bits = vec![0; sources as usize / 32 + 1];
        let context = ContextState {
            enabled: none.clone(),
            threshold: 0,
            level: false,
        };
        let state = State {
            priority: vec![0; sources as usize + 1],
            levels: none.clone(),
            pending: none.clone(),
            closed: none,
            contexts: vec![context; description.contexts.len()],
        };
        Ok(Self { description, state })
    }

    /// The level of a source's wire is now `level`. The machine calls this for
    /// [`Surroundings::set_source`]. Source 0 and those beyond the last do not exist.
    pub fn set_level(&mut self, source: u32, level: bool, around: &mut dyn Surroundings) {
        if source == 0 || source > self.description.sources {
            return;
        }
        set_bit(&mut self.state.levels, source, level);
        if self.forward(source) {
            self.update(around);
        }
    }

    /// The gateway forwards a request if its source is high and no request is open ("Interrupt Gateways").
    fn forward(&mut self, source: u32) -> bool {
        let state = &mut self.state;
        let forwards = bit(&state.levels, source) && !bit(&state.closed, source);
        if forwards {
            set_bit(&mut state.closed, source, true);
            set_bit(&mut state.pending, source, true);
        }
        forwards
    }

    /// The pending and enabled source of the highest priority above `threshold`; of several, the
    /// one with the lowest number ("Interrupt Priorities"). Priority 0 never interrupts.
    fn best(&self, context: &ContextState, threshold: u32) -> u32 {
        let mut best = (threshold, 0);
        let words = self.state.pending.iter().zip(&context.enabled);
        for (index, (pending, enabled)) in words.enumerate() {
            let mut left = pending & enabled;
            while left != 0 {
                let source = index as u32 * 32 + left.trailing_zeros();
                left &= left - 1;
                let priority = self.state.priority[source as usize];
                if priority > best.0 {
                    best = (priority, source);
                }
            }
        }
        best.1
    }

    fn update(&mut self, around: &mut dyn Surroundings) {
        for index in 0..self.state.contexts.len() {
            let context = &self.state.contexts[index];
            let level = self.best(context, context.threshold) != 0;
            if level != context.level {
                self.state.contexts[index].level = level;
                let Context { hart, bit } = self.description.contexts[index];
                around.set_hart_line(hart, bit, level);
            }
        }
    }

    /// Reads the claim register. The threshold does not matter ("Interrupt Claim Process").
    fn claim(&mut self, context: usize, around: &mut dyn Surroundings) -> u32 {
        let source = self.best(&self.state.contexts[context], 0);
        if source != 0 {
            set_bit(&mut self.state.pending, source, false);
            self.update(around);
        }
        source
    }

    /// Writes the register. The completion of a source that is not enabled for the context is
    /// ignored ("Interrupt Completion").
    fn complete(&mut self, context: usize, source: u32, around: &mut dyn Surroundings) {
        let enabled = &self.state.contexts[context].enabled;
        if source > self.description.sources || !bit(enabled, source) {
            return;
        }
        set_bit(&mut self.state.closed, source, false);
        if self.forward(source) {
            self.update(around);
        }
    }

    /// The bits of a word of sources that exist.
    fn existing(&self, word: usize) -> u32 {
        let first = word as u32 * 32;
        let after = (self.description.sources + 1).saturating_sub(first).min(32);
        let mask = ((1_u64 << after) - 1) as u32;
        mask & !u32::from(word == 0)
    }

    fn register(&self, offset: u64) -> Register {
        match offset {
            0..PENDING => Register::Priority((offset / 4) as usize),
            PENDING..ENABLE => Register::Pending((offset - PENDING) as usize / 4),
            ENABLE..CONTEXTS => {
                let (context, rest) = position(offset - ENABLE, ENABLE_STRIDE);
                Register::Enable(context, rest as usize / 4)
            }
            _ => match position(offset - CONTEXTS, CONTEXT_STRIDE) {
                (context, 0) => Register::Threshold(context),
                (context, 4) => Register::Claim(context),
                _ => Register::Reserved,
            },
        }
    }
}

enum Register {
    Priority(usize),
    Pending(usize),
    Enable(usize, usize),
    Threshold(usize),
    Claim(usize),
    Reserved,
}

fn position(offset: u64, stride: u64) -> (usize, u64) {
    ((offset / stride) as usize, offset % stride)
}

fn check_access(offset: u64, size: u32) -> Result<(), Refused> {
    match size == 4 && offset.is_multiple_of(4) && offset < END {
        true => Ok(()),
        false => Err(Refused),
    }
}

impl Device for Plic {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        check_access(offset, size)?;
        let state = &self.state;
        let contexts = &state.contexts;
        let value = match self.register(offset) {
            Register::Priority(source) => state.priority.get(source).copied(),
            Register::Pending(word) => state.pending.get(word).copied(),
            Register::Enable(context, word) => {
                let context = contexts.get(context);
                context.and_then(|context| context.enabled.get(word).copied())
            }
            Register::Threshold(context) => contexts.get(context).map(|c| c.threshold),
            Register::Claim(context) if context < contexts.len() => {
                Some(self.claim(context, around))
            }
            Register::Claim(_) | Register::Reserved => None,
        };
        Ok(value.unwrap_or_default().into())
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        check_access(offset, size)?;
        let value = value as u32;
        // Priorities and thresholds keep the bits that they have.
        let priority_mask = u32::MAX >> (32 - self.description.priority_bits);
        match self.register(offset) {
            Register::Priority(source) if source > 0 => {
                if let Some(priority) = self.state.priority.get_mut(source) {
                    *priority = value & priority_mask;
                }
            }
            Register::Enable(context, word) => {
                let existing = self.existing(word);
                let context = self.state.contexts.get_mut(context);
                if let Some(enabled) = context.and_then(|c| c.enabled.get_mut(word)) {
                    *enabled = value & existing;
                }
            }
            Register::Threshold(context) => {
                if let Some(context) = self.state.contexts.get_mut(context) {
                    context.threshold = value & priority_mask;
                }
            }
            Register::Claim(context) if context < self.state.contexts.len() => {
                self.complete(context, value, around);
                return Ok(());
            }
            _ => return Ok(()),
        }
        self.update(around);
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.state)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let state: State = load_state("PLIC", state)?;
        let words = self.state.pending.len();
        let mut bits = vec![&state.levels, &state.pending, &state.closed];
        bits.extend(state.contexts.iter().map(|context| &context.enabled));
        // A bit of a source that does not exist would have no priority.
        let exists = bits.iter().all(|bits| {
            let mut each = bits.iter().enumerate();
            bits.len() == words && each.all(|(word, bits)| bits & !self.existing(word) == 0)
        });
        let sources = exists && state.priority.len() == self.state.priority.len();
        check_state("PLIC", sources, "other sources")?;
        let contexts = state.contexts.len() == self.state.contexts.len();
        check_state("PLIC", contexts, "other contexts")?;
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    const MEIP: u32 = 11;
    const SEIP: u32 = 9;

    struct Controller(Plic, Mock);

    impl Controller {
        /// Two harts with M and S, 95 sources, priorities to 7, as QEMU's `virt`.
        fn new() -> Self {
            let contexts = (0..2).flat_map(|hart| [MEIP, SEIP].map(|bit| Context { hart, bit }));
            let description = PlicDescription {
                sources: 95,
                priority_bits: 3,
                contexts: contexts.collect(),
            };
            Self(Plic::new(description).unwrap(), Mock::default())
        }

        fn get(&mut self, offset: u64) -> u32 {
            self.0.read(offset, 4, &mut self.1).unwrap() as u32
        }

        fn set(&mut self, offset: u64, value: u32) {
            let written = self.0.write(offset, 4, value.into(), &mut self.1);
            written.unwrap();
        }

        fn enable(&mut self, context: u64, source: u32, priority: u32) {
            self.set(u64::from(source) * 4, priority);
            let register = ENABLE + context * ENABLE_STRIDE + u64::from(source / 32 * 4);
            let enabled = self.get(register) | 1 << (source % 32);
            self.set(register, enabled);
        }

        fn level(&mut self, source: u32, level: bool) {
            self.0.set_level(source, level, &mut self.1);
        }

        fn claim(&mut self, context: u64) -> u32 {
            self.get(CONTEXTS + context * CONTEXT_STRIDE + 4)
        }

        fn complete(&mut self, context: u64, source: u32) {
            self.set(CONTEXTS + context * CONTEXT_STRIDE + 4, source);
        }
    }

    #[test]
    fn a_level_is_claimed_once_until_it_is_complete() {
        let mut plic = Controller::new();
        plic.enable(1, 10, 1);
        plic.level(10, true);
        assert!(plic.1.line(0, SEIP) && !plic.1.line(0, MEIP));
        assert_eq!(plic.get(PENDING), 1 << 10);
        assert_eq!(plic.claim(1), 10);
        assert!(!plic.1.line(0, SEIP));
        assert_eq!((plic.get(PENDING), plic.claim(1)), (0, 0));
        // The level falls and rises in the handler: nothing new before the completion.
        plic.level(10, false);
        plic.level(10, true);
        assert!(!plic.1.line(0, SEIP));
        plic.complete(1, 10);
        assert!(plic.1.line(0, SEIP));
        assert_eq!(plic.claim(1), 10);
        plic.level(10, false);
        plic.complete(1, 10);
        assert!(!plic.1.line(0, SEIP));
    }

    #[test]
    fn a_request_outlives_its_level() {
        let mut plic = Controller::new();
        plic.level(40, true);
        plic.level(40, false);
        assert_eq!(plic.get(PENDING + 4), 1 << 8);
        plic.enable(0, 40, 1);
        assert!(plic.1.line(0, MEIP));
        assert_eq!(plic.claim(0), 40);
    }

    #[test]
    fn the_highest_priority_and_the_lowest_number_win() {
        let mut plic = Controller::new();
        for (source, priority) in [(3, 2), (5, 7), (9, 7), (70, 0)] {
            plic.enable(2, source, priority);
            plic.level(source, true);
        }
        assert!(plic.1.line(1, MEIP));
        assert_eq!([(); 4].map(|()| plic.claim(2)), [5, 9, 3, 0]);
        assert!(!plic.1.line(1, MEIP));
    }

    #[test]
    fn the_threshold_masks_the_line_and_not_the_claim() {
        let mut plic = Controller::new();
        plic.enable(3, 7, 4);
        plic.set(CONTEXTS + 3 * CONTEXT_STRIDE, 4);
        plic.level(7, true);
        assert!(!plic.1.line(1, SEIP));
        plic.set(CONTEXTS + 3 * CONTEXT_STRIDE, 3);
        assert!(plic.1.line(1, SEIP));
        plic.set(CONTEXTS + 3 * CONTEXT_STRIDE, 0xffff_ffff);
        assert_eq!(plic.get(CONTEXTS + 3 * CONTEXT_STRIDE), 7);
        assert!(!plic.1.line(1, SEIP));
        assert_eq!(plic.claim(3), 7);
    }

    #[test]
    fn one_source_reaches_several_contexts_and_one_claims_it() {
        let mut plic = Controller::new();
        plic.enable(1, 8, 1);
        plic.enable(3, 8, 1);
        plic.level(8, true);
        assert!(plic.1.line(0, SEIP) && plic.1.line(1, SEIP));
        assert_eq!(plic.claim(3), 8);
        assert!(!plic.1.line(0, SEIP) && !plic.1.line(1, SEIP));
        assert_eq!(plic.claim(1), 0);
        // Ignored: the source is not enabled for the context, or is none.
        for (context, source) in [(0, 8), (3, 9), (3, 0), (3, 96), (3, u32::MAX)] {
            plic.complete(context, source);
            assert_eq!(plic.get(PENDING), 0);
        }
        plic.complete(1, 8);
        assert_eq!(plic.get(PENDING), 1 << 8);
    }

    #[test]
    fn what_does_not_exist_reads_as_zero() {
        let mut plic = Controller::new();
        plic.set(0, 7);
        plic.set(96 * 4, 7);
        plic.set(PENDING, u32::MAX);
        for word in 0..4 {
            plic.set(ENABLE + word * 4, u32::MAX);
        }
        assert_eq!([0, 96 * 4, PENDING].map(|o| plic.get(o)), [0; 3]);
        let enabled = [0, 1, 2, 3].map(|word| plic.get(ENABLE + word * 4));
        assert_eq!(enabled, [0xffff_fffe, u32::MAX, u32::MAX, 0]);
        assert_eq!(plic.claim(4), 0);
        plic.complete(4, 1);
        plic.level(0, true);
        plic.level(96, true);
        assert!(plic.1.lines.is_empty());
        let mut access = |offset, size| plic.0.read(offset, size, &mut plic.1);
        assert_eq!(access(0, 8), Err(Refused));
        assert_eq!(access(2, 4), Err(Refused));
        assert_eq!(access(END, 4), Err(Refused));
        assert_eq!(access(CONTEXTS + 8, 4), Ok(0));
    }

    #[test]
    fn a_loaded_plic_goes_on() {
        let mut plic = Controller::new();
        plic.enable(1, 10, 1);
        plic.level(10, true);
        plic.claim(1);
        let mut other = Controller::new();
        other.0.load(&plic.0.save()).unwrap();
        other.complete(1, 10);
        assert!(other.1.line(0, SEIP));
        assert_eq!(other.claim(1), 10);
        let mut impossible = plic.0.clone();
        impossible.state.pending[0] = 1;
        assert!(other.0.load(&impossible.save()).is_err());
        impossible = plic.0.clone();
        impossible.state.contexts.pop();
        assert!(other.0.load(&impossible.save()).is_err());
    }

    #[test]
    fn impossible_descriptions_are_refused() {
        let description = |sources, priority_bits| PlicDescription {
            sources,
            priority_bits,
            contexts: vec![],
        };
        assert!(Plic::new(description(0, 3)).is_err());
        assert!(Plic::new(description(1024, 3)).is_err());
        assert!(Plic::new(description(9, 33)).is_err());
        let most = Plic::new(description(1023, 32)).unwrap();
        assert_eq!(most.existing(31), u32::MAX);
        assert_eq!(most.existing(0), u32::MAX - 1);
    }
}
