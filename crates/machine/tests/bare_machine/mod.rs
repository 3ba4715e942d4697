//! Machines with firmware alone.
use flick_machine::{BlockDisk, Board, Console, Files, Machine, System, boot};
use flick_timing::machine;

/// A console that nobody reads.
pub struct Quiet;

impl Console for Quiet {
    fn output(&mut self, _: &[u8]) {}
}

/// What `ask` says of the machine of a name or file with these settings, at its reset.
pub fn on_machine<T>(
    name: &str,
    settings: &[&str],
    disks: Vec<BlockDisk>,
    firmware: &[u8],
    ask: impl FnOnce(&mut Machine, &Board) -> T,
) -> T {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let description = machine::Machine::load(name, &settings).unwrap();
    assert_eq!(description.missing(), []);
    let mut system = System::new(&description).unwrap();
    let board = system.board(disks).unwrap();
    let files = Files {
        firmware: firmware.to_vec(),
        ..Files::default()
    };
    let booted = boot(&mut system, &board, &files).unwrap();
    ask(&mut Machine::new(&board, &booted.harts, None), &board)
}
