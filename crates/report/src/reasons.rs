//! Why functions ran where they ran: what the run's summary says together with what the compiler
//! left in the program and its libraries (section `.flick.place`).
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use flick_events::{Calls, Summary};
use flick_image::elf_kind::parse_host;
use flick_image::place_lines::{Placed, Reason, entries};
use flick_image::{FinalFile, Placements, needed};
use flick_names::Demangle;

/// Functions that a list shows before it refers to `flick place --explain`.
const LONGEST_LIST: usize = 30;

/// What is known of the program's files.
#[derive(Debug, Default)]
pub struct Reasons {
    /// By (file name of the module, symbol).
    placed: BTreeMap<(String, String), Placed>,
    /// File names of modules that have placement lines.
    modules: BTreeSet<String>,
    matched: BTreeSet<String>,
    /// The first file that has placement lines.
    example: Option<PathBuf>,
}

impl Reasons {
    /// Reads `files`. One that is no ELF file, or is gone, says nothing.
    pub fn of(files: &[String]) -> Self {
        let mut all = Self::default();
        for file in files {
            let path = Path::new(file);
            let Ok(data) = fs::read(path) else { continue };
            let Ok(host) = parse_host(&data) else {
                continue;
            };
            let Ok(found) = Placements::of_file(&host) else {
                continue;
            };
            let module = path
                .file_name()
                .map_or(String::new(), |name| name.to_string_lossy().into_owned());
            if !found.functions.is_empty() || !found.matched.is_empty() {
                all.example.get_or_insert_with(|| path.to_owned());
            }
            all.take(module, found);
        }
        all
    }

    /// All functions that the compiler says something of.
    pub fn functions(&self) -> impl Iterator<Item = &Placed> {
        self.placed.values()
    }

    fn take(&mut self, module: String, found: Placements) {
        if found.functions.is_empty() && found.matched.is_empty() {
            return;
        }
        for function in found.functions {
            let name = flick_names::plain(&function.function).to_owned();
            // Several units say the same of an inline function; where it could be placed counts.
            let key = (module.clone(), name);
            match self.placed.get(&key) {
                Some(known) if known.placement != "host" => {}
                _ => {
                    self.placed.insert(key, function);
                }
            }
        }
        self.matched.extend(found.matched);
        self.modules.insert(module);
    }

    /// Why NxP code found `target` on the host.
    pub fn why_host(&self, target: &Calls) -> Option<String> {
        if target.module.is_empty() {
            return None;
        }
        let key = (target.module.clone(), target.function.clone());
        Some(match self.placed.get(&key) {
            Some(placed) if placed.placement == "host" => why(placed),
            // Reached by a name or pointer that is the host copy's in another module.
            Some(placed) if placed.placement == "both" => {
                format!("its host copy was called ({})", why(placed))
            }
            Some(placed) => why(placed),
            None if self.modules.contains(&target.module) => {
                "nobody placed it, or its unit was compiled without flick".into()
            }
            None => "its file was built without flick, or places nothing".into(),
        })
    }

    /// Text on the functions that somebody wanted on the NxP and that have no counted call there;
    /// empty, or lines that end in a newline.
    pub fn without_calls(&self, summary: &Summary, demangle: Demangle) -> String {
        let counted: BTreeSet<(&str, &str)> = summary
            .host_to_nxp
            .iter()
            .chain(summary.on_host.iter().map(|(_, calls)| calls))
            .map(|calls| (calls.module.as_str(), calls.function.as_str()))
            .collect();
        let mut rows: Vec<(u8, &str, String)> = Vec::new();
        for ((module, function), placed) in &self.placed {
            if counted.contains(&(module.as_str(), function.as_str())) {
                continue;
            }
            rows.push(match (placed.placement.as_str(), &placed.reason) {
                ("host", Reason::Refused(_)) => (0, function, format!("on host: {}", why(placed))),
                // It was wanted there.
                ("host", _) => continue,
                ("both", _) => (
                    2,
                    function,
                    format!(
                        "on both sides: host calls run the host copy, NxP calls the NxP's ({})",
                        why(placed)
                    ),
                ),
                _ => (
                    1,
                    function,
                    "on nxp: never called from the host (calls inside the NxP are not counted)"
                        .into(),
                ),
            });
        }
        rows.sort();
        let mut text = String::new();
        if !rows.is_empty() {
            let _ = writeln!(text, " placed or refused, without a counted call:");
            let shown = rows.len().min(LONGEST_LIST);
            let names: Vec<_> = rows[..shown]
                .iter()
                .map(|(_, function, _)| demangle.apply(function))
                .collect();
            let width = names.iter().map(|name| name.chars().count()).max();
            let width = width.unwrap_or(0).min(60);
            for (name, (_, _, why)) in names.iter().zip(&rows) {
                let _ = writeln!(text, "   {name:<width$}  {why}");
            }
            if shown < rows.len() {
                let program = self.example.as_deref().unwrap_or(Path::new("PROGRAM"));
                let _ = writeln!(
                    text,
                    "   and {} more: flick place --explain {}",
                    rows.len() - shown,
                    program.display()
                );
            }
            text.push('\n');
        }
        let unmatched = self.unmatched();
        if !unmatched.is_empty() {
            text.push_str(" placement entries that matched no function here:\n");
            for entry in unmatched {
                let _ = writeln!(text, "   {entry}");
            }
            text.push('\n');
        }
        text
    }

