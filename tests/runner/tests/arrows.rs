//! Arrows between the parts may only point down (docs/design.md): every dependency of a part, in
//! whatever section of its Cargo.toml, must be one that the order below allows.
use std::fs;
use std::path::{Path, PathBuf};

/// Each part and the parts that it may use, all of them below it in the table of docs/design.md.
/// driver, runtime and report are siblings: they meet in image and events only. The two forms of
/// libflick are shells over runtime. flick-debug, which runs beside them, makes what driver makes, and
/// flick-card has the machine.
const PARTS: [(&str, &[&str]); 32] = [
    (
        "flick-cli",
        &[
            "flick-bench",
            "flick-calibration",
            "flick-driver",
            "flick-report",
            "flick-sweep",
            "flick-torture",
            "flick-timing",
            "flick-machine-debugger",
            "flick-machine",
            "flick-device",
            "flick-image",
            "flick-events",
            "flick-abi",
            "flick-diagnostics",
            "flick-names",
        ],
    ),
    (
        "flick-bench",
        &[
            "flick-calibration",
            "flick-driver",
            "flick-image",
            "flick-events",
            "flick-abi",
            "flick-diagnostics",
            "flick-exec",
            "flick-timing",
        ],
    ),
    ("flick-calibration", &[]),
    (
        "flick-sweep",
        &[
            "flick-timing",
            "flick-image",
            "flick-events",
            "flick-diagnostics",
            "flick-names",
            "flick-exec",
        ],
    ),
    (
        "flick-torture",
        &[
            "flick-image",
            "flick-events",
            "flick-abi",
            "flick-diagnostics",
            "flick-exec",
        ],
    ),
    (
        "flick-shared",
        &["flick-runtime", "flick-events", "flick-abi", "flick-own"],
    ),
    (
        "flick-static",
        &["flick-runtime", "flick-events", "flick-abi", "flick-own"],
    ),
    (
        "flick-debug",
        &[
            "flick-driver",
            "flick-image",
            "flick-translator",
            "flick-engine",
            "flick-abi",
        ],
    ),
    (
        "flick-extensions",
        &[
            "flick-image",
            "flick-riscv",
            "flick-abi",
            "flick-diagnostics",
        ],
    ),
    (
        "flick-card",
        &[
            "flick-machine",
            "flick-device",
            "flick-timing",
            "flick-engine",
            "flick-riscv",
            "flick-abi",
        ],
    ),
    (
        "flick-driver",
        &[
            "flick-translator",
            "flick-riscv",
            "flick-image",
            "flick-abi",
            "flick-diagnostics",
            "flick-names",
        ],
    ),
    (
        "flick-runtime",
        &[
            "flick-sim",
            "flick-timing",
            "flick-translator",
            "flick-engine",
            "flick-riscv",
            "flick-events",
            "flick-abi",
            "flick-names",
            "flick-sync",
        ],
    ),
    (
        "flick-report",
        &[
            "flick-timing",
            "flick-image",
            "flick-events",
            "flick-abi",
            "flick-diagnostics",
            "flick-names",
            "flick-exec",
        ],
    ),
    (
        "flick-machine-debugger",
        &[
            "flick-machine",
            "flick-hart",
            "flick-engine",
            "flick-riscv",
            "flick-timing",
        ],
    ),
    (
        "flick-machine",
        &[
            "flick-abi",
            "flick-accelerator",
            "flick-device",
            "flick-engine",
            "flick-hart",
            "flick-sim",
            "flick-timing",
            "flick-events",
            "flick-riscv",
            "flick-riscv-testing",
        ],
    ),
    ("flick-device", &["flick-accelerator", "flick-abi"]),
    (
        "flick-hart",
        &[
            "flick-timing",
            "flick-translator",
            "flick-engine",
            "flick-riscv",
        ],
    ),
    ("flick-sim", &[]),
    (
        "flick-timing",
        &["flick-engine", "flick-riscv", "flick-abi", "flick-names"],
    ),
    (
        "flick-translator",
        &["flick-engine", "flick-riscv", "flick-riscv-testing"],
    ),
    ("flick-engine", &["flick-riscv", "flick-riscv-testing"]),
    // For tests alone.
    ("flick-riscv-testing", &["flick-abi", "flick-riscv"]),
    ("flick-riscv", &["flick-abi"]),
    (
        "flick-image",
        &["flick-abi", "flick-diagnostics", "flick-names"],
    ),
    ("flick-events", &["flick-abi", "flick-names"]),
    ("flick-abi", &["flick-diagnostics"]),
    // Users have it, too.
    ("flick-accelerator", &[]),
    ("flick-diagnostics", &[]),
    ("flick-names", &[]),
    ("flick-exec", &[]),
    ("flick-sync", &[]),
    ("flick-own", &[]),
];

