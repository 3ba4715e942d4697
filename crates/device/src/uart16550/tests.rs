//! Tests of the serial port against its data sheet.
use super::*;
use crate::mock::Mock;

const IER: u64 = 1;
const IIR: u64 = 2;
const FCR: u64 = 2;
const LCR: u64 = 3;
const MCR: u64 = 4;
const LSR: u64 = 5;
const MSR: u64 = 6;

struct Port(Uart16550, Mock);

impl Port {
    fn new() -> Self {
        Self(Uart16550::new(10, 0, 3_686_400), Mock::default())
    }

    fn get(&mut self, register: u64) -> u8 {
        self.0.read(register, 1, &mut self.1).unwrap() as u8
    }

    fn set(&mut self, register: u64, value: u8) {
        let written = self.0.write(register, 1, value.into(), &mut self.1);
        written.unwrap();
    }

    fn type_in(&mut self, bytes: &[u8]) -> usize {
        self.0.input(bytes, &mut self.1)
    }

    fn raised(&self) -> bool {
        self.1.source(10)
    }
}

#[test]
fn output_leaves_at_once() {
    let mut port = Port::new();
    for byte in *b"hi\n" {
        assert_eq!(port.get(LSR), 0x60);
        port.set(0, byte);
    }
    assert_eq!(port.1.console, b"hi\n");
    assert!(!port.raised());
}

#[test]
fn the_divisor_hides_data_and_ier() {
    let mut port = Port::new();
    port.set(LCR, 0x83);
    port.set(0, 0x34);
    port.set(1, 0x12);
    assert_eq!((port.get(0), port.get(1)), (0x34, 0x12));
    port.set(LCR, 3);
    assert_eq!((port.get(0), port.get(IER)), (0, 0));
    assert_eq!(port.get(LCR), 3);
    assert!(port.1.console.is_empty());
    port.set(7, 0x5a);
    assert_eq!(port.get(7), 0x5a);
}

#[test]
fn an_empty_holding_register_interrupts_once() {
    let mut port = Port::new();
    port.set(IER, 2);
    assert!(port.raised());
    assert_eq!(port.get(IIR), 2);
    assert!(!port.raised());
    assert_eq!(port.get(IIR), 1);
    port.set(0, b'x');
    assert!(port.raised());
    port.set(IER, 0);
    assert!(!port.raised());
    // Pending while disabled, and seen when enabled again.
    port.set(IER, 2);
    assert!(port.raised());
}

#[test]
fn each_cause_announces_the_level_again() {
    let mut port = Port::new();
    port.set(IER, 3);
    let announced = |port: &Port| port.1.announced[&10];
    assert_eq!(announced(&port), 1);
    // A look at the port is no cause.
    port.get(LSR);
    port.get(IER);
    assert_eq!(announced(&port), 1);
    port.type_in(b"a");
    assert_eq!(announced(&port), 2);
    assert_eq!(port.get(0), b'a');
    // The holding register is still empty, and no one has read IIR.
    assert!(port.raised());
    port.set(0, b'x');
    assert_eq!(announced(&port), 4);
}

#[test]
fn without_fifos_one_byte_waits() {
    let mut port = Port::new();
    port.set(IER, 1);
    assert_eq!(port.type_in(b"ab"), 1);
    assert!(port.raised());
    assert_eq!(port.get(IIR), 4);
    assert_eq!(port.get(LSR), 0x61);
    assert_eq!(port.type_in(b"b"), 0);
    assert_eq!(port.get(0), b'a');
    assert!(!port.raised());
    assert_eq!(port.1.ready, 1);
    assert_eq!(port.type_in(b"b"), 1);
    assert_eq!(port.get(0), b'b');
    assert_eq!(port.1.ready, 1);
    assert_eq!(port.get(0), 0);
}

#[test]
fn the_trigger_level_or_a_timeout_raises() {
    for (bits, level) in [(0, 1), (0x40, 4), (0x80, 8), (0xc0, 14)] {
        let mut port = Port::new();
        port.set(FCR, 1 | bits);
        port.set(IER, 1);
        for count in 1..=16 {
            assert_eq!(port.type_in(&[count]), 1);
            assert_eq!(port.raised(), count >= level);
        }
        assert_eq!(port.type_in(b"!"), 0);
        for count in (0..16).rev() {
            let expected = if port.raised() { 0xc4 } else { 0xc1 };
            assert_eq!(port.get(IIR), expected);
            assert_eq!(port.get(0), 16 - count);
            assert_eq!(port.raised(), count >= level);
        }
    }
}

