//! The x86-64 code that the translator makes of small functions, as text.
//!
//! Each file of RV64 assembly in `functions/` has its listing beside it: under each instruction
//! what was made of it, as `flick objdump --translated` shows it. A change of the translator shows
//! here what it does to the code. `FLICK_BLESS=1 cargo test -p flick-translator --test golden`
//! writes the listings anew.
mod guest;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flick_translator::{Line, Listing, Part};
use guest::Guest;

/// The file whose listing says where the guest's registers are, too.
const WITH_STATES: &str = "faults";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/functions")
}

fn listing(file: &Path) -> String {
    let guest = Guest::build(file);
    let mut text = String::new();
    for (name, entry) in guest.entries() {
        writeln!(text, "{name}:").unwrap();
        let Some(listing) = Listing::of(&guest, entry) else {
            writeln!(text, "no translation\n").unwrap();
            continue;
        };
        let states = if file.file_stem().is_some_and(|stem| stem == WITH_STATES) {
            listing.states()
        } else {
            BTreeMap::new()
        };
        let lines = listing.lines(&|address| guest.name(address));
        let (code, data): (Vec<Line>, Vec<Line>) = lines
            .into_iter()
            .partition(|line| matches!(line.part, Part::Body | Part::Cold));
        let mut of: BTreeMap<u64, Vec<Line>> = BTreeMap::new();
        for line in code {
            of.entry(line.guest).or_default().push(line);
        }
        for (at, instruction) in guest.instructions_around(entry) {
            writeln!(text, "{at:>8x}:\t{instruction}").unwrap();
            for line in of.remove(&at).unwrap_or_default() {
                write!(text, "{line}").unwrap();
                if let Some(state) = states.get(&line.offset).filter(|state| !state.is_empty()) {
                    writeln!(text, "{:>22}\tstate: {state}", "").unwrap();
                }
            }
        }
        assert_eq!(of, BTreeMap::new(), "{name}: code of no instruction");
        for line in data {
            write!(text, "{line}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// The first line in which two texts differ, of both.
fn difference(want: &str, have: &str) -> String {
    let (mut want, mut have) = (want.lines(), have.lines());
    let mut function = "";
    for n in 1.. {
        let (left, right) = (want.next(), have.next());
        if left == right && left.is_some() {
            function = left.filter(|line| line.ends_with(':')).unwrap_or(function);
            continue;
        }
        let (left, right) = (left.unwrap_or("(end)"), right.unwrap_or("(end)"));
        return format!("line {n}, in {function}\n-{left}\n+{right}");
    }
    unreachable!("texts end")
}

#[test]
fn code_is_as_it_was() {
    let bless = env::var_os("FLICK_BLESS").is_some_and(|value| value == "1");
    let mut sources: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "s"))
        .collect();
    sources.sort();
    assert!(!sources.is_empty());
    let mut different = vec![];
    for source in sources {
        let golden = source.with_extension("golden");
        let have = listing(&source);
        if bless {
            fs::write(&golden, have).unwrap();
            continue;
        }
        let want = fs::read_to_string(&golden).unwrap_or_default();
        if want != have {
            let name = golden.file_name().unwrap().display();
            different.push(format!("{name}: {}", difference(&want, &have)));
        }
    }
    assert!(
        different.is_empty(),
        "the translator makes other code now. If that is meant:\n  FLICK_BLESS=1 cargo test -p \
         flick-engine --test golden\nand look at the difference.\n{}",
        different.join("\n")
    );
}

#[test]
fn differences_are_found() {
    let text = "f:\n 1\n 2\n\ng:\n 3\n";
    assert_eq!(
        difference(text, &text.replace('3', "4")),
        "line 6, in g:\n- 3\n+ 4"
    );
    assert_eq!(difference(text, "f:\n 1\n"), "line 3, in f:\n- 2\n+(end)");
}
