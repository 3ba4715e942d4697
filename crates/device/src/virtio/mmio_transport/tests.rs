//! Registers and status of the transport.
use super::*;
use crate::mock::Mock;
use crate::virtio::test_driver::{self, BUFFERS, Driver, SOURCE};
use crate::virtio::virtio_console::VirtioConsole;

fn driver() -> Driver {
    Driver::new(Box::new(VirtioConsole), 0)
}

#[test]
fn an_empty_slot_has_no_device() {
    let mut slot = VirtioMmio::new(1, 0, None);
    let mut around = Mock::default();
    let mut read = |offset| slot.read(offset, 4, &mut around).unwrap();
    assert_eq!(read(0), 0x7472_6976);
    assert_eq!(read(4), 2);
    assert_eq!(read(8), 0);
    assert_eq!(read(0x34), 0);
    slot.write(0x70, 4, 15, &mut around).unwrap();
    slot.write(0x50, 4, 0, &mut around).unwrap();
    assert_eq!(slot.read(0x70, 4, &mut around), Ok(15));
    assert_eq!(slot.input(b"x", &mut around), 0);
    slot.load(&slot.save()).unwrap();
}

#[test]
fn features_are_offered_and_taken() {
    let mut driver = driver();
    driver.set(0x14, 0);
    assert_eq!(driver.get(0x10), 4 | 1 << 28 | 1 << 29);
    driver.set(0x14, 1);
    assert_eq!(driver.get(0x10), 1);
    driver.set(0x14, 2);
    assert_eq!(driver.get(0x10), 0);
    // Not offered.
    for features in [VERSION_1 | 1, VERSION_1 | 1 << 40] {
        driver.negotiate(features);
        assert_eq!(driver.get(0x70), 3);
    }
    for features in [VERSION_1 | INDIRECT, INDIRECT, 0] {
        driver.negotiate(features);
        assert_eq!(driver.get(0x70), 11);
    }
}

#[test]
fn queues_have_sizes_of_powers_of_two() {
    let mut driver = driver();
    assert_eq!(driver.get(0x34), 64);
    driver.set(0x44, 0);
    for size in [0, 3, 128, 0x1_0000, u32::MAX] {
        driver.set(0x38, size);
        driver.set(0x44, 1);
        assert_eq!(driver.get(0x44), 0);
    }
    driver.set(0x38, 64);
    driver.set(0x44, 1);
    assert_eq!(driver.get(0x44), 1);
    driver.set(0x30, 2);
    assert_eq!((driver.get(0x34), driver.get(0x44)), (0, 0));
    driver.set(0x44, 1);
    driver.set(0x50, 2);
    driver.set(0x50, u32::MAX);
    assert_eq!(driver.slot.fault(), None);
}

#[test]
fn registers_take_words_alone() {
    let mut driver = driver();
    for (offset, size) in [
        (0, 1),
        (0, 2),
        (0, 8),
        (2, 4),
        (0x1000, 4),
        (u64::MAX - 3, 4),
    ] {
        assert_eq!(
            driver.slot.read(offset, size, &mut driver.around),
            Err(Refused)
        );
        let written = driver.slot.write(offset, size, 1, &mut driver.around);
        assert_eq!(written, Err(Refused));
    }
    assert_eq!(driver.get(0xb0), u32::MAX);
    assert_eq!(driver.get(0xfc), 0);
}

#[test]
fn a_device_that_is_not_ready_does_nothing() {
    let mut driver = driver();
    driver.put(BUFFERS, b"x");
    driver.chain(1, &[(BUFFERS, 1, 0)]);
    driver.set(0x70, 11);
    assert_eq!(driver.send(1, 0), None);
    driver.set(0x70, 15);
    assert_eq!(driver.around.console, b"x");
    driver.set(0x30, 1);
    driver.set(0x44, 0);
    assert_eq!(driver.send(1, 0), None);
    driver.set(0x70, 0);
    assert_eq!(driver.get(0x60), 0);
    assert!(!driver.around.source(SOURCE));
}

#[test]
fn a_latency_delays_the_work() {
    let mut driver = Driver::with_latency(Box::new(VirtioConsole), 0, 1000);
    driver.around.run_until(&mut driver.slot, 5000, 9);
    driver.put(BUFFERS, b"x");
    driver.chain(1, &[(BUFFERS, 1, 0)]);
    assert_eq!(driver.send(1, 0), None);
    assert_eq!(driver.send(1, 0), None);
    driver.around.run_until(&mut driver.slot, 5999, 9);
    assert!(driver.around.console.is_empty());
    // A loaded slot has the event in its future, too.
    let mut slot = VirtioMmio::new(SOURCE, 1000, Some(Box::new(VirtioConsole)));
    slot.load(&driver.slot.save()).unwrap();
    let mut around = driver.around.clone();
    around.run_until(&mut slot, 6000, 9);
    driver.around.run_until(&mut driver.slot, 6000, 9);
    assert_eq!(driver.around.console, b"xx");
    assert_eq!(driver.used(1), 2);
    assert_eq!(driver.around, around);
    assert_eq!(driver.slot.save(), slot.save());
    // A reset forgets what was notified.
    driver.send(1, 0);
    driver.set(0x70, 0);
    assert!(driver.around.events.is_empty());
}

#[test]
fn hostile_states_are_refused() {
    let mut driver = driver();
    let before = driver.slot.save();
    let load = |driver: &mut Driver, state: &State| {
        let device = Some(Bytes(VirtioConsole.save()));
        driver.slot.load(&save_state(&(state, device)))
    };
    let mut state = driver.slot.state.clone();
    assert!(load(&mut driver, &state).is_ok());
    state.queues[1].size = 0;
    assert!(load(&mut driver, &state).is_err());
    state.queues[1].size = 7;
    assert!(load(&mut driver, &state).is_err());
    state.queues.pop();
    assert!(load(&mut driver, &state).is_err());
    let empty = VirtioMmio::new(SOURCE, 0, None).save();
    assert!(driver.slot.load(&empty).is_err());
    assert_eq!(driver.slot.save(), before);
    assert_eq!(test_driver::SOURCE, driver.slot.source);
}
