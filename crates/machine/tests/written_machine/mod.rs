//! Machine files that tests write.
use std::io::Write;
use std::path::PathBuf;

use tempfile::NamedTempFile;

/// Writes a machine file, in which each figure is an assumption, and returns its path.
pub fn write(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    // A line's end says where a figure is from.
    let text: String = text
        .lines()
        .map(|line| format!("{line}{}\n", source(line)))
        .collect();
    // Tests that run at the same time may write the same file: a reader sees all of it.
    let mut new = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    new.write_all(text.as_bytes()).unwrap();
    new.persist(&path).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn source(line: &str) -> &'static str {
    match line.contains(" = ") && !line.contains('#') {
        true => " # an assumption",
        false => "",
    }
}
