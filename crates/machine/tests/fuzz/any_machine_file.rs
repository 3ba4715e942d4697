//! Any texts to the readers of machine files and of files of faults, for the tests and for `fuzz/`.
use flick_machine::System;
use flick_timing::machine::Machine;

/// The file is what follows the first NUL. The lines in front of it are settings.
pub fn read_any(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (settings, file) = text.split_once('\0').unwrap_or(("", &text));
    if let Err(error) = flick_timing::faults::parse("faults.toml", file, &[("a", 4), ("b", 2)]) {
        assert!(
            !error.what.is_empty() && !error.help.is_empty(),
            "{error:?}"
        );
    }
    let settings: Vec<String> = settings.lines().map(str::to_owned).collect();
    match Machine::parse("file.toml", file, &settings) {
        Ok(machine) => use_all(&machine),
        // A message has all that people need.
        Err(error) => assert!(
            !error.what.is_empty() && !error.help.is_empty(),
            "{error:?}"
        ),
    }
}

/// What can be read can be described to firmware, and made if it is not too large.
fn use_all(machine: &Machine) {
    let _ = machine.missing();
    for link in &machine.links {
        for from in 0..link.tiles.len().min(8) {
            assert_eq!(link.hops(from, from), 0);
            let back = link.hops(0, from);
            assert_eq!(link.hops(from, 0), back);
        }
    }
    let Ok(system) = System::new(machine) else {
        return;
    };
    system
        .tree()
        .expect("a machine that is read has a device tree");
    let memory: u64 = system.tile.memories.iter().map(|memory| memory.size).sum();
    if memory <= 1 << 30 {
        assert!(
            system.board(vec![]).is_ok(),
            "a machine that is read has a board"
        );
    }
}
