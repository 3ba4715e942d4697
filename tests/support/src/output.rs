//! Output of commands as text.
use std::process::{Command, Output};

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

pub fn stderr(output: &Output) -> String {
    text(&output.stderr)
}

/// Runs a program that must succeed without a word.
pub fn quiet(command: &mut Command) {
    let output = command.output().expect("starts");
    let text = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success() && text.is_empty(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&text)
    );
}
