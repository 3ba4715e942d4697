//! Requests for steps over arrays, which a pager maps.
use flick_abi::accelerator::{
    BLOCKS, CONTEXT_WORDS, Control, FAULT, PAGES, REQUESTS, STEPS_ANSWER, STEPS_BUFFER, Status,
};
use flick_abi::card;
use flick_abi::dtu::{self, Command, CommandWord, Error, Invalidation, NO_ACTIVITY, PAGE_SIZE};
use flick_abi::step_request::{Array, StepAnswer, StepRequest};
use flick_device::accelerator::{CacheShape, functions, request_by_name};
use flick_device::{Device, Time};

use crate::request_world::{
    ANSWERED, ASKS, AddOne, FILES, FILES_SIZE, Gather, LARGE, MAPPED, Paged, SHAPE, STEP, TILE,
    array, tile, vector_sum, vectors,
};
use crate::world::{ACTIVITY, COMMAND, SCRATCH};

/// Bytes of requests that a kernel saves.
const STEPS: usize = (STEPS_ANSWER - STEPS_BUFFER) as usize;

#[test]
fn vectors_are_added() {
    for (shape, size) in [(SHAPE, 64), (SHAPE, 0x3000), (LARGE, 0x8000), (LARGE, 0)] {
        let mut paged = Paged::started(shape, vector_sum());
        let (request, sums) = vectors(&mut paged, size);
        let answer = paged.run(&request);
        assert_eq!(
            answer,
            StepAnswer {
                error: 0,
                steps: size / 64
            }
        );
        assert_eq!(paged.numbers(FILES + 0x2_0000, size / 8), sums);
        assert_eq!(paged.faults as u64, 3 * size.div_ceil(PAGE_SIZE));
        assert_eq!(paged.accelerator(BLOCKS), size / 64);
        assert_eq!(paged.world.status(TILE), Status::Runs as u64);
    }
}

#[test]
fn batches_and_repeats() {
    let size = 0x1000;
    let mut paged = Paged::started(LARGE, vector_sum());
    let (mut request, sums) = vectors(&mut paged, size);
    for first in (0..64).step_by(7) {
        (request.first, request.steps) = (first, 7.min(64 - first));
        let steps = request.steps;
        assert_eq!(paged.run(&request), StepAnswer { error: 0, steps });
        let done = (first + steps) * 8;
        let found = paged.numbers(FILES + 0x2_0000, done);
        assert_eq!(found, sums[..done as usize]);
    }
    // From a step on to the end, and nothing.
    (request.first, request.steps) = (60, 0);
    assert_eq!(paged.run(&request).steps, 4);
    request.first = 64;
    request.repeats = u64::MAX;
    assert_eq!(paged.run(&request), StepAnswer::default());
    // Each repeat adds 1 where the bytes are.
    let mut paged = Paged::started(SHAPE, Box::new(AddOne));
    paged.map(MAPPED, 0, 0x1000);
    let before = paged.world.bytes(FILES, 1000).to_vec();
    let mut request = StepRequest::new(&[array(MAPPED + 50, 900)]);
    request.repeats = 5;
    assert_eq!(
        paged.run(&request),
        StepAnswer {
            error: 0,
            steps: 45
        }
    );
    let after = paged.world.bytes(FILES, 1000).to_vec();
    let both = before.iter().zip(&after).enumerate();
    for (n, (before, after)) in both {
        let more = if (50..950).contains(&n) { 5 } else { 0 };
        assert_eq!(*after, before.wrapping_add(more), "byte {n}");
    }
}

/// A step uses more lines of a set than the cache has.
#[test]
fn a_step_of_many_lines() {
    let mut paged = Paged::started(SHAPE, Box::new(Gather));
    paged.map(MAPPED, 0, 0x4000);
    let bytes = paged.world.bytes(FILES, 0x3000).to_vec();
    let sum: u64 = bytes.iter().step_by(256).map(|&byte| u64::from(byte)).sum();
    // The sum lies across two lines.
    let arrays = [array(MAPPED, 0x3000), array(MAPPED + 0x303c, 8)];
    let answer = paged.run(&StepRequest::new(&arrays));
    assert_eq!(answer, StepAnswer { error: 0, steps: 1 });
    assert_eq!(paged.world.bytes(FILES + 0x303c, 8), sum.to_le_bytes());
}

