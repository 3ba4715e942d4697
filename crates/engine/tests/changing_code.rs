//! Code made and changed at run time: a hart's `fence.i` (ISA manual, chapter "Zifencei").

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited, run};

const RET: u32 = 0x0000_8067;
const FENCE_I: u32 = 0x0000_100f;
/// sw a2, 0(a1)
const STORE: u32 = 0x00c5_a023;
const ILLEGAL: u32 = 0;

/// addi a0, x0, value
fn li_a0(value: u32) -> u32 {
    0x0000_0513 | value << 20
}

fn words<const N: usize>(from: [u32; N]) -> Box<[AtomicU32]> {
    from.into_iter().map(AtomicU32::new).collect()
}

fn region(code: &[AtomicU32]) -> CodeRegion {
    // SAFETY: lives as long as the tests' regions do; nothing but atomic and guest stores changes
    // it.
    unsafe { CodeRegion::new(code.as_ptr() as u64, size_of_val(code) as u64) }
}

/// Runs from word `from` of the code; a1 points to word `target`, a2 holds `new`. Returns a0.
fn execute(code: &CodeRegion, from: u64, target: u64, new: u32) -> u64 {
    let mut hart = Hart::ZERO;
    hart.pc = code.base() + 4 * from;
    hart.x[10] = 99;
    hart.x[11] = code.base() + 4 * target;
    hart.x[12] = new.into();
    // SAFETY: the tests' code stores to itself.
    let memory = unsafe { Identity::new() };
    assert_eq!(
        run(
            &mut hart,
            &mut ProcessCore::new(&memory, code),
            &mut NoObserver,
            &mut Unlimited
        ),
        Exit::Leave
    );
    hart.x[10]
}

#[test]
fn a_hart_executes_what_it_has_stored() {
    let memory = words([STORE, FENCE_I, li_a0(1), RET]);
    let code = region(&memory);
    assert_eq!(execute(&code, 2, 2, 0), 1);
    for value in 2..20 {
        assert_eq!(execute(&code, 0, 2, li_a0(value)), value.into());
        assert_eq!(execute(&code, 2, 2, 0), value.into());
    }
    // Two instructions in the place of one, c.li a0, 5; c.addi a0, 1: the second was never a start.
    assert_eq!(execute(&code, 0, 2, 0x0505_4515), 6);
    // And one again.
    assert_eq!(execute(&code, 0, 2, li_a0(7)), 7);
}

#[test]
fn what_stands_before_the_fence_is_changed_too() {
    // The program changes its own first instruction, and goes back to it: 1: li a0, 1; bnez a3, 2f;
    // li a3, 1; sw a2, 0(a1); fence.i; j 1b; 2: ret
    let memory = words([
        li_a0(1),
        0x0006_9a63,
        0x0010_0693,
        STORE,
        FENCE_I,
        0xfedf_f06f,
        RET,
    ]);
    assert_eq!(execute(&region(&memory), 0, 0, li_a0(2)), 2);
}

#[test]
fn a_large_region_is_emptied_where_it_was_used() {
    // More slots than a page of them has; the code is at the ends of it.
    const WORDS: usize = 5000;
    let mut from = vec![ILLEGAL; WORDS];
    from[0..3].copy_from_slice(&[STORE, FENCE_I, RET]);
    from[WORDS - 2..].copy_from_slice(&[li_a0(1), RET]);
    let memory: Box<[AtomicU32]> = from.into_iter().map(AtomicU32::new).collect();
    let code = region(&memory);
    let last = WORDS as u64 - 2;
    // Not executed yet.
    execute(&code, 0, last, li_a0(2));
    assert_eq!(execute(&code, last, 0, 0), 2);
    execute(&code, 0, last, li_a0(3));
    assert_eq!(execute(&code, last, 0, 0), 3);
    // The end stays the end.
    execute(&code, 0, last + 1, li_a0(4));
    assert_eq!(execute(&code, last, 0, 0), 4);
}

#[test]
fn another_hart_does_not_bring_old_code_back() {
    const ROUNDS: u32 = 200_000;
    let memory = words([STORE, FENCE_I, li_a0(0), RET]);
    let code = region(&memory);
    let done = AtomicBool::new(false);
    let both = Barrier::new(2);
    std::thread::scope(|scope| {
        // Fills the slots that the first hart empties; what it reads is old or new.
        scope.spawn(|| {
            both.wait();
            while !done.load(Ordering::Relaxed) {
                assert!(execute(&code, 2, 2, 0) < 2048);
            }
        });
        scope.spawn(|| {
            both.wait();
            for round in 0..ROUNDS {
                let value = round % 2048;
                let got = execute(&code, 0, 2, li_a0(value));
                if got != u64::from(value) {
                    done.store(true, Ordering::Relaxed);
                }
                assert_eq!(got, value.into(), "round {round}");
            }
            done.store(true, Ordering::Relaxed);
        });
    });
}
