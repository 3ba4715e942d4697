//! What the module of requests tells the root: it has waited for a request for long, it was stopped, or its activity
//! ends.
use flick_abi::accelerator::{Control, NOTICE_WORDS, Notice, PAGES, REQUESTS, Status, YIELD};
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS, PAGE_SIZE};
use flick_abi::step_request::{StepAnswer, StepRequest};

use crate::request_world::{AddOne, MAPPED, Paged, SHAPE, TILE, array};

/// The label of notices.
const NOTICES: u16 = 0x100;
/// Cycles that the module waits for a request.
const PATIENCE: u64 = 700;

/// An accelerator whose module tells the root what happens.
fn told() -> Paged {
    let mut paged = Paged::new(SHAPE, Box::new(AddOne));
    paged.map(MAPPED, 0, 0x1000);
    paged.world.tell_root(TILE, NOTICES);
    paged.world.control(TILE, Control::Start);
    paged
}

fn set_patience(paged: &mut Paged, cycles: u64) {
    let register = ACCELERATOR_REGISTERS + YIELD;
    paged.world.set_registers(TILE, register, &[cycles]);
}

/// The next notice: which messages the module waits for, and what it does when the root has taken note.
fn notice(paged: &mut Paged) -> (Status, u64) {
    while paged.world.read(dtu::EVENTS) == 0 {
        assert!(paged.world.step(), "no notice comes");
    }
    let (label, payload, slot) = paged.world.fetch::<{ 8 * NOTICE_WORDS }>();
    assert_eq!(label, NOTICES.into());
    let (words, _) = payload.as_chunks();
    let words = std::array::from_fn(|n| u64::from_le_bytes(words[n]));
    paged.world.acknowledge(slot);
    while paged.world.step() {}
    match Notice::from_words(words) {
        Some(Notice::Status {
            status,
            fault: 0,
            waits,
        }) => {
            assert_eq!(paged.world.status(TILE), status as u64);
            (status, waits)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_module_without_requests_yields() {
    let mut paged = told();
    let request = StepRequest::new(&[array(MAPPED, 1000)]);
    assert_eq!(paged.run(&request).error, 0);
    // Without a limit it waits for ever.
    assert_eq!(paged.answer(), None);
    let now = paged.world.links.now;
    set_patience(&mut paged, PATIENCE);
    assert_eq!(paged.world.status(TILE), Status::Runs as u64);
    assert_eq!(notice(&mut paged), (Status::Stopped, 1 << REQUESTS));
    assert!(paged.world.links.now > now);
    // It goes on, with a request that has come meanwhile, and the limit counts from its end on.
    assert_eq!(paged.send(&request), Ok(0));
    paged.world.control(TILE, Control::Continue);
    let answer = paged.answer();
    let now = paged.world.links.now;
    assert_eq!(
        answer,
        Some(StepAnswer {
            error: 0,
            steps: 10
        })
    );
    assert_eq!(notice(&mut paged), (Status::Stopped, 1 << REQUESTS));
    assert!(paged.world.links.now - now > PATIENCE * 1000 / 2);
}

/// The kernel stops the activity at each event. While it waits for its pager, the unit's command is aborted.
#[test]
fn a_stop_says_what_it_waits_for() {
    let (mut waits_for_pages, mut waits_for_requests) = (0, 0);
    let mut stops = 0;
    for stop_at in 0.. {
        let mut paged = told();
        let request = StepRequest::new(&[array(MAPPED, 500)]);
        assert_eq!(paged.send(&request), Ok(0));
        if !(0..stop_at).all(|_| paged.step()) {
            break;
        }
        stops += 1;
        paged.serves = false;
        paged.world.control(TILE, Control::Stop);
        let pages: [u64; 4] = paged.world.registers(TILE, dtu::endpoint_word(PAGES, 0));
        let has_fault = pages[3] & 1 != 0;
        if has_fault {
            paged.world.set_registers(TILE, dtu::ABORT, &[0]);
            while paged.world.registers(TILE, dtu::ABORT) != [0] {
                assert!(paged.world.step());
            }
            paged.world.set_registers(TILE, dtu::ENABLE, &[1]);
            // Its message is in front of the notice.
            let (_, fault, slot) = paged.world.fetch::<24>();
            assert_eq!(
                u64::from_le_bytes(*fault.first_chunk().unwrap()) % PAGE_SIZE,
                0
            );
            paged.world.acknowledge(slot);
        }
        let answered = paged.world.read(dtu::EVENTS) >> crate::request_world::ANSWERED & 1;
        if answered != 0 {
            paged.answer();
        }
        let (status, waits) = notice(&mut paged);
        assert_eq!(status, Status::Stopped, "at {stop_at}");
        match waits {
            0 => assert!(!has_fault, "at {stop_at}"),
            waits if waits == 1 << PAGES => {
                assert!(has_fault);
                waits_for_pages += 1;
            }
            waits => {
                assert_eq!(waits, 1 << REQUESTS);
                waits_for_requests += 1;
            }
        }
    }
    assert!(stops > 40, "{stops}");
    assert!(waits_for_pages > 0 && waits_for_requests > 0);
}

#[test]
fn the_end_of_an_activity_is_told() {
    let mut paged = told();
    paged.world.control(TILE, Control::End);
    assert_eq!(notice(&mut paged).0, Status::Ended);
    // Whoever has no endpoint for notices, is not told.
    paged
        .world
        .set_registers(TILE, dtu::endpoint_word(0, 0), &[0; 4]);
    paged.world.control(TILE, Control::Start);
    paged.world.control(TILE, Control::Stop);
    assert_eq!(paged.world.status(TILE), Status::Stopped as u64);
}
