//! Machine files that tests write.
use std::path::PathBuf;

/// Writes a machine file, in which each figure is an assumption, and returns its path.
pub fn write(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    // A line's end says where a figure is from.
    let text: String = text
        .lines()
        .map(|line| format!("{line}{}\n", source(line)))
        .collect();
    std::fs::write(&path, text).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn source(line: &str) -> &'static str {
    match line.contains(" = ") && !line.contains('#') {
        true => " # an assumption",
        false => "",
    }
}
