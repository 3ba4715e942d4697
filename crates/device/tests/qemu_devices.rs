//! The devices beside those of QEMU's `virt`, by random accesses to both. QEMU's machine stands
//! still: its harts do not run, and its time stays 0.
//!
//! The tests compare nothing where QEMU is not installed.
mod common;

use common::{Qemu, pick};
use flick_device::mock::Mock;
use flick_device::{
    Clint, Context, Device, Gateways, GoldfishRtc, Plic, PlicDescription, Timebase, Uart16550,
};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

/// The source that waits, if one does, by a claim and a completion for context 0. QEMU's PLIC holds
/// what has risen.
fn claim(qemu: &mut Qemu) -> u64 {
    let source = qemu.read(0xc20_0004, 4);
    qemu.write(0xc20_0004, 4, source);
    source
}

#[test]
fn the_serial_port_is_that_of_qemu() {
    let Some(mut qemu) = Qemu::start(&[]) else {
        return;
    };
    const BASE: u64 = 0x1000_0000;
    let (mut uart, mut around) = (Uart16550::new(10, 0, 3_686_400), Mock::default());
    let mut random = Pcg64Mcg::new(1);
    let mut history = Vec::new();
    // Here QEMU starts with OUT2.
    for (register, value) in [(4, 0), (1, 0)] {
        qemu.write(BASE + register, 1, value);
        uart.write(register, 1, value, &mut around).unwrap();
    }
    for _ in 0..20_000 {
        let register = pick(&mut random, &[0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 7]);
        if random.next_u32() & 1 == 0 {
            if register == 0 {
                // An empty receiver reads as anything.
                let ready = uart.read(5, 1, &mut around).unwrap();
                assert_eq!(ready, qemu.read(BASE + 5, 1), "{history:#?}");
                let divisor = uart.read(3, 1, &mut around).unwrap() & 0x80 != 0;
                if ready & 1 == 0 && !divisor {
                    continue;
                }
            }
            let theirs = qemu.read(BASE + register, 1);
            let ours = uart.read(register, 1, &mut around).unwrap();
            history.push(format!("read {register}: {ours:#x}"));
            // QEMU's inputs of the modem never change.
            let mask = if register == 6 { 0xf0 } else { 0xff };
            assert_eq!(ours & mask, theirs & mask, "{history:#?}");
            if register == 2 && ours & 0xf != 2 {
                // The read itself ends the interrupt "holding register empty".
                assert_eq!(around.source(10), ours & 1 == 0, "{history:#?}");
            }
        } else {
            let value = u64::from(random.next_u32()) & 0xff;
            let value = match register {
                1 => value & 0xf7,
                // Loopback, so that something is received, and in half of the cases no divisor.
                4 if value & 3 != 0 => value | 0x10,
                3 => value & 0xbf & !(0x80 * (value & 1)),
                _ => value,
            };
            history.push(format!("write {register}: {value:#x}"));
            qemu.write(BASE + register, 1, value);
            uart.write(register, 1, value, &mut around).unwrap();
        }
        history.drain(..history.len().saturating_sub(40));
    }
}

#[test]
fn the_clint_is_that_of_qemu() {
    let Some(mut qemu) = Qemu::start(&[]) else {
        return;
    };
    const BASE: u64 = 0x200_0000;
    let mut clint = Clint::new(0, 2, Timebase::new(10_000_000).unwrap());
    let mut around = Mock::default();
    let mut random = Pcg64Mcg::new(2);
    for offset in [0x4000, 0x4008] {
        // At reset they differ: the manual leaves them open.
        qemu.write(BASE + offset, 8, 5);
        clint.write(offset, 8, 5, &mut around).unwrap();
    }
    for step in 0..5000 {
        let near = 4 * (random.next_u64() % 6);
        let offset = pick(&mut random, &[0, 0x4000, 0xbff8]) + near;
        let size = match offset {
            0x4000.. if offset.is_multiple_of(8) => pick(&mut random, &[4, 8]),
            _ => 4,
        };
        if random.next_u32() & 1 == 0 {
            let theirs = qemu.read(BASE + offset, size);
            let ours = clint.read(offset, size, &mut around).unwrap();
            assert_eq!(ours, theirs, "step {step}: read of {size} at {offset:#x}");
        } else {
            let value = random.next_u64() >> pick(&mut random, &[0, 32, 60]);
            let value = if size == 4 {
                value & 0xffff_ffff
            } else {
                value
            };
            qemu.write(BASE + offset, size, value);
            clint.write(offset, size, value, &mut around).unwrap();
        }
    }
}

