//! Output, and input that waits for buffers.
use super::*;
use crate::device::Device;
use crate::virtio::test_driver::{BUFFERS, Driver, EVENT_INDEX, WRITE};

fn driver() -> Driver {
    Driver::new(Box::new(VirtioConsole), EVENT_INDEX)
}

fn type_in(driver: &mut Driver, bytes: &[u8]) -> usize {
    driver.slot.input(bytes, &mut driver.around)
}

#[test]
fn chains_are_printed() {
    let mut driver = driver();
    driver.put(BUFFERS, b"hello, world");
    driver.chain(1, &[(BUFFERS, 5, 0), (BUFFERS + 5, 7, 0)]);
    assert_eq!(driver.send(1, 0), Some(0));
    assert_eq!(driver.around.console, b"hello, world");
    // More than a piece.
    driver.around.console.clear();
    driver.bytes(BUFFERS, 9000).fill(b'x');
    driver.chain(1, &[(BUFFERS, 9000, 0)]);
    driver.send(1, 0).unwrap();
    assert_eq!(driver.around.console, [b'x'; 9000]);
}

#[test]
fn input_fills_the_buffers_that_there_are() {
    let mut driver = driver();
    assert_eq!(type_in(&mut driver, b"early"), 0);
    assert_eq!(driver.around.ready, 0);
    driver.chain(0, &[(BUFFERS, 2, WRITE), (BUFFERS + 8, 2, WRITE)]);
    driver.offer(0, 0);
    driver.describe(
        crate::virtio::test_driver::areas(0)[0],
        5,
        (BUFFERS + 16, 64, WRITE, 0),
    );
    driver.offer(0, 5);
    driver.set(0x50, 0);
    assert_eq!(driver.around.ready, 1);
    assert_eq!(type_in(&mut driver, b"early input"), 11);
    assert_eq!(driver.bytes(BUFFERS, 2), b"ea");
    assert_eq!(driver.bytes(BUFFERS + 8, 2), b"rl");
    assert_eq!(driver.bytes(BUFFERS + 16, 7), b"y input");
    assert_eq!(driver.used(0), 2);
    assert_eq!(driver.last_used(0), (5, 7));
    assert_eq!(driver.acknowledge(), 1);
    assert_eq!(type_in(&mut driver, b"more"), 0);
}

#[test]
fn input_for_a_broken_queue_is_a_fault() {
    let mut driver = driver();
    driver.chain(0, &[(8, 64, WRITE)]);
    driver.offer(0, 0);
    assert_eq!(type_in(&mut driver, b"x"), 0);
    assert_eq!(driver.slot.fault(), Some(QueueFault::Memory));
    assert_eq!(driver.acknowledge(), 2);
    assert_eq!(type_in(&mut driver, b"x"), 0);
}

#[test]
fn emergency_output_needs_no_queue() {
    let mut driver = driver();
    driver.set(0x70, 0);
    driver.set(0x108, u32::from_le_bytes(*b"!xyz"));
    assert_eq!(driver.around.console, b"!");
    assert_eq!(driver.get(0x100), 0);
}

#[test]
fn buffers_before_the_start_are_seen_at_the_start() {
    let mut driver = driver();
    driver.negotiate(crate::virtio::test_driver::VERSION_1);
    driver.set_up(0);
    driver.chain(0, &[(BUFFERS, 4, WRITE)]);
    driver.offer(0, 0);
    driver.set(0x50, 0);
    assert_eq!(driver.around.ready, 0);
    driver.set(0x70, 15);
    assert_eq!(driver.around.ready, 1);
}
