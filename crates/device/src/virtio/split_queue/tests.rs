//! Chains that no driver should make, and the two ways to ask for interrupts.
use super::*;
use crate::virtio::test_driver;
use crate::virtio::test_driver::{BASE, BUFFERS, Driver, EVENT_INDEX, SOURCE, TABLE, areas};
use crate::virtio::virtio_console::VirtioConsole;

/// The transmitting queue of a console: each chain is printed.
const QUEUE: u64 = 1;

fn driver(features: u64) -> Driver {
    let mut driver = Driver::new(Box::new(VirtioConsole), features);
    driver.put(BUFFERS, b"hello, world");
    driver
}

/// Sends descriptor 0 and expects a fault, after which the device rests until its reset.
fn fails(driver: &mut Driver, fault: QueueFault) {
    assert_eq!(driver.send(QUEUE, 0), None, "{fault}");
    assert_eq!(driver.slot.fault(), Some(fault));
    assert_eq!(driver.get(0x70), 15 | 64);
    assert_eq!(driver.acknowledge(), 2);
    driver.set(0x50, QUEUE as u32);
    assert_eq!((driver.get(0x60), driver.used(QUEUE)), (0, 0));
    // The driver cannot clear the bit itself.
    driver.set(0x70, 15);
    assert_eq!(driver.get(0x70), 15 | 64);
    driver.set(0x70, 0);
    assert_eq!((driver.get(0x70), driver.slot.fault()), (0, None));
    assert!(driver.around.console.is_empty());
}

#[test]
fn loops_end() {
    let mut direct = driver(0);
    let [table, ..] = areas(QUEUE);
    direct.describe(table, 0, (BUFFERS, 1, NEXT, 1));
    direct.describe(table, 1, (BUFFERS, 1, NEXT, 0));
    fails(&mut direct, QueueFault::Loop);
    let mut indirect = driver(test_driver::INDIRECT);
    indirect.describe(table, 0, (BUFFERS + 64, 32, TABLE, 0));
    indirect.describe(BUFFERS + 64, 0, (BUFFERS, 1, NEXT, 0));
    fails(&mut indirect, QueueFault::Loop);
}

#[test]
fn chains_stay_in_their_tables() {
    let mut driver = self::driver(0);
    let [table, available, _] = areas(QUEUE);
    driver.describe(table, 0, (BUFFERS, 1, NEXT, 8));
    fails(&mut driver, QueueFault::Number);
    driver = self::driver(0);
    driver.put(available + 4, &8_u16.to_le_bytes());
    driver.put(available + 2, &1_u16.to_le_bytes());
    driver.set(0x50, QUEUE as u32);
    assert_eq!(driver.slot.fault(), Some(QueueFault::Number));
    driver = self::driver(test_driver::INDIRECT);
    driver.describe(table, 0, (BUFFERS + 64, 32, TABLE, 0));
    driver.describe(BUFFERS + 64, 0, (BUFFERS, 1, NEXT, 2));
    fails(&mut driver, QueueFault::Number);
}

#[test]
fn tables_are_not_nested_nor_of_wrong_lengths() {
    let [table, ..] = areas(QUEUE);
    let indirect = BUFFERS + 64;
    for (flags, length) in [
        (TABLE, 0),
        (TABLE, 15),
        (TABLE, 17),
        (TABLE, 1025 * 16),
        (TABLE, u32::MAX),
        (TABLE | NEXT, 16),
    ] {
        let mut driver = driver(test_driver::INDIRECT);
        driver.describe(table, 0, (indirect, length, flags, 1));
        fails(&mut driver, QueueFault::Indirect);
    }
    let mut nested = driver(test_driver::INDIRECT);
    nested.describe(table, 0, (indirect, 16, TABLE, 0));
    nested.describe(indirect, 0, (indirect, 16, TABLE, 0));
    fails(&mut nested, QueueFault::Indirect);
    let mut without = driver(0);
    without.describe(table, 0, (indirect, 16, TABLE, 0));
    fails(&mut without, QueueFault::Indirect);
}