#[test]
fn waiting_characters_time_out() {
    let mut port = Port::new();
    port.set(LCR, 0x83);
    port.set(0, 2); // 115200 baud
    port.set(LCR, 0x03);
    port.set(FCR, 0x81);
    port.set(IER, 1);
    port.type_in(b"ab");
    let four = (4 * 10 * 1_000_000_000_000_u64).div_ceil(115_200);
    port.1.run_until(&mut port.0, four - 1, 9);
    assert!(!port.raised());
    port.1.run_until(&mut port.0, four, 9);
    assert!(port.raised());
    assert_eq!(port.get(IIR), 0xcc);
    // A timeout that has occurred stays until a read.
    port.type_in(b"c");
    assert_eq!(port.get(IIR), 0xcc);
    assert_eq!(port.get(0), b'a');
    assert!(!port.raised());
    port.1.run_until(&mut port.0, 2 * four, 9);
    assert!(port.raised());
    assert_eq!((port.get(0), port.get(0)), (b'b', b'c'));
    assert!(!port.raised());
    assert!(port.1.events.is_empty());
}

#[test]
fn fifos_are_cleared() {
    let mut port = Port::new();
    port.set(FCR, 1);
    port.type_in(b"abc");
    port.set(FCR, 3);
    assert_eq!(port.get(LSR), 0x60);
    port.type_in(b"abc");
    port.set(FCR, 0);
    assert_eq!(port.get(LSR), 0x60);
    assert_eq!(port.get(IIR), 1);
    // Without bit 0 the others are not programmed.
    port.set(FCR, 0xc0);
    port.set(IER, 1);
    port.type_in(b"a");
    assert!(port.raised());
}

#[test]
fn loopback_returns_bytes_and_modem_lines() {
    let mut port = Port::new();
    assert_eq!(port.get(MSR), 0xb0);
    port.set(MCR, 0x1a);
    assert_eq!(port.get(MSR) & 0xf0, 0x90);
    port.set(MCR, 0x14);
    assert_eq!(port.get(MSR), 0x40 | 0x9);
    port.set(IER, 8);
    assert!(!port.raised());
    port.set(MCR, 0x10);
    assert!(port.raised());
    assert_eq!(port.get(IIR), 0);
    assert_eq!(port.get(MSR), 4);
    assert!(!port.raised());
    // Data, with an overrun of the receiver's register.
    assert_eq!(port.type_in(b"?"), 0);
    port.set(IER, 5);
    port.set(0, b'x');
    assert_eq!(port.get(IIR), 4);
    port.set(0, b'y');
    assert_eq!(port.get(IIR), 6);
    assert_eq!(port.get(LSR), 0x63);
    assert_eq!(port.get(LSR), 0x61);
    assert_eq!(port.get(0), b'y');
    assert!(port.1.console.is_empty());
    assert_eq!(port.1.ready, 0);
    port.set(MCR, 0);
    assert_eq!(port.1.ready, 1);
}

#[test]
fn priorities_are_those_of_the_data_sheet() {
    let mut port = Port::new();
    port.set(MCR, 0x14);
    port.set(MCR, 0x10);
    port.set(0, b'x');
    port.set(0, b'y');
    port.set(IER, 0xf);
    assert_eq!(port.get(IIR), 6);
    port.get(LSR);
    assert_eq!(port.get(IIR), 4);
    port.get(0);
    assert_eq!(port.get(IIR), 2);
    assert_eq!(port.get(IIR), 0);
    port.get(MSR);
    assert_eq!(port.get(IIR), 1);
    assert!(!port.raised());
}

#[test]
fn wide_registers_and_offsets_outside() {
    let mut around = Mock::default();
    let mut uart = Uart16550::new(1, 2, 1_843_200);
    uart.write(7 << 2, 4, 0x1234, &mut around).unwrap();
    assert_eq!(uart.read(7 << 2, 4, &mut around), Ok(0x34));
    assert_eq!(uart.read(1, 1, &mut around), Err(Refused));
    assert_eq!(uart.read(8 << 2, 1, &mut around), Err(Refused));
    assert_eq!(uart.write(u64::MAX, 1, 0, &mut around), Err(Refused));
}

#[test]
fn a_loaded_port_goes_on() {
    let mut port = Port::new();
    port.set(FCR, 0x41);
    port.set(IER, 1);
    port.type_in(b"abc");
    let mut other = Port(Uart16550::new(10, 0, 3_686_400), port.1.clone());
    other.0.load(&port.0.save()).unwrap();
    assert_eq!(other.type_in(b"d"), 1);
    assert!(other.raised());
    assert_eq!(other.get(0), b'a');
    let full = State {
        received: VecDeque::from([0; 17]),
        fcr: 1,
        ..State::default()
    };
    assert!(other.0.load(&save_state(&full)).is_err());
    assert_eq!(other.get(0), b'b');
    other.0.reset();
    assert_eq!(other.0.save(), Port::new().0.save());
}
