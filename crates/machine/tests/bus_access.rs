//! What the fuzz targets of the bus and of firmware do (`fuzz/`), over random bytes: `cargo test` needs no
//! fuzzer.
#[path = "fuzz/any_firmware.rs"]
mod any_firmware;
#[path = "fuzz/bus_accesses.rs"]
mod bus_accesses;

use flick_machine::Program;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

#[test]
fn any_accesses_do_the_same_again() {
    let mut bytes = vec![0; 400 * bus_accesses::STEP];
    for round in 0..40 {
        Pcg64Mcg::new(round).fill_bytes(&mut bytes);
        bus_accesses::access_all(&bytes);
    }
}

/// A timer that is set for a time which no machine comes to: the snapshot with it can be restored.
#[test]
fn a_timer_beyond_the_end_of_time_is_no_event() {
    let mut steps = vec![];
    // A store of 8 bytes to `mtimecmp` of hart 0.
    steps.extend([90, 0x2f, 4, 0]);
    steps.extend(0x0000_a000_0000_0000_u64.to_le_bytes());
    steps[2] = 4 | 0x80;
    for _ in 0..20 {
        steps.extend([0; bus_accesses::STEP]);
    }
    bus_accesses::access_all(&steps);
}

#[test]
fn any_firmware_starts_or_is_refused() {
    let mut bytes = vec![0; 120];
    for round in 0..300 {
        Pcg64Mcg::new(round).fill_bytes(&mut bytes);
        any_firmware::start(&bytes);
    }
}

/// An ELF file with more segments over the same bytes than the host has memory for.
#[test]
fn segments_that_share_bytes_are_refused() {
    let mut file = any_firmware::elf_file(&[0x13; 4000], 2);
    assert!(Program::parse(&file, 0).is_ok());
    // The second segment, too, has all of the file.
    file[64 + 56 + 32] = 0xa0;
    file[64 + 56 + 33] = 0x0f;
    file[64 + 56 + 8] = 0;
    let error = Program::parse(&file, 0).unwrap_err().to_string();
    assert_eq!(error, "it is damaged: its segments share bytes");
}