/// The paper's computations are the same on requests and on streams.
#[test]
fn forces_between_molecules() {
    let sizes = [0x2000, 0x2000, 0x2000, 0x1_0000, 0x2000, 0x2000, 0x2000];
    let mut paged = Paged::started(LARGE, request_by_name("md").unwrap());
    let positions = (0..3072_u64).flat_map(|n| ((n * 7919 % 1009) as f64 * 0.11).to_le_bytes());
    let neighbours = (0..0x4000_u64).flat_map(|n| (n as i32 * 31 % 1024).to_le_bytes());
    let input: Vec<u8> = positions.chain(neighbours).collect();
    paged
        .world
        .bytes(FILES, input.len())
        .copy_from_slice(&input);
    let (mut at, mut arrays) = (0, vec![]);
    for (n, size) in (0..).zip(sizes) {
        let address = MAPPED + n * 0x10_0000;
        paged.map(address, at, size);
        arrays.push(array(address, size));
        at += size;
    }
    let answer = paged.run(&StepRequest::new(&arrays));
    assert_eq!((answer.error, answer.steps), (0, 1024));
    let logic = functions::by_name("md").unwrap();
    let mut memory = input.clone();
    memory.resize(at as usize, 0);
    let computed = logic.block(&mut memory, input.len(), false);
    let forces = paged.world.bytes(FILES + input.len() as u64, computed.size);
    assert_eq!(forces, &memory[..computed.size]);
}

#[test]
fn requests_wait_for_each_other() {
    let mut paged = Paged::started(LARGE, vector_sum());
    let (mut request, sums) = vectors(&mut paged, 0x400);
    for first in [0, 8] {
        (request.first, request.steps) = (first, 8);
        assert_eq!(paged.send(&request), Ok(0));
    }
    assert_eq!(paged.send(&request), Err(Error::NoCredits));
    for _ in 0..2 {
        assert_eq!(paged.answer(), Some(StepAnswer { error: 0, steps: 8 }));
    }
    assert_eq!(paged.numbers(FILES + 0x2_0000, 128), sums);
}

#[test]
fn a_cache_saves_time() {
    let size = 0x1000;
    let mut paged = Paged::started(LARGE, vector_sum());
    let (mut request, _) = vectors(&mut paged, size);
    let carried = |paged: &mut Paged, request: &StepRequest| {
        let (bytes, now) = (paged.world.links.carried, paged.world.links.now);
        assert_eq!(paged.run(request).error, 0);
        (
            paged.world.links.carried - bytes,
            paged.world.links.now - now,
        )
    };
    let (all, cold) = carried(&mut paged, &request);
    let (read, _) = carried(&mut paged, &request);
    // The pages are known, and all lines are read again.
    assert!(read < all && read > 4 * size, "{read} of {all}");
    request.keeps_cache = true;
    let (kept, warm) = carried(&mut paged, &request);
    assert!(kept < 2 * size, "{kept} of {read}");
    let steps = size / 64;
    let lines = steps * (COMMAND + 2 * crate::world::LATENCY + 120 * crate::world::BYTE);
    assert!(
        (steps * STEP..steps * STEP + 2 * lines).contains(&warm),
        "{warm}"
    );
    assert!(cold > warm + 2 * lines, "{cold} of {warm}");
}

