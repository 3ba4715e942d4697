//! Requests to a disk, well-formed and not.
use super::*;
use crate::device::Device;
use crate::virtio::disk_image::{MemoryImage, Overlay};
use crate::virtio::test_driver::{BUFFERS, Driver, INDIRECT, VERSION_1, WRITE, areas};

const DATA: u64 = BUFFERS + 0x1000;
const STATUS: u64 = BUFFERS + 0x800;

fn image() -> Vec<u8> {
    (0..16 * 512).map(|i| (i / 512 + i) as u8).collect()
}

fn disk(read_only: bool) -> Box<BlockDevice> {
    let disk = Overlay::new(MemoryImage(image()));
    Box::new(BlockDevice::new(
        Box::new(disk),
        read_only,
        "a disk of the tests",
    ))
}

fn driver() -> Driver {
    Driver::new(disk(false), 0)
}

fn header(driver: &mut Driver, kind: u32, sector: u64) {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(sector.to_le_bytes());
    driver.put(BUFFERS, &bytes);
    driver.put(STATUS, &[0xaa]);
}

/// Sends a request with one buffer of data. Returns its status and the written length.
fn request(driver: &mut Driver, kind: u32, sector: u64, data: (u64, u32, u16)) -> (u8, u32) {
    header(driver, kind, sector);
    driver.chain(0, &[(BUFFERS, 16, 0), data, (STATUS, 1, WRITE)]);
    let written = driver.send(0, 0).unwrap();
    (driver.bytes(STATUS, 1)[0], written)
}

#[test]
fn sectors_are_read_and_written() {
    let mut driver = driver();
    let read = request(&mut driver, 0, 3, (DATA, 1024, WRITE));
    assert_eq!(read, (OK, 1025));
    assert_eq!(driver.acknowledge(), 1);
    assert_eq!(driver.bytes(DATA, 1024), &image()[3 * 512..5 * 512]);
    driver.put(DATA, &[0x5a; 512]);
    let written = request(&mut driver, 1, 4, (DATA, 512, 0));
    assert_eq!(written, (OK, 1));
    // A reset of the machine leaves the disk as it is.
    driver.slot.reset();
    driver.negotiate(VERSION_1);
    driver.set_up(0);
    driver.set(0x70, 15);
    driver.bytes(areas(0)[0], 0x1000).fill(0);
    request(&mut driver, 0, 3, (DATA, 1536, WRITE));
    let data = driver.bytes(DATA, 1536);
    assert_eq!(data[..512], image()[3 * 512..4 * 512]);
    assert_eq!(data[512..1024], [0x5a; 512]);
    assert_eq!(data[1024..], image()[5 * 512..6 * 512]);
}

#[test]
fn any_division_into_buffers_will_do() {
    let mut driver = driver();
    header(&mut driver, 0, 1);
    let buffers = [
        (BUFFERS, 5, 0),
        (BUFFERS + 5, 0, 0),
        (BUFFERS + 5, 11, 0),
        (DATA, 100, WRITE),
        (DATA + 200, 0, WRITE),
        (DATA + 100, 413, WRITE),
    ];
    driver.chain(0, &buffers);
    assert_eq!(driver.send(0, 0), Some(513));
    assert_eq!(driver.bytes(DATA, 512), &image()[512..1024]);
    assert_eq!(driver.bytes(DATA + 512, 1), [OK]);
}

#[test]
fn indirect_tables_hold_requests() {
    let mut driver = Driver::new(disk(false), INDIRECT);
    header(&mut driver, 0, 2);
    let table = BUFFERS + 0x400;
    // The header is before the table, in the queue's own descriptors.
    driver.chain(0, &[(BUFFERS, 16, 0), (table, 32, 4 | WRITE)]);
    driver.describe(table, 0, (DATA, 512, WRITE | 1, 1));
    driver.describe(table, 1, (STATUS, 1, WRITE, 9));
    assert_eq!(driver.send(0, 0), Some(513));
    assert_eq!(driver.bytes(DATA, 512), &image()[1024..1536]);
}

#[test]
fn flush_and_name() {
    let mut driver = driver();
    header(&mut driver, 4, 0);
    driver.chain(0, &[(BUFFERS, 16, 0), (STATUS, 1, WRITE)]);
    assert_eq!(driver.send(0, 0), Some(1));
    assert_eq!(driver.bytes(STATUS, 1), [OK]);
    assert_eq!(request(&mut driver, 8, 0, (DATA, 20, WRITE)), (OK, 21));
    assert_eq!(driver.bytes(DATA, 20), b"a disk of the tests\0");
    assert_eq!(request(&mut driver, 8, 0, (DATA, 6, WRITE)), (OK, 7));
}

