//! What GDB's `monitor` command offers, because GDB itself has no word for it.
use std::fmt::Write;

use crate::gdb_target::GdbTarget;

const HELP: &str = "\
phys on|off               memory commands take physical addresses, or virtual ones
xp ADDRESS [WORDS]        words of 8 bytes at a physical address
stop-on-trap CODE|all|off harts stop in front of the handler of this exception; with
                          `interrupt` before the code, of this interrupt
stop-at-end on|off        the machine stops at its end, so that it can go back
csr NAME|0xNUMBER         a control and status register of the hart that has stopped last
harts                     where each hart is, and what it does
snapshots                 what going back costs";

/// At most so many words.
const MOST_WORDS: u64 = 512;

/// Executes a command.
pub fn answer(target: &mut GdbTarget, command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        [] | ["help"] => HELP.into(),
        ["phys", "on"] => {
            target.is_physical = true;
            "addresses are physical".into()
        }
        ["phys", "off"] => {
            target.is_physical = false;
            "addresses are virtual".into()
        }
        ["xp", address] => memory(target, address, "1"),
        ["xp", address, words] => memory(target, address, words),
        ["stop-on-trap", "off"] => {
            target.timeline.traps = [0; 2];
            "harts stop on no trap".into()
        }
        ["stop-on-trap", "all"] => {
            target.timeline.traps = [u64::MAX; 2];
            "harts stop on all traps".into()
        }
        ["stop-on-trap", code] => stop_on(target, 0, code),
        ["stop-on-trap", "interrupt", code] => stop_on(target, 1, code),
        ["stop-at-end", "on"] => {
            target.stops_at_end = true;
            "the machine stops at its end".into()
        }
        ["stop-at-end", "off"] => {
            target.stops_at_end = false;
            "the machine ends without a stop".into()
        }
        ["csr", name] => csr(target, name),
        ["harts"] => harts(target),
        ["snapshots"] => {
            let (number, bytes) = target.timeline.snapshots();
            format!(
                "{number} snapshots, {} KiB of memory beyond the first",
                bytes >> 10
            )
        }
        _ => format!("there is no such command\n{HELP}"),
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn memory(target: &GdbTarget, address: &str, words: &str) -> String {
    let (Some(address), Some(words)) = (number(address), number(words)) else {
        return "give an address, and a number of words: xp 0x80000000 4".into();
    };
    let mut text = String::new();
    for word in 0..words.min(MOST_WORDS) {
        let at = address.wrapping_add(8 * word);
        let mut bytes = [0; 8];
        let board = target.timeline.machine.board_of(target.focus);
        if board.is_none_or(|board| board.read_memory(at, &mut bytes).is_err()) {
            let _ = writeln!(text, "{at:#018x}: no memory");
            break;
        }
        let _ = writeln!(text, "{at:#018x}: {:#018x}", u64::from_le_bytes(bytes));
    }
    text
}

fn stop_on(target: &mut GdbTarget, kind: usize, code: &str) -> String {
    match number(code).filter(|&code| code < 64) {
        Some(code) => {
            target.timeline.traps[kind] |= 1 << code;
            let kind = ["exception", "interrupt"][kind];
            format!("harts stop on {kind} {code}")
        }
        None => "a code is a number from 0 to 63".into(),
    }
}

fn csr(target: &GdbTarget, name: &str) -> String {
    let hart = target.timeline.machine.hart(target.focus);
    let number = crate::hart_registers::csr_number(name);
    let of = target.timeline.machine.hart_name(target.focus);
    match hart.zip(number).and_then(|(hart, number)| hart.csr(number)) {
        Some(value) => format!("{name} of {of}: {value:#x}"),
        None => format!("{of} has no register {name}"),
    }
}

fn harts(target: &GdbTarget) -> String {
    let machine = &target.timeline.machine;
    let mut text = String::new();
    for number in 0..machine.harts() {
        let Some(hart) = machine.hart(number) else {
            continue;
        };
        let waits = if machine.waits(number) { ", waits" } else { "" };
        let time = machine.time(number).unwrap_or(0);
        let _ = writeln!(
            text,
            "{}: pc {:#x}, {:?} mode{waits}, {} instructions and exceptions, {} ns",
            machine.hart_name(number),
            hart.hart.pc,
            hart.registers().privilege,
            hart.steps(),
            time / 1000
        );
    }
    text
}
