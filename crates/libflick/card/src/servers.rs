//! Servers of files and pipes on the root's tile, which the machine starts with if `FLICK_CARD_FILES` says so: programs
//! of the card, as for `flick machine run`.
use std::path::Path;

use flick_abi::card::write_argument;
use flick_abi::settings::NO_FILES;
use flick_machine::Files;

/// What starts several programs (`firmware/servers`), and its name among the files of programs.
const STARTER: (&str, &str) = ("servers", "flick-servers");
const SERVERS: [&str; 2] = ["file-server", "pipe-server"];
/// The name of the first files there.
const CONTENTS: &str = "contents";

/// Adds the servers to what the machine starts with. They are beside the kernel. An error is for people.
pub fn add_to(files: &mut Files, kernel: &Path, contents: &str) -> Result<(), String> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut add = |name: &str, file: &Path| {
        let why = |error| format!("{} cannot be read: {error}", file.display());
        let bytes = std::fs::read(file).map_err(why)?;
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        let added = archive.append_data(&mut header, name, bytes.as_slice());
        added.map_err(why)
    };
    add(STARTER.1, &kernel.with_file_name(STARTER.0))?;
    for server in SERVERS {
        add(server, &kernel.with_file_name(server))?;
    }
    let [files_server, pipes_server] = SERVERS;
    let mut words = vec![STARTER.1, "1", files_server];
    if contents != NO_FILES {
        add(CONTENTS, Path::new(contents))?;
        words = vec![STARTER.1, "2", files_server, CONTENTS];
    }
    words.extend(["1", pipes_server]);
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        write_argument(word.as_bytes(), &mut line).map_err(|error| error.to_string())?;
    }
    files.initrd = Some(archive.into_inner().map_err(|error| error.to_string())?);
    files.append = Some(line);
    Ok(())
}