#[test]
fn buffers_are_in_order_and_not_too_long() {
    let mut order = driver(0);
    order.chain(QUEUE, &[(BUFFERS, 4, WRITE), (BUFFERS, 4, 0)]);
    fails(&mut order, QueueFault::Order);
    let mut long = driver(0);
    long.chain(QUEUE, &[(BUFFERS, u32::MAX, 0), (BUFFERS, 2, 0)]);
    fails(&mut long, QueueFault::TooLong);
    let mut printed = driver(0);
    printed.chain(QUEUE, &[(BUFFERS, 2 << 20, 0)]);
    fails(&mut printed, QueueFault::TooLong);
}

#[test]
fn queues_and_buffers_are_in_memory() {
    let mut buffer = driver(0);
    buffer.chain(QUEUE, &[(BASE - 4, 8, 0)]);
    fails(&mut buffer, QueueFault::Memory);
    let mut wraps = driver(0);
    wraps.chain(QUEUE, &[(u64::MAX - 1, 8, 0)]);
    fails(&mut wraps, QueueFault::Memory);
    // Areas that are not in memory, or at the end of the address space.
    for register in [0x80, 0x90, 0xa0] {
        for address in [0x1000, u64::MAX - 1] {
            let mut driver = driver(0);
            driver.set(0x30, QUEUE as u32);
            driver.set(0x44, 0);
            driver.set(register, address as u32);
            driver.set(register + 4, (address >> 32) as u32);
            driver.set(0x44, 1);
            driver.chain(QUEUE, &[(BUFFERS, 4, 0)]);
            driver.offer(QUEUE, 0);
            driver.set(0x50, QUEUE as u32);
            assert_eq!(driver.slot.fault(), Some(QueueFault::Memory));
        }
    }
}

#[test]
fn an_index_that_runs_ahead_is_a_fault() {
    let mut driver = driver(0);
    driver.put(areas(QUEUE)[1] + 2, &8_u16.to_le_bytes());
    fails(&mut driver, QueueFault::Index);
}

#[test]
fn the_rings_wrap() {
    let mut driver = driver(0);
    driver.chain(QUEUE, &[(BUFFERS, 1, 0)]);
    for _ in 0..70_000 {
        assert_eq!(driver.send(QUEUE, 0), Some(0));
        driver.around.console.clear();
    }
    assert_eq!(driver.used(QUEUE), (70_000 % 65_536) as u16);
}

#[test]
fn a_flag_or_an_index_silences_interrupts() {
    let mut flag = driver(0);
    flag.chain(QUEUE, &[(BUFFERS, 1, 0)]);
    flag.put(areas(QUEUE)[1], &1_u16.to_le_bytes());
    flag.send(QUEUE, 0).unwrap();
    assert!(!flag.around.source(SOURCE));
    flag.put(areas(QUEUE)[1], &0_u16.to_le_bytes());
    flag.send(QUEUE, 0).unwrap();
    assert_eq!(flag.acknowledge(), 1);

    let mut index = driver(EVENT_INDEX);
    let [_, available, used] = areas(QUEUE);
    index.chain(QUEUE, &[(BUFFERS, 1, 0)]);
    // The driver wants an interrupt for the third buffer.
    index.put(available + 4 + 16, &2_u16.to_le_bytes());
    for expected in [0, 0, 1, 0] {
        index.send(QUEUE, 0).unwrap();
        assert_eq!(index.acknowledge(), expected);
    }
    // And is asked to notify the device of the fifth.
    assert_eq!(index.u16_at(used + 4 + 64), 4);
}

#[test]
fn a_chain_counts_as_returned_before_a_fault() {
    let mut driver = driver(0);
    let [table, ..] = areas(QUEUE);
    driver.chain(QUEUE, &[(BUFFERS, 5, 0)]);
    driver.describe(table, 3, (BUFFERS, 1, TABLE, 0));
    driver.offer(QUEUE, 0);
    driver.offer(QUEUE, 3);
    driver.set(0x50, QUEUE as u32);
    assert_eq!(driver.around.console, b"hello");
    assert_eq!(driver.used(QUEUE), 1);
    assert_eq!(driver.acknowledge(), 3);
}
