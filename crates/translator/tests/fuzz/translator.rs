//! Any bytes to the translator: as functions with any bounds, and as constants. Nothing is
//! executed.
use std::collections::BTreeMap;
use std::ops::Range;

use flick_engine::CodeRegion;
use flick_translator::{Context, Counting, HART_BIAS, HostRegisters, Translator};
use iced_x86::{Code, Decoder, DecoderOptions};

use crate::guest::{Guest, Input, lookup};

/// Bytes of code. A translation takes time in proportion to what it is of.
const MOST: usize = 8 << 10;
const ROOM: usize = 4 << 20;

/// The first bytes of `data` say what the others are.
pub fn translate_all(data: &[u8]) {
    let mut input = Input { rest: data };
    let shape = input.byte();
    let cuts: Vec<u64> = (0..shape & 3).map(|_| u64::from(input.half())).collect();
    let entries: Vec<u64> = (0..shape >> 2 & 7)
        .map(|_| u64::from(input.half()))
        .collect();
    let bytes = &input.rest[..input.rest.len().min(MOST) & !1];
    if bytes.is_empty() {
        return;
    }
    // A word each, so that its start is even.
    let words: Vec<u64> = bytes
        .chunks(8)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte))
        })
        .collect();
    let (base, len) = (words.as_ptr() as u64, bytes.len() as u64);
    let functions = functions(base, len, &cuts, shape & 32 != 0);
    // All of an image never changes, or nothing is known of it.
    let constants = if shape & 64 != 0 {
        base..base + len
    } else {
        0..0
    };
    // What the input says of jumps, true or not.
    let said = |n: usize| -> Vec<u64> {
        (0..n)
            .map(|k| base + words[k % words.len()] % len)
            .collect()
    };
    let jumps = if words[0] & 8 != 0 {
        (0..len)
            .step_by(2)
            .map(|at| (base + at, said(at as usize % 7)))
            .collect()
    } else {
        BTreeMap::new()
    };
    let guest = Guest {
        // SAFETY: the words stay where they are and are not changed.
        code: unsafe { CodeRegion::new(base, len) },
        functions,
        constants,
        jumps,
    };
    let counting = match (shape & 128 != 0, words[0] & 16 != 0) {
        (false, _) => Counting::None,
        (true, false) => Counting::Retired,
        (true, true) => Counting::Budget,
    };
    let mut translator = Translator::new(ROOM, counting, lookup).expect("memory for code");
    let starts = guest.functions.iter().map(|range| range.start);
    let middles = entries.iter().map(|&at| base + at % len);
    for at in starts.chain(middles) {
        check(&mut translator, &guest, at);
    }
    translator.invalidate(std::slice::from_ref(&(base..base + len)));
    for at in base..base + len {
        assert_eq!(translator.targets().get(at), None, "{at:#x} is still known");
    }
}

/// Up to four functions, and what is between them is none, if there are `gaps`.
fn functions(base: u64, len: u64, cuts: &[u64], gaps: bool) -> Vec<Range<u64>> {
    let mut bounds: Vec<u64> = cuts.iter().map(|cut| base + ((cut % len) & !1)).collect();
    bounds.extend([base, base + len]);
    bounds.sort_unstable();
    bounds.dedup();
    let step = if gaps { 2 } else { 1 };
    bounds
        .windows(2)
        .step_by(step)
        .map(|pair| pair[0]..pair[1])
        .collect()
}

fn check(translator: &mut Translator, guest: &Guest, at: u64) {
    let Some(entry) = translator.entry(guest, at) else {
        return;
    };
    assert_eq!(translator.entry(guest, at), Some(entry));
    assert_eq!(translator.targets().get(at), Some(entry));
    let (start, end) = translator.range();
    let (known, host) = translator
        .states()
        .translation_at(entry)
        .expect("it is known");
    assert!(known == at & !1 && host.start == entry);
    assert!(start <= host.start && host.start < host.end && host.end <= end);
    let places = decode(&host);
    restore(translator, &places);
}

/// It is one sequence of instructions, and no choice was left open. Where some of them are.
fn decode(host: &Range<u64>) -> Vec<u64> {
    // SAFETY: translated code, which is readable.
    let bytes = unsafe {
        std::slice::from_raw_parts(host.start as *const u8, (host.end - host.start) as usize)
    };
    let mut places = vec![];
    for (n, insn) in Decoder::with_ip(64, bytes, host.start, DecoderOptions::NONE)
        .into_iter()
        .enumerate()
    {
        let code = insn.code();
        assert!(
            code != Code::INVALID && code != Code::Ud2,
            "{code:?} at {:#x}",
            insn.ip()
        );
        // Tables are read from their start.
        if n < 64 || n % 32 == 0 {
            places.push(insn.ip());
        }
    }
    places
}

/// Where registers are is known at some places, and asking at any other does no harm.
fn restore(translator: &Translator, places: &[u64]) {
    let stack = vec![0_u64; 1 << 10];
    let mut registers = HostRegisters {
        int: [0; 16],
        float: [0; 16],
    };
    registers.int[4] = stack.as_ptr() as u64;
    static CONTEXT: Context = Context::ZERO;
    registers.int[5] = &raw const CONTEXT as u64 + HART_BIAS as u64;
    for &pc in places {
        // SAFETY: the stack is larger than any frame, and there is a hart.
        let state = unsafe { translator.states().restore(pc, &registers) };
        if let Some(state) = state {
            assert_eq!(state.pc & 1, 0);
        }
    }
}