/// The activity is stopped at each event, and another one uses the accelerator.
#[test]
fn activities_share_an_accelerator() {
    let size = 500;
    let mut stops = 0;
    for stop_at in 0.. {
        let mut paged = Paged::started(SHAPE, Box::new(AddOne));
        paged.map(MAPPED, 0, 0x1000);
        let before = paged.world.bytes(FILES, 600).to_vec();
        let mut request = StepRequest::new(&[array(MAPPED + 50, size)]);
        request.repeats = 2;
        assert_eq!(paged.send(&request), Ok(0));
        let has_events = (0..stop_at).all(|_| paged.step());
        if !has_events {
            break;
        }
        paged.stop();
        stops += 1;
        let context = paged.context();
        let made = context[5];
        // What has been computed is in memory, and nothing else.
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        let memory = paged.world.bytes(FILES, 600).to_vec();
        let changed = memory
            .iter()
            .zip(&before)
            .map(|(a, b)| u64::from(a.wrapping_sub(*b)));
        assert_eq!(changed.sum::<u64>(), 100 * made, "at {stop_at}");
        let records: [u64; 4] = paged.world.registers(TILE, dtu::slot_record(REQUESTS, 0));
        let endpoint: [u64; 4] = paged.world.registers(TILE, dtu::endpoint_word(REQUESTS, 0));
        let pages: [u64; 4] = paged.world.registers(TILE, dtu::endpoint_word(PAGES, 0));
        paged
            .world
            .copy(Command::Read, TILE, STEPS_BUFFER, SCRATCH + 0x1000, STEPS);
        // Another activity has an accelerator that knows nothing of that.
        paged
            .world
            .set_registers(TILE, dtu::current(0), &[NO_ACTIVITY.into()]);
        paged.set_context(&[u64::MAX; CONTEXT_WORDS]);
        paged
            .world
            .set_registers(TILE, dtu::endpoint_word(PAGES, 0), &[0; 4]);
        paged
            .world
            .set_registers(TILE, dtu::endpoint_word(REQUESTS, 0), &[0; 4]);
        paged.world.control(TILE, Control::Start);
        while paged.step() {}
        paged.world.control(TILE, Control::Stop);
        assert_eq!(paged.world.status(TILE), Status::Stopped as u64);
        // And back.
        paged
            .world
            .set_registers(TILE, dtu::endpoint_word(PAGES, 0), &pages);
        paged
            .world
            .set_registers(TILE, dtu::endpoint_word(PAGES, 3), &pages[3..]);
        paged
            .world
            .set_registers(TILE, dtu::endpoint_word(REQUESTS, 0), &endpoint);
        paged
            .world
            .set_registers(TILE, dtu::endpoint_word(REQUESTS, 3), &endpoint[3..]);
        if endpoint[3] != 0 {
            paged
                .world
                .set_registers(TILE, dtu::slot_record(REQUESTS, 0), &records);
        }
        paged
            .world
            .copy(Command::Write, TILE, STEPS_BUFFER, SCRATCH + 0x1000, STEPS);
        paged.set_context(&context);
        paged
            .world
            .set_registers(TILE, dtu::current(0), &[ACTIVITY.into()]);
        paged.world.control(TILE, Control::Continue);
        assert_eq!(
            paged.answer(),
            Some(StepAnswer {
                error: 0,
                steps: 10
            }),
            "at {stop_at}"
        );
        let after = paged.world.bytes(FILES, 600).to_vec();
        assert_eq!(sum(&after[..50]), sum(&before[..50]));
        let mut both = before[50..550].iter().zip(&after[50..550]);
        assert!(both.all(|(a, b)| a.wrapping_add(2) == *b), "at {stop_at}");
    }
    assert!(stops > 80, "{stops}");
}

