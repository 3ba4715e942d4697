//! `-MJ FILE`: clang writes an entry of a compilation database, with every word that it was given.
use std::path::Path;

use flick_image::elf_kind::read_file;
use flick_image::output;

use crate::compile::Extra;
use crate::preprocessed::escaped;
use crate::{Result, temp};

/// Takes the words of Flick's pass out of the entries: clangd and its like parse them with a clang
/// of their own, which has no use for the pass. The macro and the directory of `flick.h` stay.
pub fn clean(file: &Path, extra: &Extra) -> Result<()> {
    let words = [extra.before.as_slice(), &extra.after].concat();
    let text = String::from_utf8_lossy(&read_file(file)?).into_owned();
    let mut clean = text.clone();
    for (index, word) in words.iter().enumerate() {
        let word = word.to_string_lossy();
        if word == "-Xclang" || word == "-Xlinker" {
            let value = words
                .get(index + 1)
                .map(|w| w.to_string_lossy())
                .unwrap_or_default();
            clean = clean.replace(&format!(", {}, {}", quoted(&word), quoted(&value)), "");
        } else if word != "-D__FLICK__=1" && word.starts_with('-') && word != "-idirafter" {
            clean = clean.replace(&format!(", {}", quoted(&word)), "");
        }
    }
    if clean == text {
        return Ok(());
    }
    output::write(file, clean.as_bytes())
        .map_err(|e| temp::cannot_write(file.display().to_string(), &e, temp::OUTPUT_HELP))
}

/// As in clang's JSON.
fn quoted(word: &str) -> String {
    format!("\"{}\"", escaped(word))
}
