//! The inputs of Flick's that a compiler cache must see in preprocessed text: a placement file is
//! an input of the compile, and so is the pass. ccache and its like take the files from line
//! markers, or hash the text.
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use flick_image::elf_kind::read_file;
use flick_image::output;

use crate::Result;
use crate::args::{Args, Stop};
use crate::root::Root;
use crate::temp::{self, OUTPUT_HELP as HELP};

/// Line markers behind the text of `-E`, if there is a placement file. Without one the text is
/// clang's own. FLK0105.
pub fn add_markers(args: &Args, root: &Root) -> Result<()> {
    if args.stop != Some(Stop::Preprocess) || args.placement.is_empty() {
        return Ok(());
    }
    let text = markers(args, root)?;
    let to = match &args.output {
        Some(output) if output != "-" => Path::new(output),
        _ => return output::stdout(text.as_bytes()),
    };
    let append = || {
        let mut file = OpenOptions::new().append(true).open(to)?;
        file.write_all(text.as_bytes())
    };
    append().map_err(|e| {
        // As clang has it: no output after an error.
        if to.is_file() {
            let _ = fs::remove_file(to);
        }
        temp::cannot_write(to.display().to_string(), &e, HELP)
    })
}

fn markers(args: &Args, root: &Root) -> Result<String> {
    let mut hash = Xxh3::new();
    hash.update(&read_file(&root.require(root.pass())?)?);
    let mut text = String::new();
    for file in &args.placement.files {
        let data = read_file(&args.placement.replay.file(Path::new(file)))?;
        hash.update(&(data.len() as u64).to_le_bytes());
        hash.update(&data);
        text.push_str(&format!("# 1 \"{}\"\n", escaped(file)));
    }
    text.push_str(&format!("# 1 \"<flick {:016x}>\"\n", hash.digest()));
    Ok(text)
}

/// As clang writes names into line markers and JSON.
pub fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}