#[test]
fn errors_are_answered() {
    let mut paged = Paged::started(SHAPE, vector_sum());
    let (good, sums) = vectors(&mut paged, 0x1000);
    let arrays = good.arrays().to_vec();
    let with = |n: usize, array: Array| {
        let mut arrays = arrays.clone();
        arrays[n] = array;
        StepRequest::new(&arrays)
    };
    let read_only = MAPPED + 0x80_0000;
    paged.pages.insert(read_only, (0x3_0000, false));
    let outside = MAPPED + 0x90_0000;
    paged.pages.insert(outside, (FILES_SIZE, true));
    let mut beyond = good;
    beyond.first = 65;
    let mut far = good;
    (far.first, far.steps) = (u64::MAX, 2);
    let bad_address = card::Error::BadAddress;
    for (request, error) in [
        // No page, a page beyond the memory, a right that is missing.
        (with(0, array(MAPPED + 0x70_0000, 0x1000)), bad_address),
        (with(2, array(MAPPED + 0x70_0000, 0x1000)), bad_address),
        (with(1, array(u64::MAX - 0xfff, 0x1000)), bad_address),
        (with(1, array(outside, 0x1000)), bad_address),
        (with(2, array(read_only, 0x1000)), card::Error::NoAccess),
        // Other arrays than the logic's, other steps than there are.
        (with(2, array(MAPPED, 0x1040)), card::Error::Invalid),
        (StepRequest::new(&arrays[..2]), card::Error::Invalid),
        (StepRequest::new(&[]), card::Error::Invalid),
        (beyond, card::Error::Invalid),
        (far, card::Error::Invalid),
    ] {
        assert_eq!(paged.run(&request).error, error as u64, "{request:?}");
        assert_eq!(paged.accelerator(FAULT), error as u64);
        assert_eq!(paged.world.status(TILE), Status::Runs as u64);
        assert_eq!(
            paged.run(&good),
            StepAnswer {
                error: 0,
                steps: 64
            }
        );
        assert_eq!(paged.accelerator(FAULT), 0);
        assert_eq!(paged.numbers(FILES + 0x2_0000, 512), sums);
        paged.world.bytes(FILES + 0x2_0000, 0x1000).fill(0);
    }
    // A request of no bytes; one with too many arrays; one that takes no answer.
    let word = CommandWord::new(Command::Send, ASKS).with_answer(ANSWERED);
    assert_eq!(paged.world.command(word, SCRATCH, 0, 0), Ok(0));
    assert_eq!(paged.answer().unwrap().error, card::Error::Invalid as u64);
    paged.world.bytes(SCRATCH, 32).fill(0xff);
    assert_eq!(paged.world.command(word, SCRATCH, 32, 0), Ok(0));
    assert_eq!(paged.answer().unwrap().error, card::Error::Invalid as u64);
    let word = CommandWord::new(Command::Send, ASKS);
    let bytes = good.bytes();
    paged
        .world
        .bytes(SCRATCH, bytes.len())
        .copy_from_slice(&bytes);
    assert_eq!(
        paged.world.command(word, SCRATCH, bytes.len() as u64, 0),
        Ok(0)
    );
    assert_eq!(paged.answer(), None);
    assert_eq!(paged.numbers(FILES + 0x2_0000, 512), sums);
    assert_eq!(paged.run(&good).error, 0);
}

/// The array lies at the end of what its pages reach: the logic gets no byte behind it.
#[test]
fn a_step_reaches_its_arrays_alone() {
    let mut paged = Paged::started(SHAPE, Box::new(AddOne));
    paged.map(MAPPED, 0, 0x1000);
    let before = paged.world.bytes(FILES, 0x1000).to_vec();
    // The last step has 50 bytes, of which the logic wants 100.
    let answer = paged.run(&StepRequest::new(&[array(MAPPED, 250)]));
    assert_eq!(
        answer,
        StepAnswer {
            error: card::Error::Invalid as u64,
            steps: 2
        }
    );
    let after = paged.world.bytes(FILES, 0x1000).to_vec();
    assert_eq!(after[200..], before[200..]);
    assert!(
        before[..200]
            .iter()
            .zip(&after)
            .all(|(a, b)| a.wrapping_add(1) == *b)
    );
}

/// A page is taken away while the accelerator computes: it asks again.
#[test]
fn a_page_that_moves() {
    for when in 0..200 {
        let mut paged = Paged::started(SHAPE, Box::new(AddOne));
        paged.map(MAPPED, 0, 0x1000);
        let request = StepRequest::new(&[array(MAPPED, 1000)]);
        assert_eq!(paged.send(&request), Ok(0));
        (0..when).for_each(|_| {
            paged.step();
        });
        // The pager moves the file's page, and the old place becomes somebody else's.
        let page = Some(MAPPED);
        let endpoint = PAGES as u8;
        let bits = Invalidation { endpoint, page }.bits();
        paged.pages.insert(MAPPED, (0x2000, true));
        paged.world.set_registers(TILE, dtu::INVALIDATE, &[bits]);
        while paged.world.registers::<1>(TILE, dtu::INVALIDATE)[0] != 0 {
            assert!(paged.step());
        }
        let moved = paged.world.bytes(FILES, 0x1000).to_vec();
        paged
            .world
            .bytes(FILES + 0x2000, 0x1000)
            .copy_from_slice(&moved);
        paged.world.bytes(FILES, 0x1000).fill(0x55);
        if paged.world.read(dtu::EVENTS) >> ANSWERED & 1 == 0 {
            assert_eq!(
                paged.answer(),
                Some(StepAnswer {
                    error: 0,
                    steps: 10
                }),
                "{when}"
            );
        }
        assert_eq!(paged.world.bytes(FILES, 0x1000), [0x55; 0x1000], "{when}");
        let expected: Vec<u8> = (0..1000_usize)
            .map(|n| (n * 7 + n / 251 + 1) as u8)
            .collect();
        assert_eq!(paged.world.bytes(FILES + 0x2000, 1000), expected, "{when}");
    }
}

