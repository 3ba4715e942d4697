//! The guide `docs/your-machine.md`, followed literally.
use std::path::PathBuf;
use std::process::Command;

use flick_machine::{Console, End, Files, Machine, System, boot, timing_of};
use flick_timing::machine;

const GUIDE: &str = include_str!("../../../docs/your-machine.md");

/// The first block of code in this language.
fn block(language: &str) -> &'static str {
    let fence = format!("```{language}\n");
    let (_, from) = GUIDE.split_once(&*fence).unwrap();
    from.split_once("```").unwrap().0
}

#[derive(Default)]
struct Printed(String);

impl Console for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.0.push_str(std::str::from_utf8(bytes).unwrap());
    }
}

fn run(program: &[u8], is_timed: bool, settings: &[String]) -> String {
    let description = machine::Machine::parse("mine.toml", block("toml"), settings).unwrap();
    let mut system = System::new(&description).unwrap();
    let board = system.board(vec![]).unwrap();
    let files = Files {
        firmware: program.to_vec(),
        ..Files::default()
    };
    let booted = boot(&mut system, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, None);
    machine.set_timing(timing_of(&description, &system.tile));
    machine.set_mode(is_timed);
    machine.limit(1_000_000);
    let mut printed = Printed::default();
    assert_eq!(machine.run(&mut printed), End::Exit(0));
    printed.0
}

#[test]
fn the_guide_holds() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("your_machine");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("hello.c"), block("c")).unwrap();
    let (_, command) = GUIDE.split_once("```\nclang-19").unwrap();
    let command = command.split_once("```").unwrap().0.replace('\\', " ");
    let done = Command::new("clang-19")
        .args(command.split_whitespace())
        .current_dir(&dir)
        .status();
    assert!(done.unwrap().success());
    let program = std::fs::read(dir.join("hello.elf")).unwrap();
    assert_eq!(run(&program, false, &[]), "5\n");
    assert_eq!(run(&program, true, &[]), "56\n");
    let longer = ["core.small.l1d.line=128 B".to_owned()];
    assert_eq!(run(&program, true, &longer), "31\n");
    for text in ["prints 5:", "prints 56:"] {
        assert!(GUIDE.contains(text));
    }
}