#[test]
fn bad_requests_get_an_error_status() {
    let mut driver = driver();
    let hole = 0x1000;
    for (kind, sector, data, status) in [
        (0, 16, (DATA, 512, WRITE), IO_ERROR),
        (0, 15, (DATA, 1024, WRITE), IO_ERROR),
        (0, u64::MAX, (DATA, 512, WRITE), IO_ERROR),
        (0, u64::MAX / 512, (DATA, 512, WRITE), IO_ERROR),
        (0, 0, (DATA, 511, WRITE), IO_ERROR),
        (0, 0, (hole, 512, WRITE), IO_ERROR),
        (0, 0, (u64::MAX - 5, 512, WRITE), IO_ERROR),
        (1, 16, (DATA, 512, 0), IO_ERROR),
        (1, 0, (DATA, 513, 0), IO_ERROR),
        (1, 0, (hole, 512, 0), IO_ERROR),
        (8, 0, (hole, 20, WRITE), IO_ERROR),
        (2, 0, (DATA, 512, WRITE), UNSUPPORTED),
        (11, 0, (DATA, 16, 0), UNSUPPORTED),
        (u32::MAX, 0, (DATA, 512, WRITE), UNSUPPORTED),
    ] {
        let (got, written) = request(&mut driver, kind, sector, data);
        let expected = (status, u32::from(data.2 == 0));
        assert_eq!((got, written), expected, "{kind} {sector} {data:x?}");
    }
    // A header that is too short.
    driver.chain(0, &[(BUFFERS, 15, 0), (STATUS, 1, WRITE)]);
    driver.put(STATUS, &[0xaa]);
    assert_eq!(driver.send(0, 0), Some(1));
    assert_eq!(driver.bytes(STATUS, 1), [IO_ERROR]);
    // The disk is as it was, and the device goes on.
    let read = request(&mut driver, 0, 0, (DATA, 512, WRITE));
    assert_eq!(read, (OK, 513));
    assert_eq!(driver.bytes(DATA, 512), &image()[..512]);
}

#[test]
fn requests_without_a_place_for_the_answer_stop_the_device() {
    for buffers in [
        &[(BUFFERS, 16, 0)][..],
        &[(BUFFERS, 16, 0), (DATA, 0, WRITE)],
    ] {
        let mut driver = driver();
        header(&mut driver, 4, 0);
        driver.chain(0, buffers);
        assert_eq!(driver.send(0, 0), None);
        assert_eq!(driver.slot.fault(), Some(QueueFault::NoAnswer));
        assert_eq!(driver.acknowledge(), 2);
    }
    let mut driver = driver();
    driver.chain(0, &[(BUFFERS, 16, 0), (8, 1, WRITE)]);
    assert_eq!(driver.send(0, 0), None);
    assert_eq!(driver.slot.fault(), Some(QueueFault::Memory));
}

#[test]
fn a_read_only_disk_stays() {
    let mut driver = Driver::new(disk(true), READ_ONLY);
    assert_eq!(request(&mut driver, 1, 0, (DATA, 512, 0)), (IO_ERROR, 1));
    assert_eq!(request(&mut driver, 0, 0, (DATA, 512, WRITE)), (OK, 513));
    assert_eq!(driver.bytes(DATA, 512), &image()[..512]);
    driver.set(0x14, 0);
    assert_ne!(driver.get(0x10) & READ_ONLY as u32, 0);
}

#[test]
fn the_configuration_says_how_large_the_disk_is() {
    let mut driver = driver();
    let mut config = |offset, size| driver.slot.read(offset, size, &mut driver.around);
    assert_eq!(config(0x100, 8), Ok(16));
    assert_eq!(config(0x100, 4), Ok(16));
    assert_eq!(config(0x104, 4), Ok(0));
    assert_eq!(config(0x10c, 4), Ok(254));
    assert_eq!(config(0x114, 4), Ok(512));
    assert_eq!(config(0x114, 2), Ok(512));
    assert_eq!(config(0x115, 1), Ok(2));
    assert_eq!(config(0x118, 8), Ok(0));
    assert_eq!(config(0xff8, 8), Ok(0));
    assert!(config(0x115, 2).is_err());
}

#[test]
fn work_ends_when_reads_overwrite_the_ring() {
    // Each read puts sectors over the available ring, whose index seems to go on for ever.
    let mut driver = driver();
    let available = areas(0)[1];
    driver.chain(
        0,
        &[
            (BUFFERS, 16, 0),
            (available, 512, WRITE),
            (STATUS, 1, WRITE),
        ],
    );
    header(&mut driver, 0, 0);
    driver.offer(0, 0);
    driver.set(0x50, 0);
    assert_eq!(driver.used(0), 1);
}

#[test]
fn requests_have_faults() {
    let mut driver = driver();
    let faults = |driver: &mut Driver, fault| {
        driver.slot.request_faults().unwrap().add(fault, 1);
    };
    faults(&mut driver, RequestFault::Fail);
    faults(&mut driver, RequestFault::Repeat);
    driver.put(DATA, &[0x5a; 512]);
    let failed = request(&mut driver, 1, 0, (DATA, 512, 0));
    assert_eq!(failed, (IO_ERROR, 1));
    let read = request(&mut driver, 0, 0, (DATA, 512, WRITE));
    assert_eq!(read, (OK, 513));
    assert_eq!(driver.bytes(DATA, 512), &image()[..512]);
    faults(&mut driver, RequestFault::Drop);
    header(&mut driver, 0, 0);
    driver.chain(
        0,
        &[(BUFFERS, 16, 0), (DATA, 512, WRITE), (STATUS, 1, WRITE)],
    );
    assert_eq!(driver.send(0, 0), None);
    assert_eq!(driver.bytes(STATUS, 1), [0xaa]);
}
