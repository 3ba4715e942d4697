//! The folder of a failure: the sources, the placement file, a script that shows the difference,
//! and the report.
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::drawn_placement;
use crate::source::{Compilers, Source};
use crate::workshop::{Case, FLICK, PLAIN, Workshop};
use flick_exec::quote;
use flick_image::output;

/// Writes the folder `DIR/NAME` and returns its path. An error names it.
pub fn keep(
    dir: &Path,
    name: &str,
    case: &Case,
    workshop: &Workshop,
    report: &str,
) -> io::Result<PathBuf> {
    let folder = dir.join(name);
    fill(&folder, case, workshop, report)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

fn fill(folder: &Path, case: &Case, workshop: &Workshop, report: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for file in case.source.files() {
        output::write(&folder.join(file.name), file.text.as_bytes())?;
    }
    if let Some(text) = case.placement.file() {
        output::write(&folder.join(drawn_placement::FILE), text.as_bytes())?;
    }
    output::write(&folder.join("report.txt"), report.as_bytes())?;
    let script = folder.join("repeat.sh");
    let text = repeat(case, workshop, &folder.canonicalize()?);
    output::write(&script, text.as_bytes())?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
}

/// A script that builds both ways and compares. Flick is found in `PATH`.
fn repeat(case: &Case, workshop: &Workshop, folder: &Path) -> String {
    let flick = Compilers {
        c: "flick-cc".into(),
        cxx: "flick-c++".into(),
        words: Vec::new(),
    };
    // A user's program is built where the user was.
    let (cd, dir) = match &case.source {
        Source::User(user) => (
            quote(&user.dir.display().to_string()),
            format!("{}/", folder.display()),
        ),
        _ => ("\"$(dirname \"$0\")\"".into(), String::new()),
    };
    let mut text = format!(
        "#!/bin/sh\n# Both builds of this program; they must do the same.\ncd {cd} || exit 2\n"
    );
    text += &format!(
        "mkdir -p {} {}\n",
        quote(&format!("{dir}{PLAIN}")),
        quote(&format!("{dir}{FLICK}"))
    );
    let mut add = |compilers: &Compilers, place, side| {
        for words in case
            .source
            .commands(compilers, &case.options, place, &dir, side)
        {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            text += &words.join(" ");
            text += " || exit 2\n";
        }
    };
    add(&workshop.plain, None, PLAIN);
    add(&flick, Some(&case.placement), FLICK);
    let mut environment = case.manner.words();
    if case.manner.counted {
        let record = folder.join("record");
        environment += &format!(" FLICK_STATS={}", quote(&record.display().to_string()));
    }
    let mut arguments = String::new();
    if let Source::User(user) = &case.source {
        for word in &user.arguments {
            arguments += " ";
            arguments += &quote(word);
        }
        if let Some(stdin) = &user.stdin {
            arguments += &format!(" <{}", quote(&stdin.display().to_string()));
        }
    }
    let at = |file: &str| quote(&format!("{dir}{file}"));
    text += &format!(
        "{}{arguments} >{}; plain=$?\n{environment} {}{arguments} >{}; flick=$?\n\
         echo \"plain: $plain, flick: $flick\"\ncmp {} {} && [ $plain = $flick ]\n",
        at("plain/prog"),
        at("plain.out"),
        at("flick/prog"),
        at("flick.out"),
        at("plain.out"),
        at("flick.out")
    );
    text
}
