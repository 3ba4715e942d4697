//! Writes `flick_abi.h`, `flick_note.h`, `flick_dtu.h` and `flick/card.h` into the directory that the
//! argument names. A file whose content is right is left alone, so that `make` sees no change.
use std::path::Path;

use flick_abi::card::c_header;
use flick_abi::dtu_header::dtu_header;
use flick_abi::header::{abi_header, note_header};

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).expect("usage: c-headers DIR");
    std::fs::create_dir_all(Path::new(&dir).join("flick"))?;
    let [mut abi, mut note, mut dtu, mut card] = [const { String::new() }; 4];
    abi_header(&mut abi).expect("writing to a String cannot fail");
    note_header(&mut note).expect("writing to a String cannot fail");
    dtu_header(&mut dtu).expect("writing to a String cannot fail");
    c_header(&mut card).expect("writing to a String cannot fail");
    for (name, text) in [
        ("flick_abi.h", abi),
        ("flick_note.h", note),
        ("flick_dtu.h", dtu),
        ("flick/card.h", card),
    ] {
        let path = Path::new(&dir).join(name);
        if std::fs::read_to_string(&path).is_ok_and(|now| now == text) {
            continue;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
