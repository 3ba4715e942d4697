//! Descriptors with any contents: what the kernel of a tile accepts has only addresses and numbers that it may
//! use, what libflick accepts is one of the answers of a kernel, and the record survives its way in a message.
#![no_main]

use flick_abi::descriptor::{
    Answer, DESCRIPTOR_CALL, DESCRIPTOR_FAULT, DESCRIPTOR_RETURN, DESCRIPTOR_SIZE,
    DESCRIPTOR_WORDS, DESCRIPTOR_YIELD, Descriptor, HOST_END, OWNERS, Request,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: [u8; DESCRIPTOR_SIZE]| {
    let mut words = [0; DESCRIPTOR_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let all = Descriptor::from_words(&words);
    assert_eq!(all.words(), words);
    match all.answer() {
        None => {}
        Some(Answer::Return) => assert_eq!((all.kind, all.error), (DESCRIPTOR_RETURN, 0)),
        Some(Answer::Call) => assert_eq!(all.kind, DESCRIPTOR_CALL),
        Some(Answer::Yield) => assert_eq!(all.kind, DESCRIPTOR_YIELD),
        Some(Answer::Fault { cause, value }) => {
            assert!(all.kind == DESCRIPTOR_FAULT && cause < 7 && value == all.address);
        }
    }
    match all.request(all.tile) {
        Err(bad) => assert_eq!(bad.has_owner, all.slot() < OWNERS && all.owner >> 16 != 0),
        Ok(request) => {
            assert!(all.slot() < OWNERS && all.owner >> 16 != 0 && all.device == 0);
            assert!(all.fcsr < 0x100);
            assert!(all.request(all.tile.wrapping_add(1)).is_err());
            match request {
                Request::Call {
                    returns_to,
                    has_floats,
                } => {
                    assert_eq!(has_floats, all.kind == DESCRIPTOR_CALL);
                    assert!(all.pc != 0 && all.pc < HOST_END && returns_to < HOST_END);
                    assert!(all.sp != 0 && all.sp < HOST_END && all.sp % 16 == 0);
                }
                Request::Return => assert!(all.pc != 0 && all.pc < HOST_END),
                Request::Resume { registers, .. } | Request::CallInFull { registers, .. } => {
                    assert!(registers < HOST_END && registers % 8 == 0);
                }
                Request::End => {}
            }
        }
    }
});