#[test]
fn the_clock_is_that_of_qemu() {
    let Some(mut qemu) = Qemu::start(&[]) else {
        return;
    };
    const BASE: u64 = 0x10_1000;
    let epoch = qemu.read(BASE, 4) | qemu.read(BASE + 4, 4) << 32;
    let (mut clock, mut around) = (GoldfishRtc::new(11, epoch), Mock::default());
    clock.read(0, 4, &mut around).unwrap();
    for (offset, value) in [(4 * 11, 1), (0x2000, 1 << 11)] {
        qemu.write(0xc00_0000 + offset, 4, value);
    }
    let mut random = Pcg64Mcg::new(3);
    for step in 0..5000 {
        let offset = 4 * (random.next_u64() % 9);
        let before = around.source(11);
        if random.next_u32() & 1 == 0 {
            let theirs = qemu.read(BASE + offset, 4);
            let ours = clock.read(offset, 4, &mut around).unwrap();
            assert_eq!(ours, theirs, "step {step}: read at {offset:#x}");
        } else {
            let value = u64::from(random.next_u32() >> pick(&mut random, &[0, 3, 31]));
            // QEMU's alarm does not follow a clock that is set.
            let clear = (0x14, 0);
            for (offset, value) in [clear, (offset, value)]
                .into_iter()
                .skip((offset > 4).into())
            {
                qemu.write(BASE + offset, 4, value);
                clock.write(offset, 4, value, &mut around).unwrap();
            }
        }
        let (level, theirs) = (around.source(11), claim(&mut qemu));
        // QEMU's PLIC takes a level that is set again for one that has risen.
        if !(before && level) {
            assert_eq!(11 * u64::from(level), theirs, "step {step}: {offset:#x}");
        }
    }
}

/// The sources that a test can drive in QEMU: the serial port's interrupt "holding register empty",
/// and the clock's, whose alarm is past.
#[test]
fn the_plic_is_that_of_qemu() {
    let Some(mut qemu) = Qemu::start(&[]) else {
        return;
    };
    const BASE: u64 = 0xc00_0000;
    let contexts = (0..2).flat_map(|hart| [11, 9].map(|bit| Context { hart, bit }));
    let description = PlicDescription {
        gateways: Gateways::Level,
        sources: 96,
        priority_bits: 3,
        contexts: contexts.collect(),
    };
    let (mut plic, mut around) = (Plic::new(description).unwrap(), Mock::default());
    let mut random = Pcg64Mcg::new(4);
    // The alarm rings: its time is past.
    qemu.write(0x10_1008, 4, 0);
    let mut levels = [false; 2];
    // QEMU 7.2 has no gateway: a source that rises between claim and completion is pending at once,
    // and one that is high at the completion is not pending again. It also lets every context
    // complete. The test does none of these.
    let mut in_service = [false; 2];
    for step in 0..20_000 {
        let context = random.next_u64() % 4;
        let enable = 0x2000 + 0x80 * context;
        let claim = 0x20_0004 + 0x1000 * context;
        match random.next_u32() % 8 {
            0 => {
                let which = random.next_u32() as usize % 2;
                let level = !levels[which];
                if level && in_service[which] {
                    continue;
                }
                match (which, level) {
                    (0, true) => qemu.write(0x1000_0001, 1, 2),
                    (0, false) => qemu.write(0x1000_0001, 1, 0),
                    _ => qemu.write(0x10_1010, 4, level.into()),
                }
                levels[which] = level;
                plic.set_level(10 + which as u32, level, &mut around);
            }
            1 | 2 => {
                let offset = match random.next_u32() % 3 {
                    0 => 4 * (random.next_u64() % 14),
                    _ => enable + 4 * (random.next_u64() % 5),
                };
                let value = u64::from(random.next_u32());
                let value = match offset {
                    // QEMU 7.2 lets software enable the sources 0 and 97 to 127.
                    0..0x1000 => value & 7,
                    _ if offset == enable => value & !1,
                    _ if offset >= enable + 12 => 0,
                    _ => value,
                };
                qemu.write(BASE + offset, 4, value);
                plic.write(offset, 4, value, &mut around).unwrap();
            }
            3 => {
                let theirs = qemu.read(BASE + claim, 4);
                let ours = plic.read(claim, 4, &mut around).unwrap();
                assert_eq!(ours, theirs, "step {step}: claim of {context}");
                if let which @ (10 | 11) = ours {
                    in_service[which as usize - 10] = true;
                }
            }
            4 => {
                let value = pick(&mut random, &[10, 11, 10, 11, 0, 3]);
                let which = (value as usize).wrapping_sub(10);
                let enabled = plic.read(enable, 4, &mut around).unwrap() >> value & 1 != 0;
                if which < 2 && (levels[which] || !enabled) {
                    continue;
                }
                qemu.write(BASE + claim, 4, value);
                plic.write(claim, 4, value, &mut around).unwrap();
                if which < 2 {
                    in_service[which] = false;
                }
            }
            _ => {
                let places = [
                    4 * (random.next_u64() % 97),
                    0x1000,
                    0x1004,
                    enable,
                    enable + 8,
                ];
                let offset = pick(&mut random, &places);
                let theirs = qemu.read(BASE + offset, 4);
                let ours = plic.read(offset, 4, &mut around).unwrap();
                assert_eq!(ours, theirs, "step {step}: read at {offset:#x}");
            }
        }
    }
}
