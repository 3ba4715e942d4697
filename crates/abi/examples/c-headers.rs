//! Writes `flick_abi.h`, `flick_note.h`, `flick_dtu.h` and `flick/card.h` into the directory that the
//! argument names. A file whose content is right is left alone, so that `make` sees no change.
use std::path::Path;

use flick_abi::header::C_HEADERS;

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).expect("usage: c-headers DIR");
    std::fs::create_dir_all(Path::new(&dir).join("flick"))?;
    for (name, write) in C_HEADERS {
        let mut text = String::new();
        write(&mut text).expect("writing to a String cannot fail");
        let path = Path::new(&dir).join(name);
        if std::fs::read_to_string(&path).is_ok_and(|now| now == text) {
            continue;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
