//! Platform files that include others.
use std::path::{Path, PathBuf};

use super::{Platform, Region, figures};

/// A folder of files that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let name = format!("flick-included-{test}-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        for (name, text) in files {
            let path = folder.0.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn load(&self, name: &str) -> Result<Platform, super::Error> {
        Platform::load(&self.path(name))
    }

    /// The message with its help, and its line. The file is that of `place`.
    fn wrong(&self, name: &str, place: &str) -> (usize, String) {
        let error = self.load(name).expect_err(name);
        assert_eq!(
            Path::new(&error.file).file_name(),
            Path::new(place).file_name()
        );
        assert!(!error.help.is_empty());
        (error.line, format!("{error}; {}", error.help))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const HEAD: &str = "name = \"mine\"\ndescription = \"of a test\"\n";

#[test]
fn own_keys_win_over_included_ones() {
    let own = format!(
        "{HEAD}include = [\"near-memory\", \"parts/host.toml\"]\n\
        [nxp]\nclock = \"2 GHz\"\n[nxp.memory.nxp]\nload = \"20 ns\"\n"
    );
    let host = "[host]\nclock = \"4 GHz\"\n[host.cycles]\nmul = 7\n\
        [[host.cache]]\nsize = \"48 KiB\"\nways = 12\nholds = [\"nxp\"]\n[nxp]\nclock = \"9 GHz\"\n";
    let folder = Folder::new("win", &[("mine.toml", &own), ("parts/host.toml", host)]);
    let (mine, base) = (
        folder.load("mine.toml").unwrap(),
        Platform::load("near-memory").unwrap(),
    );
    assert_eq!((mine.name.as_str(), mine.host.cycle), ("mine", 250_000.0));
    assert_eq!((mine.nxp.cycle, base.nxp.cycle), (5e5, 1e6));
    assert_eq!(mine.host.costs[1], 1_750_000);
    // A list replaces a list, and what nobody replaces stays.
    assert_eq!((mine.host.caches.len(), base.host.caches.len()), (1, 3));
    let nxp = Region::Nxp as usize;
    assert_eq!(mine.nxp.memory[nxp].load, 20_000_000);
    assert_eq!(mine.nxp.memory[nxp].byte, base.nxp.memory[nxp].byte);
    assert_eq!(mine.crossing, base.crossing);
    // Settings win over all.
    let set = Platform::load(&(folder.path("mine.toml") + ",nxp.clock=3 GHz")).unwrap();
    assert!((set.nxp.cycle - 1e6 / 3.0).abs() < 1e-6);
}

/// Messages speak of the file and line in which a value is.
#[test]
fn messages_name_the_included_file() {
    let own = format!("{HEAD}include = \"near-memory\"\n[nxp]\nclok = 1\n");
    let outer = format!("{HEAD}include = [\"bad.toml\"]\n");
    let folder = Folder::new(
        "place",
        &[
            ("own.toml", &own),
            ("outer.toml", &outer),
            (
                "bad.toml",
                "include = [\"near-memory\"]\n\n[host]\nclock = 3\n",
            ),
            ("broken.toml", "include = [\"syntax.toml\"]\n"),
            ("syntax.toml", "a = 1\n\n[b\n"),
            ("number.toml", "# one\ninclude = [3]\n"),
        ],
    );
    let (line, text) = folder.wrong("own.toml", "own.toml");
    assert!(
        line == 5 && text.contains("`nxp.clok` is not known"),
        "{line} {text}"
    );
    let (line, text) = folder.wrong("outer.toml", "bad.toml");
    assert!(
        line == 4 && text.contains("`host.clock`: 3 has no unit"),
        "{line} {text}"
    );
    let (line, text) = folder.wrong("broken.toml", "syntax.toml");
    assert!(line == 3 && text.contains("not TOML"), "{line} {text}");
    let (line, text) = folder.wrong("number.toml", "number.toml");
    assert!(
        line == 2 && text.contains("it is no list of names"),
        "{line} {text}"
    );
}

/// What a file and all that it includes lack is said in one go; a name is nothing to inherit.
#[test]
fn all_missing_keys_of_all_files_are_named() {
    let folder = Folder::new(
        "missing",
        &[
            (
                "a.toml",
                "include = [\"b.toml\"]\n[host]\nclock = \"1 GHz\"\n",
            ),
            ("b.toml", "name = \"b\"\n[nxp]\nclock = \"1 GHz\"\n"),
            ("c.toml", "include = [\"near-memory\"]\n"),
        ],
    );
    let (_, text) = folder.wrong("a.toml", "a.toml");
    for part in [
        "\n  name, description:",
        "[nxp] isa",
        "[host.cycles] int, mul",
        "[crossing]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("clock"), "{text}");
    let (_, text) = folder.wrong("c.toml", "c.toml");
    assert!(text.contains("2 required keys are missing"), "{text}");
}

#[test]
fn cycles_depth_and_number_have_ends() {
    let mut files = vec![
        (
            "self.toml".to_owned(),
            "include = [\"./self.toml\"]\n".to_owned(),
        ),
        ("a.toml".into(), "\ninclude = [\"sub/b.toml\"]\n".into()),
        ("sub/b.toml".into(), "include = [\"../a.toml\"]\n".into()),
        (
            "gone.toml".into(),
            "include = [\"not-there.toml\"]\n".into(),
        ),
        ("unknown.toml".into(), "include = [\"near-memry\"]\n".into()),
        // Twice the same by two ways is no cycle.
        (
            "twice.toml".into(),
            format!("{HEAD}include = [\"near-memory\", \"two.toml\"]\n"),
        ),
        ("two.toml".into(), "include = [\"near-memory\"]\n".into()),
    ];
    for number in 0..20 {
        let (deep, wide) = (format!("deep{number}.toml"), format!("wide{number}.toml"));
        files.push((deep, format!("include = [\"deep{}.toml\"]\n", number + 1)));
        let next = format!("\"wide{}.toml\"", number + 1);
        let next = if number < 10 {
            format!("include = [{next}, {next}]\n")
        } else {
            String::new()
        };
        files.push((wide, next));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let folder = Folder::new("cycle", &files);
    let (line, text) = folder.wrong("self.toml", "self.toml");
    assert!(line == 1 && text.contains("includes itself"), "{text}");
    let (line, text) = folder.wrong("a.toml", "b.toml");
    assert!(line == 1 && text.contains("includes itself"), "{text}");
    assert!(text.contains("take it out of one of these files"), "{text}");
    let (_, text) = folder.wrong("deep0.toml", "deep15.toml");
    assert!(text.contains("more than 16 deep"), "{text}");
    let (_, text) = folder.wrong("wide0.toml", "wide9.toml");
    assert!(text.contains("more than 64 files"), "{text}");
    let (_, text) = folder.wrong("gone.toml", "gone.toml");
    assert!(
        text.contains("not-there.toml") && text.contains("cannot be read"),
        "{text}"
    );
    let (_, text) = folder.wrong("unknown.toml", "unknown.toml");
    assert!(text.contains("'near-memory'"), "{text}");
    assert_eq!(folder.load("twice.toml").unwrap().nxp_cores, 4);
}

#[test]
fn figures_have_their_places_and_remarks() {
    let own = format!("{HEAD}include = [\"near-memory\"]\n[nxp]\ncores = 8 # measured\n");
    let folder = Folder::new("figures", &[("mine.toml", &own)]);
    let path = folder.path("mine.toml");
    let all = figures(&(path.clone() + ",host.clock=1 GHz")).unwrap();
    let of = |key: &str| all.iter().find(|figure| figure.key == key).unwrap();
    let cores = of("nxp.cores");
    assert_eq!(
        (cores.value.as_str(), cores.remark.as_str()),
        ("8", "measured")
    );
    assert_eq!(cores.place, format!("{path}:5"));
    assert_eq!(
        (
            of("host.clock").value.as_str(),
            of("host.clock").place.as_str()
        ),
        ("1 GHz", "--set host.clock=1 GHz")
    );
    let cache = of("host.cache.1.size");
    assert!(cache.value == "\"1 MiB\"" && cache.place.starts_with("near-memory:"));
    assert!(of("host.tlb.entries").remark.contains("12 ways"));
    assert_eq!(of("name").value, "\"mine\"");
    assert!(!all.iter().any(|figure| figure.key == "include"));
}

/// Any text for a file and for one that it includes is read or refused, with a remedy.
#[test]
fn damaged_pairs_of_files_are_errors() {
    let base = "[host]\nclock = \"2 GHz\"\n[[host.cache]]\nsize = \"1 KiB\"\nways = 1\nholds = [\"nxp\"]\n";
    let own = format!("{HEAD}include = [\"near-memory\", \"base.toml\"]\n[host]\noverlap = 3\n");
    let folder = Folder::new("damaged", &[]);
    std::fs::create_dir_all(&folder.0).unwrap();
    let damaged =
        |text: &str, at: usize, with: &str| format!("{}{with}{}", &text[..at], &text[at..]);
    let mut refused = 0;
    for with in [
        "\"",
        "[",
        "]",
        "=",
        "\n[[host]]\n",
        "\ninclude = 1\n",
        "µ",
        "host = 1\n",
    ] {
        for (name, text) in [("base.toml", base), ("own.toml", own.as_str())] {
            for at in (0..text.len()).step_by(11) {
                std::fs::write(folder.0.join("base.toml"), base).unwrap();
                std::fs::write(folder.0.join("own.toml"), &own).unwrap();
                std::fs::write(folder.0.join(name), damaged(text, at, with)).unwrap();
                if let Err(error) = folder.load("own.toml") {
                    refused += 1;
                    assert!(
                        !error.what.is_empty() && !error.help.is_empty(),
                        "{error:?}"
                    );
                    assert!(error.line <= text.lines().count() + 70, "{error:?}");
                }
            }
        }
    }
    assert!(refused > 50, "{refused}");
}