    /// Entries of the placement files that these modules were compiled with, as far as the files
    /// are still there, that matched nothing: `FILE:LINE: ENTRY`.
    fn unmatched(&self) -> Vec<String> {
        let files: BTreeSet<&str> = self
            .matched
            .iter()
            .filter_map(|entry| Some(entry.rsplit_once(':')?.0))
            .collect();
        let mut unmatched = Vec::new();
        for file in files {
            let Ok(text) = fs::read(file) else { continue };
            for (line, entry) in entries(&String::from_utf8_lossy(&text)) {
                let place = format!("{file}:{line}");
                if !self.matched.contains(&place) {
                    unmatched.push(format!("{place}: {entry}"));
                }
            }
        }
        unmatched
    }
}

/// The compiler's reason, with the place in the source.
fn why(placed: &Placed) -> String {
    let mut text = placed.why();
    if !placed.file.is_empty() {
        let _ = match placed.line {
            0 => write!(text, " ({})", placed.file),
            line => write!(text, " ({}:{line})", placed.file),
        };
    }
    text
}

/// Why a program that was run left no record, from its file.
pub fn no_record(program: &Path) -> (String, Reasons) {
    use std::os::unix::fs::PermissionsExt;
    let known = Reasons::of(&[program.display().to_string()]);
    let why = match fs::read(program) {
        Err(error) => format!("its file cannot be read ({error})"),
        Ok(data) if parse_host(&data).is_err() => {
            "it is no x86-64 program, but a script perhaps; what it started left no record either"
                .into()
        }
        Ok(data) => {
            let mode = fs::metadata(program).map_or(0, |file| file.permissions().mode());
            if mode & (libc::S_ISUID | libc::S_ISGID) != 0 {
                "it is set-uid or set-gid, and Flick ignores its environment variables there".into()
            } else if FinalFile::parse(&data).is_ok()
                || !needed::with_placements(program).is_empty()
            {
                "it left by _exit, or replaced itself by exec".into()
            } else if known.modules.is_empty() {
                "it has no NxP code: it was built without flick, or nobody placed a function".into()
            } else {
                "it has no NxP code: every function that was chosen was refused".into()
            }
        }
    };
    (why, known)
}

/// The file that running `name` starts, as a shell finds it.
pub fn executable(name: &Path) -> PathBuf {
    if name.components().count() > 1 || name.is_absolute() {
        return name.to_owned();
    }
    std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_events::Cause;

    fn reasons(lines: &str) -> Reasons {
        let mut all = Reasons::default();
        all.take("prog".into(), Placements::parse(lines.as_bytes()).unwrap());
        all
    }

    fn calls(function: &str, module: &str) -> Calls {
        Calls {
            function: function.into(),
            module: module.into(),
            count: 1,
        }
    }

    const LINES: &str = "v1\ta.c\tran\tnxp\tmark\t\ta.c\t1\n\
        v1\ta.c\tidle\tnxp\tglob:p.txt:1\t\ta.c\t2\n\
        v1\ta.c\tbad\thost\trefused:FLK0202\tinline assembly\ta.c\t3\n\
        v1\ta.c\t_Z5smalli\tboth\tinline\t\ta.h\t4\n\
        v1\ta.c\tkept\thost\tmark\t\ta.c\t5\n\
        v1\ta.c\toff.flick.01234567\tnxp\tmark\t\ta.c\t6\n";

    #[test]
    fn functions_without_calls() {
        let summary = Summary {
            host_to_nxp: vec![calls("ran", "prog")],
            on_host: vec![(Cause::Off, calls("off", "prog"))],
            ..Summary::default()
        };
        let text = reasons(LINES).without_calls(&summary, Demangle::Yes);
        assert_eq!(
            text,
            " placed or refused, without a counted call:
   bad         on host: cannot be placed [FLK0202]: inline assembly (a.c:3)
   idle        on nxp: never called from the host (calls inside the NxP are not counted)
   small(int)  on both sides: host calls run the host copy, NxP calls the NxP's (inline, and NxP code calls it (a.h:4))

"
        );
    }

    #[test]
    fn host_targets() {
        let known = reasons(LINES);
        for (function, module, want) in [
            (
                "bad",
                "prog",
                "cannot be placed [FLK0202]: inline assembly (a.c:3)",
            ),
            ("kept", "prog", "marked in the source (a.c:5)"),
            (
                "other",
                "prog",
                "nobody placed it, or its unit was compiled without flick",
            ),
            (
                "puts",
                "libc.so.6",
                "its file was built without flick, or places nothing",
            ),
        ] {
            assert_eq!(known.why_host(&calls(function, module)).unwrap(), want);
        }
        assert_eq!(known.why_host(&calls("0x1234", "")), None);
    }

    #[test]
    fn a_placed_copy_wins_over_a_refused_one() {
        let known = reasons(
            "v1\ta.cc\tf\tnxp\tmark\t\th.h\t1\nv1\tb.cc\tf\thost\trefused:FLK0204\tx\th.h\t1\n",
        );
        let text = known.without_calls(&Summary::default(), Demangle::Yes);
        assert!(text.contains("f  on nxp"), "{text}");
    }

    #[test]
    fn entries_without_a_match() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p.txt");
        fs::write(&file, "nxp a*\nnxp typo\n").unwrap();
        let file = file.display();
        let known = reasons(&format!(
            "v1\ta.c\ta1\tnxp\tglob:{file}:1\t\ta.c\t1\nv1\ta.c\t-\tmatch\t{file}:1\n"
        ));
        let text = known.without_calls(&Summary::default(), Demangle::Yes);
        assert!(text.contains(&format!("{file}:2: nxp typo\n")), "{text}");
        assert!(!text.contains(&format!("{file}:1:")), "{text}");
    }

    #[test]
    fn why_there_is_no_record() {
        let (why, _) = no_record(&executable(Path::new("true")));
        assert!(why.contains("built without flick"), "{why}");
        let (why, _) = no_record(Path::new("/no/such/file"));
        assert!(why.contains("cannot be read"), "{why}");
    }
}
