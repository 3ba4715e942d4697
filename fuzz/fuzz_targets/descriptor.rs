//! Descriptors of a host program that writes what it likes: what the kernel of a tile accepts has
//! only addresses and numbers that it may use, and the record survives its way in a message.
#![no_main]

use flick_abi::descriptor::{
    DESCRIPTOR_SIZE, DESCRIPTOR_WORDS, Descriptor, HOST_END, OWNERS, Request,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: [u8; DESCRIPTOR_SIZE]| {
    let mut words = [0; DESCRIPTOR_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let all = Descriptor::from_words(&words);
    assert_eq!(all.words(), words);
    match all.request(all.tile) {
        Err(bad) => assert_eq!(bad.has_owner, all.slot() < OWNERS && all.owner >> 16 != 0),
        Ok(request) => {
            assert!(all.slot() < OWNERS && all.owner >> 16 != 0 && all.device == 0);
            assert!(all.fcsr < 0x100);
            assert!(all.request(all.tile.wrapping_add(1)).is_err());
            match request {
                Request::Call { returns_to } => {
                    assert!(all.pc != 0 && all.pc < HOST_END && returns_to < HOST_END);
                    assert!(all.sp != 0 && all.sp < HOST_END && all.sp % 16 == 0);
                }
                Request::Return => assert!(all.pc != 0 && all.pc < HOST_END),
                Request::Resume { registers } | Request::CallInFull { registers } => {
                    assert!(registers < HOST_END && registers % 8 == 0);
                }
                Request::End => {}
            }
        }
    }
});