/// The helpers of tests: the tests of every part may use them, and they use no part.
const SUPPORT: &str = "flick-support";

/// The parts from top to bottom, as docs/design.md has them under "Parts". Its row `libflick`
/// stands for the two forms of libflick, and for the runtime below them.
fn order() -> Vec<String> {
    let page = fs::read_to_string(here().join("../../docs/design.md")).unwrap();
    let (_, section) = page.split_once("\n## Parts\n").unwrap();
    let table = section.split("```").nth(1).unwrap();
    // An indented line continues a row.
    let rows = table.lines().filter(|line| !line.starts_with(' '));
    rows.filter_map(|row| row.split_whitespace().next())
        .flat_map(|name| match name {
            "libflick" => vec!["shared", "static", "runtime"],
            name => vec![name],
        })
        .map(|name| format!("flick-{name}"))
        .collect()
}

/// What is wrong with the parts in the folders of `dir`, one line each.
fn wrong_arrows(dir: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for folder in parts_in(dir) {
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap();
        let Some((_, allowed)) = PARTS.iter().find(|(part, _)| *part == name) else {
            wrong.push(format!("{name} has no place in the order of the parts"));
            continue;
        };
        let mut used = Vec::new();
        dependencies(&manifest, &mut used);
        for dependency in used {
            if dependency.starts_with("flick-") && !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{name} uses {dependency}"));
            }
        }
    }
    wrong
}

/// The folders of the parts in `dir`; a folder without a manifest has those of several.
fn parts_in(dir: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut parts: Vec<PathBuf> = folders
        .flat_map(|folder| match folder.join("Cargo.toml").exists() {
            true => vec![folder],
            false => parts_in(&folder),
        })
        .collect();
    parts.sort();
    parts
}

/// Package names from all dependency tables, those under `target.'cfg(…)'` too.
fn dependencies(table: &toml::Table, used: &mut Vec<String>) {
    for (key, value) in table {
        let Some(inner) = value.as_table() else {
            continue;
        };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => {
                for (name, about) in inner {
                    let package = about.get("package").and_then(toml::Value::as_str);
                    let package = package.unwrap_or(name);
                    if (key.as_str(), package) != ("dev-dependencies", SUPPORT) {
                        used.push(package.to_owned());
                    }
                }
            }
            "target" => {
                inner
                    .values()
                    .filter_map(toml::Value::as_table)
                    .for_each(|t| dependencies(t, used));
            }
            _ => {}
        }
    }
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn arrows_point_down() {
    let parts = here().join("../../crates");
    assert_eq!(wrong_arrows(&parts), [""; 0]);
    assert_eq!(parts_in(&parts).len(), PARTS.len(), "a part is missing");
}

#[test]
fn the_design_has_the_same_parts_and_what_each_uses_below_it() {
    let order = order();
    let position = |name: &str| {
        let found = order.iter().position(|part| part == name);
        found.unwrap_or_else(|| panic!("docs/design.md lacks {name}"))
    };
    for (part, allowed) in PARTS {
        for lower in allowed {
            assert!(position(part) < position(lower), "{part} uses {lower}");
        }
    }
    assert_eq!(order.len(), PARTS.len(), "docs/design.md has other parts");
}

#[test]
fn planted_upward_arrows_are_seen() {
    let fixtures = here().join("tests/fixtures");
    assert_eq!(
        wrong_arrows(&fixtures.join("upward")),
        [
            "flick-events uses flick-runtime",
            "flick-events uses flick-report",
            "flick-report uses flick-driver"
        ]
    );
    assert_eq!(
        wrong_arrows(&fixtures.join("unknown")),
        ["flick-newcomer has no place in the order of the parts"]
    );
}
