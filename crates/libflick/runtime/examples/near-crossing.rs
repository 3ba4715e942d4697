//! Writes `flick_near.h`, with the copy of the crossing for `flickcrt.o`, into the directory that the
//! argument names. A file whose content is right is left alone, so that `make` sees no change.
use std::path::Path;

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os()
        .nth(1)
        .expect("usage: near-crossing DIR");
    let path = Path::new(&dir).join("flick_near.h");
    let header = flick_runtime::near_crossing_header();
    if std::fs::read_to_string(&path).is_ok_and(|now| now == header) {
        return Ok(());
    }
    std::fs::write(path, header)
}
