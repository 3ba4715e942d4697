//! Writes `flick_abi.h` and `flick_note.h` into the directory that the argument names. A file whose
//! content is right is left alone, so that `make` sees no change.
use std::path::Path;

use flick_abi::header::{abi_header, note_header};

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).expect("usage: c-headers DIR");
    std::fs::create_dir_all(&dir)?;
    let (mut abi, mut note) = (String::new(), String::new());
    abi_header(&mut abi).expect("writing to a String cannot fail");
    note_header(&mut note).expect("writing to a String cannot fail");
    for (name, text) in [("flick_abi.h", abi), ("flick_note.h", note)] {
        let path = Path::new(&dir).join(name);
        if std::fs::read_to_string(&path).is_ok_and(|now| now == text) {
            continue;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
