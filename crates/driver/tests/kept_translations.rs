//! Links that keep translations give the same bytes as links that do not.
#[allow(dead_code)]
mod common;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Bench, fixture};
use flick_support::output::{quiet, stderr};

const UNITS: usize = 3;

/// Knuth's MMIX generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// The NxP half of a unit: functions that call, read and jump in each way that a compiler knows.
fn source(unit: usize, random: &mut Random) -> String {
    let mut text =
        String::from("extern int host_variable;\n#define OWN __attribute__((noinline)) static\n");
    for other in 0..UNITS {
        let _ = writeln!(text, "int __flick_nxp_f{other}(int *, int);");
    }
    // Variables have their home on the host.
    let _ = writeln!(
        text,
        "extern int counts{unit}[]; extern double scale{unit};"
    );
    let _ = writeln!(
        text,
        "static const int table[] = {{{}, 2, 3, 4}};",
        random.below(9)
    );
    let functions = 6 + random.below(4);
    for n in 0..functions {
        let _ = writeln!(text, "OWN int g{n}(int *v, int n) {{");
        for _ in 0..1 + random.below(4) {
            let k = random.below(4000);
            let _ = match random.below(7) {
                0 => writeln!(text, "  counts{unit}[n & 7] += {k};"),
                1 => writeln!(text, "  if (n > {k}) scale{unit} *= n;"),
                2 => writeln!(text, "  n ^= table[n & 3] + host_variable;"),
                3 => writeln!(text, "  n += v[{}];", k % 64),
                4 => writeln!(
                    text,
                    "  switch (n) {{ case 0: n = v[1]; break; case 1: n += {k}; break; case 2: v[2] = n; break; \
                     case 3: counts{unit}[1]++; break; case 4: return n; case 5: n *= 3; break; }}"
                ),
                5 => writeln!(text, "  n += (int)(scale{unit} * {k});"),
                _ => writeln!(
                    text,
                    "  for (int i = 0; i < n; i++) v[i & 15] += counts{unit}[i & 7];"
                ),
            };
        }
        if n > 0 {
            let _ = writeln!(text, "  n += g{}(v, n - 1);", random.below(n));
        }
        if n % 3 == 2 {
            let _ = writeln!(
                text,
                "  n += __flick_nxp_f{}(v, n & 1);",
                random.below(UNITS as u64)
            );
        }
        text.push_str("  return n;\n}\n");
    }
    let _ = writeln!(text, "static int (*const all[])(int *, int) = {{");
    for n in 0..functions {
        let _ = writeln!(text, "  g{n},");
    }
    let _ = writeln!(
        text,
        "}};\n__attribute__((visibility(\"hidden\"))) int __flick_nxp_f{unit}(int *v, int n) {{\n  \
         return n <= 0 ? g0(v, n) : all[n % {functions}](v, n);\n}}"
    );
    text
}

struct Project {
    bench: Bench,
}

impl Project {
    fn new(random: &mut Random, flags: &[&str]) -> Self {
        let bench = Bench::new();
        let defines = ["-fPIE", "-DCALL=f0"];
        bench.host("main", &fixture("kept.c"), &defines);
        let project = Self { bench };
        for unit in 0..UNITS {
            project.change(unit, random, flags);
        }
        project
    }

    /// Gives a unit other code.
    fn change(&self, unit: usize, random: &mut Random, flags: &[&str]) {
        let (text, object) = (self.bench.path("unit.c"), self.bench.path("unit.o"));
        fs::write(&text, source(unit, random)).unwrap();
        quiet(
            Command::new("clang-19")
                .args(["--target=riscv64-unknown-linux-gnu", "-mabi=lp64d", "-fPIC"])
                .arg(format!("-march={}", flick_abi::NXP_MARCH))
                .args(flags)
                .args(["-c", "-o"])
                .args([&object, &text]),
        );
        let payload = fs::read(object).unwrap();
        let function = format!("f{unit}");
        self.bench.fat(&function, &function, &payload, &[]);
    }

