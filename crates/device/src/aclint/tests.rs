//! Timer and software interrupts.
use super::*;
use crate::mock::Mock;

/// Picoseconds of a tick at 10 MHz.
const TICK: Time = 100_000;

fn clint() -> Clint {
    Clint::new(0, 2, Timebase::new(10_000_000).unwrap())
}

#[test]
fn msip_is_one_bit_of_each_hart() {
    let (mut clint, mut around) = (clint(), Mock::default());
    clint.write(4, 4, 0xffff_ffff, &mut around).unwrap();
    assert!(around.line(1, MSIP) && !around.line(0, MSIP));
    assert_eq!(clint.read(4, 4, &mut around), Ok(1));
    clint.write(4, 4, 2, &mut around).unwrap();
    assert!(!around.line(1, MSIP));
    // An absent hart.
    clint.write(8, 4, 1, &mut around).unwrap();
    assert_eq!(clint.read(8, 4, &mut around), Ok(0));
    assert_eq!(around.lines.len(), 1);
    assert_eq!(clint.read(1, 4, &mut around), Err(Refused));
    assert_eq!(clint.read(0, 8, &mut around), Err(Refused));
}

#[test]
fn setssip_only_sets() {
    let (mut sswi, mut around) = (Sswi::new(4, 2), Mock::default());
    sswi.write(4, 4, 0, &mut around).unwrap();
    sswi.write(8, 4, 1, &mut around).unwrap();
    assert!(around.lines.is_empty());
    sswi.write(4, 4, 1, &mut around).unwrap();
    assert!(around.line(5, SSIP));
    assert_eq!(sswi.read(4, 4, &mut around), Ok(0));
    sswi.load(&sswi.save()).unwrap();
    assert!(sswi.load(&[0]).is_err());
}

#[test]
fn the_timer_expires_at_its_tick() {
    let (mut clint, mut around) = (clint(), Mock::default());
    around.now = 7 * TICK + 5;
    assert_eq!(clint.read(0xbff8, 8, &mut around), Ok(7));
    clint.write(0x4008, 8, 20, &mut around).unwrap();
    assert_eq!(around.events[&1], 20 * TICK);
    around.run_until(&mut clint, 20 * TICK - 1, 9);
    assert!(!around.line(1, MTIP));
    around.run_until(&mut clint, 20 * TICK, 9);
    assert!(around.line(1, MTIP) && !around.line(0, MTIP));
    clint.write(0x4008, 8, 21, &mut around).unwrap();
    assert!(!around.line(1, MTIP));
    clint.write(0x4008, 8, u64::MAX, &mut around).unwrap();
    assert!(around.events.is_empty());
}

#[test]
fn halves_are_written_apart_and_mtime_moves_deadlines() {
    let (mut clint, mut around) = (clint(), Mock::default());
    clint.write(0x4004, 4, 0, &mut around).unwrap();
    assert_eq!(clint.read(0x4000, 8, &mut around), Ok(0xffff_ffff));
    clint.write(0x4000, 4, 1000, &mut around).unwrap();
    assert_eq!(around.events[&0], 1000 * TICK);
    around.now = 10 * TICK;
    clint.write(0xbff8, 4, 900, &mut around).unwrap();
    assert_eq!(around.events[&0], 110 * TICK);
    clint.write(0xbffc, 4, 1, &mut around).unwrap();
    assert!(around.line(0, MTIP));
    assert_eq!(clint.read(0xbffc, 4, &mut around), Ok(1));
    assert_eq!(clint.read(0xbff8, 8, &mut around), Ok((1 << 32) + 900));
    assert_eq!(clint.timebase().value(11 * TICK), (1 << 32) + 901);
    for (offset, size) in [(0xbff8, 2), (0xbffc, 8), (0x4001, 4)] {
        assert_eq!(clint.read(offset, size, &mut around), Err(Refused));
    }
}

#[test]
fn the_interrupt_falls_when_mtime_wraps() {
    let (mut clint, mut around) = (clint(), Mock::default());
    clint.write(0x4000, 8, 5, &mut around).unwrap();
    clint.write(0xbff8, 8, u64::MAX - 1, &mut around).unwrap();
    assert!(around.line(0, MTIP));
    around.run_until(&mut clint, 2 * TICK - 1, 9);
    assert!(around.line(0, MTIP));
    around.run_until(&mut clint, 2 * TICK, 9);
    assert!(!around.line(0, MTIP));
    around.run_until(&mut clint, 7 * TICK, 9);
    assert!(around.line(0, MTIP));
}

#[test]
fn a_loaded_clint_has_the_same_future() {
    let (mut clint, mut around) = (clint(), Mock::default());
    around.now = 3 * TICK;
    clint.write(0, 4, 1, &mut around).unwrap();
    clint.write(0xbff8, 8, 77, &mut around).unwrap();
    clint.write(0x4000, 8, 99, &mut around).unwrap();
    let mut other = self::clint();
    other.load(&clint.save()).unwrap();
    let mut other_around = around.clone();
    around.run_until(&mut clint, 100 * TICK, 9);
    other_around.run_until(&mut other, 100 * TICK, 9);
    assert_eq!(around, other_around);
    assert!(around.line(0, MTIP));
    assert_eq!(clint.save(), other.save());
    clint.reset();
    assert_eq!(clint.save(), self::clint().save());
}

#[test]
fn states_of_other_machines_are_refused() {
    let mut clint = clint();
    let before = clint.save();
    let other_harts = Clint::new(0, 3, clint.timebase());
    let other_clock = Clint::new(0, 2, Timebase::new(1).unwrap());
    for state in [
        other_harts.save(),
        other_clock.save(),
        vec![],
        vec![255; 40],
    ] {
        assert!(clint.load(&state).is_err());
    }
    for length in 0..before.len() {
        assert!(clint.load(&before[..length]).is_err());
    }
    assert_eq!(clint.save(), before);
}