/// A pager that answers nothing: the kernel stops the activity, or ends it.
#[test]
fn a_pager_that_is_dead() {
    for control in [Control::Stop, Control::End] {
        let mut paged = Paged::started(SHAPE, vector_sum());
        let (request, sums) = vectors(&mut paged, 0x1000);
        paged.serves = false;
        assert_eq!(paged.send(&request), Ok(0));
        assert_eq!(paged.answer(), None);
        paged.world.control(TILE, control);
        assert_eq!(paged.world.status(TILE), Status::Runs as u64);
        paged.world.set_registers(TILE, dtu::ABORT, &[0]);
        assert_eq!(paged.world.registers(TILE, dtu::ABORT), [0]);
        let status = match control {
            Control::Stop => Status::Stopped,
            _ => Status::Ended,
        };
        assert_eq!(paged.world.status(TILE), status as u64);
        paged.world.set_registers(TILE, dtu::ENABLE, &[1]);
        paged.serves = true;
        if control == Control::Stop {
            paged.world.control(TILE, Control::Continue);
            assert_eq!(
                paged.answer(),
                Some(StepAnswer {
                    error: 0,
                    steps: 64
                })
            );
            assert_eq!(paged.numbers(FILES + 0x2_0000, 512), sums);
        }
    }
}

/// The root may write any context, and nothing panics.
#[test]
fn no_context_harms() {
    for phase in 0..4 {
        for value in [0, 1, 2, 5, 255, u64::MAX] {
            for has_request in [false, true] {
                let mut paged = Paged::new(SHAPE, vector_sum());
                let (request, _) = vectors(&mut paged, 0x200);
                if has_request {
                    assert_eq!(paged.send(&request), Ok(0));
                }
                let mut context = [value; CONTEXT_WORDS];
                context[0] = phase;
                paged.set_context(&context);
                paged.world.control(TILE, Control::Continue);
                let mut steps = 0;
                while paged.step() {
                    steps += 1;
                    assert!(steps < 20_000, "phase {phase}, words of {value:#x}");
                }
            }
        }
    }
}

#[test]
fn a_snapshot_goes_on_alike() {
    let mut snapshots = 0;
    let mut paged = Paged::started(SHAPE, vector_sum());
    let (request, sums) = vectors(&mut paged, 0x400);
    assert_eq!(paged.send(&request), Ok(0));
    while paged.world.read(dtu::EVENTS) >> ANSWERED & 1 == 0 {
        let saved = paged.world.accelerators[0].save();
        let mut other = tile(SHAPE, vector_sum());
        other.load(&saved).unwrap();
        assert_eq!(other.save(), saved);
        assert!(other.load(&saved[1..]).is_err());
        // Another cache has other lines.
        if snapshots == 30 {
            let narrow = CacheShape { line: 32, ..SHAPE };
            assert!(tile(narrow, vector_sum()).load(&saved).is_err());
        }
        paged.world.accelerators[0] = Box::new(other);
        snapshots += 1;
        assert!(paged.step());
    }
    assert!(snapshots > 100);
    assert_eq!(paged.numbers(FILES + 0x2_0000, 128), sums);
}

/// A state with any byte changed is refused, or is one that harms nobody.
#[test]
fn no_state_harms() {
    let mut paged = Paged::started(SHAPE, vector_sum());
    let (request, _) = vectors(&mut paged, 0x200);
    assert_eq!(paged.send(&request), Ok(0));
    for _ in 0..60 {
        assert!(paged.step());
    }
    let saved = paged.world.accelerators[0].save();
    let around = paged.world.arounds[1].clone();
    let mut taken = 0;
    for at in 0..saved.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = saved.clone();
            bytes[at] ^= change;
            let mut other = tile(SHAPE, vector_sum());
            if other.load(&bytes).is_ok() {
                taken += 1;
                let mut around = around.clone();
                around.run_until(&mut other, Time::MAX / 2, 50);
            }
        }
    }
    assert!(taken > 100, "{taken}");
}