    /// Links to `prog`; how many translations there are, and how many of them were kept.
    fn link(&self, cache: &str) -> (Vec<u8>, usize, usize) {
        let units: String = (0..UNITS).map(|unit| format!("f{unit}.o ")).collect();
        let args = format!(
            "main.o {units} -pie -o prog --flick-verbose --flick-translation-cache={cache}"
        );
        let output = self.bench.cc(&args);
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        let said = text.lines().find_map(|line| {
            let (all, rest) = line
                .strip_prefix("flick: of ")?
                .split_once(" translations ")?;
            let kept = rest.split_once(" were kept")?.0;
            Some((all.parse().unwrap(), kept.parse().unwrap()))
        });
        let (all, kept) = said.unwrap_or_default();
        (fs::read(self.bench.path("prog")).unwrap(), all, kept)
    }
}

#[test]
fn random_changes() {
    for (flags, seed) in [(&["-O2"][..], 1), (&["-O1", "-g"], 2), (&["-O0"], 3)] {
        let random = &mut Random(seed);
        let project = Project::new(random, flags);
        let (first, all, kept) = project.link("cache");
        assert!(all > UNITS && kept == 0, "{kept} of {all}");
        assert_eq!(project.link("off"), (first.clone(), 0, 0));
        assert_eq!(project.link("cache"), (first, all, all));
        let mut used = 0;
        for _ in 0..6 {
            let unit = random.below(UNITS as u64) as usize;
            project.change(unit, random, flags);
            let (program, _, kept) = project.link("cache");
            used += kept;
            assert!(
                program == project.link("off").0,
                "{flags:?} after a change of {unit}"
            );
        }
        // Of three units two stay.
        assert!(used > 6 * UNITS, "{used}");
    }
}

/// The files of a cache, unfinished ones too.
fn translations(cache: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(cache).unwrap().map(|file| file.unwrap());
    let kept = files.filter(|file| file.file_name() != ".written");
    kept.map(|file| file.path()).collect()
}

#[test]
fn a_cache_of_no_use() {
    let random = &mut Random(4);
    let project = Project::new(random, &["-O2"]);
    let (clean, ..) = project.link("off");
    assert!(!project.bench.path("cache").exists());
    let (_, all, _) = project.link("cache");
    let cache = project.bench.path("cache");
    let [file] = &translations(&cache)[..] else {
        panic!("not one file");
    };
    let bytes = fs::read(file).unwrap();
    for at in [0, 9, 30, 60, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs::write(file, damaged).unwrap();
        assert_eq!(project.link("cache"), (clean.clone(), all, 0));
        // It has been written anew.
        assert_eq!(project.link("cache"), (clean.clone(), all, all));
    }
    fs::write(file, "of somebody else").unwrap();
    assert_eq!(project.link("cache"), (clean.clone(), all, 0));
    // Nothing can be written: in a file's place, and without permission (which root does not need).
    fs::write(project.bench.path("file"), "").unwrap();
    assert_eq!(project.link("file"), (clean.clone(), all, 0));
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(project.link("cache").0, clean);
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn two_links_at_once() {
    let random = &mut Random(5);
    let project = Project::new(random, &["-O2"]);
    let (clean, ..) = project.link("off");
    let command = |name: &str| {
        format!("main.o f0.o f1.o f2.o -pie -o {name} --flick-translation-cache=cache")
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // The same output, and so the same file; the linker's own output may be either's.
                for _ in 0..3 {
                    let output = project.bench.cc(&command("/dev/null"));
                    assert!(output.status.success(), "{}", stderr(&output));
                }
            });
        }
    });
    let (program, all, kept) = project.link("cache");
    assert!(program == clean && kept == 0 && all > 0);
    let files = translations(&project.bench.path("cache"));
    assert_eq!(files.len(), 2, "{files:?}");
}
