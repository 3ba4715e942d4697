//! Arrows between the parts may only point down (docs/design.md): every dependency of a part, in
//! whatever section of its Cargo.toml, must be one that the order below allows.
use std::fs;
use std::path::Path;

/// Each part and the parts that it may use. build, run and report are siblings: they meet in image
/// and events only. The two library forms of the runtime are shells over run.
const PARTS: [(&str, &[&str]); 19] = [
    (
        "flick-cli",
        &[
            "flick-build",
            "flick-report",
            "flick-torture",
            "flick-timing",
            "flick-image",
            "flick-events",
            "flick-abi",
            "flick-names",
        ],
    ),
    (
        "flick-torture",
        &["flick-image", "flick-events", "flick-abi", "flick-exec"],
    ),
    (
        "flick-so",
        &["flick-run", "flick-events", "flick-abi", "flick-own"],
    ),
    (
        "flick-a",
        &["flick-run", "flick-events", "flick-abi", "flick-own"],
    ),
    (
        "flick-build",
        &[
            "flick-translator",
            "flick-riscv",
            "flick-image",
            "flick-abi",
            "flick-names",
        ],
    ),
    (
        "flick-run",
        &[
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
        &["flick-image", "flick-events", "flick-abi", "flick-names"],
    ),
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
    ("flick-riscv-testing", &["flick-riscv"]),
    ("flick-riscv", &[]),
    ("flick-image", &["flick-abi", "flick-names"]),
    ("flick-events", &["flick-abi", "flick-names"]),
    ("flick-abi", &[]),
    ("flick-names", &[]),
    ("flick-exec", &[]),
    ("flick-sync", &[]),
    ("flick-own", &[]),
];

/// The helpers of tests: the tests of every part may use them, and they use no part.
const SUPPORT: &str = "flick-support";

/// What is wrong with the parts in the folders of `dir`, one line each.
fn wrong_arrows(dir: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    folders.sort();
    for folder in folders {
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
    assert_eq!(
        fs::read_dir(parts).unwrap().count(),
        PARTS.len(),
        "a part is missing"
    );
}

#[test]
fn the_order_itself_points_down() {
    let position = |name: &str| PARTS.iter().position(|(part, _)| *part == name).unwrap();
    for (part, allowed) in PARTS {
        for lower in allowed {
            assert!(position(part) < position(lower), "{part} uses {lower}");
        }
    }
}

#[test]
fn planted_upward_arrows_are_seen() {
    let fixtures = here().join("tests/fixtures");
    assert_eq!(
        wrong_arrows(&fixtures.join("upward")),
        [
            "flick-events uses flick-run",
            "flick-events uses flick-report",
            "flick-report uses flick-build"
        ]
    );
    assert_eq!(
        wrong_arrows(&fixtures.join("unknown")),
        ["flick-newcomer has no place in the order of the parts"]
    );
}
