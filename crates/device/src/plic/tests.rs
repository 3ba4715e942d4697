//! Gateways, priorities, claims and completions.
use super::*;
use crate::mock::Mock;

const MEIP: u32 = 11;
const SEIP: u32 = 9;

struct Controller(Plic, Mock);

impl Controller {
    /// Two harts with M and S, 95 sources, priorities to 7, as QEMU's `virt`.
    fn new() -> Self {
        Self::with_gateways(Gateways::Level)
    }

    fn with_gateways(gateways: Gateways) -> Self {
        let contexts = (0..2).flat_map(|hart| [MEIP, SEIP].map(|bit| Context { hart, bit }));
        let description = PlicDescription {
            gateways,
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
    other.0.reset();
    assert_eq!(other.0.save(), Controller::new().0.save());
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
        gateways: Gateways::Level,
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

#[test]
fn a_high_level_interrupts_again_at_its_completion() {
    let mut plic = Controller::new();
    plic.enable(1, 10, 1);
    plic.level(10, true);
    assert_eq!(plic.claim(1), 10);
    plic.complete(1, 10);
    assert_eq!(plic.claim(1), 10);
    plic.level(10, false);
    plic.complete(1, 10);
    assert_eq!(plic.claim(1), 0);
}

#[test]
fn a_message_interrupts_once_however_long_the_level_is_high() {
    let mut plic = Controller::with_gateways(Gateways::Message);
    plic.enable(1, 10, 1);
    plic.level(10, true);
    assert_eq!(plic.claim(1), 10);
    plic.complete(1, 10);
    assert_eq!(plic.claim(1), 0);
    // The next message needs no low level in between.
    plic.level(10, true);
    assert_eq!(plic.claim(1), 10);
    // Two while the request is open count once, and the low level takes neither back.
    plic.level(10, true);
    plic.level(10, true);
    plic.level(10, false);
    assert_eq!(plic.claim(1), 0);
    plic.complete(1, 10);
    assert!(plic.1.line(0, SEIP));
    assert_eq!(plic.claim(1), 10);
    plic.complete(1, 10);
    assert_eq!(plic.claim(1), 0);
}
