//! The interrupt controller: the RISC-V Platform-Level Interrupt Controller Specification, version
//! 1.0.0.
//!
//! Each source has a gateway. It forwards one request, which stays pending even if the source's
//! level falls, and forwards the next only after the completion of the former ([`Gateways`] says
//! why it does). The specification leaves the kind of the gateways to the machine.
//! Reserved registers read as 0 and ignore writes; all accesses have 4 bytes.
use crate::device::{BadState, Device, Refused, Surroundings, check_state, load_state, save_state};
use serde::{Deserialize, Serialize};

/// The largest number of a source.
const MAX_SOURCES: u32 = 1023;
/// The largest number of contexts.
const MAX_CONTEXTS: usize = 15_872;

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

/// The causes of a request after the first ("Interrupt Gateways").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gateways {
    /// A source that is high at the completion interrupts again.
    Level,
    /// Each call of [`Plic::set_level`] with a high level is a message, and so a request. One that
    /// comes while a request is open is kept until its completion, and more than one count once.
    /// QEMU's PLIC does so, and xv6 needs it: its driver never ends "holding register empty".
    Message,
}

/// What a PLIC has.
#[derive(Clone, Debug)]
pub struct PlicDescription {
    /// The kind of all gateways.
    pub gateways: Gateways,
    /// Sources are numbered from 1 to this (at most 1023).
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
    /// The gateway forwards a request as soon as none is open.
    waiting: Bits,
    contexts: Vec<ContextState>,
}

impl State {
    fn new(description: &PlicDescription) -> Self {
        let none: Bits = vec![0; description.sources as usize / 32 + 1];
        let context = ContextState {
            enabled: none.clone(),
            threshold: 0,
            level: false,
        };
        Self {
            priority: vec![0; description.sources as usize + 1],
            levels: none.clone(),
            pending: none.clone(),
            closed: none.clone(),
            waiting: none,
            contexts: vec![context; description.contexts.len()],
        }
    }
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
        let state = State::new(&description);
        Ok(Self { description, state })
    }

    /// The level of a source's wire is now `level`. The machine calls this for
    /// [`Surroundings::set_source`]. Source 0 and those beyond the last do not exist.
    pub fn set_level(&mut self, source: u32, level: bool, around: &mut dyn Surroundings) {
        if source == 0 || source > self.description.sources {
            return;
        }
        set_bit(&mut self.state.levels, source, level);
        match self.description.gateways {
            Gateways::Level => set_bit(&mut self.state.waiting, source, level),
            Gateways::Message if level => set_bit(&mut self.state.waiting, source, true),
            Gateways::Message => {}
        }
        if self.forward(source) {
            self.update(around);
        }
    }

    /// The gateway forwards a request that waits if none is open ("Interrupt Gateways").
    fn forward(&mut self, source: u32) -> bool {
        let state = &mut self.state;
        let forwards = bit(&state.waiting, source) && !bit(&state.closed, source);
        if forwards {
            let level = self.description.gateways == Gateways::Level;
            set_bit(&mut state.waiting, source, level);
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

    fn reset(&mut self) {
        self.state = State::new(&self.description);
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.state)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let state: State = load_state("PLIC", state)?;
        let words = self.state.pending.len();
        let mut bits = vec![&state.levels, &state.pending, &state.closed, &state.waiting];
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
mod tests;
