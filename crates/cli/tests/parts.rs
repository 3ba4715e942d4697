//! Keeps the arrows between the parts pointing down (docs/design.md): a part depends only on parts
//! below it, and build, run and report meet only in what they share.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What each part may use.
const MAY_USE: [(&str, &[&str]); 11] = [
    ("flick-abi", &[]),
    ("flick-events", &["flick-abi"]),
    ("flick-image", &["flick-abi", "flick-events"]),
    // The engine knows nothing of Flick.
    ("flick-engine", &[]),
    ("flick-build", &["flick-abi", "flick-events", "flick-image"]),
    (
        "flick-run",
        &["flick-abi", "flick-events", "flick-image", "flick-engine"],
    ),
    (
        "flick-report",
        &["flick-abi", "flick-events", "flick-image"],
    ),
    ("flick-so", &["flick-run"]),
    ("flick-a", &["flick-run"]),
    (
        "flick-cli",
        &[
            "flick-abi",
            "flick-events",
            "flick-image",
            "flick-build",
            "flick-report",
        ],
    ),
    // Beside the parts: it looks at what the others made.
    ("flick-tests", &["flick-abi", "flick-events", "flick-image"]),
];

/// Reads a manifest: the package's name and the parts that it uses in any kind of dependency.
fn uses(manifest: &str) -> (String, Vec<String>) {
    let table: toml::Table = manifest.parse().expect("a manifest is TOML");
    let name = table["package"]["name"]
        .as_str()
        .expect("a package has a name")
        .to_owned();
    let mut found = Vec::new();
    collect(&table, &mut found);
    (name, found)
}

/// Dependencies of this table and of those in it (`[target.'cfg(…)'.dependencies]`).
fn collect(table: &toml::Table, found: &mut Vec<String>) {
    for (key, value) in table {
        let Some(inner) = value.as_table() else {
            continue;
        };
        if key.ends_with("dependencies") {
            for (name, how) in inner {
                // `alias = { package = "flick-…" }` is an arrow too.
                let package = how.get("package").and_then(|p| p.as_str()).unwrap_or(name);
                found.push(package.to_owned());
            }
        } else {
            collect(inner, found);
        }
    }
    found.retain(|name| name.starts_with("flick-"));
}

/// A line for every arrow that is not allowed, and for every part that the table does not know.
fn violations(parts: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (part, used) in parts {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| name == part) else {
            wrong.push(format!("{part} is not in this test's table"));
            continue;
        };
        for other in used.iter().filter(|name| !allowed.contains(&name.as_str())) {
            wrong.push(format!("{part} -> {other}"));
        }
    }
    wrong
}

fn workspace() -> BTreeMap<String, Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("Cargo.toml")).expect("the workspace's manifest");
    let table: toml::Table = text.parse().expect("a manifest is TOML");
    let members = table["workspace"]["members"]
        .as_array()
        .expect("members")
        .clone();
    let mut parts = BTreeMap::new();
    for member in members.iter().filter_map(|m| m.as_str()) {
        let dirs: Vec<_> = match member.strip_suffix("/*") {
            Some(parent) => fs::read_dir(root.join(parent))
                .expect("the members' directory")
                .map(|entry| entry.expect("readable entry").path())
                .collect(),
            None => vec![root.join(member)],
        };
        for manifest in dirs
            .iter()
            .map(|dir| dir.join("Cargo.toml"))
            .filter(|file| file.exists())
        {
            parts.extend([uses(
                &fs::read_to_string(manifest).expect("readable manifest"),
            )]);
        }
    }
    parts
}

#[test]
fn arrows_point_down() {
    let parts = workspace();
    assert!(parts.len() >= 9, "the workspace was not read: {parts:?}");
    assert_eq!(violations(&parts), [] as [&str; 0]);
}

#[test]
fn a_planted_upward_arrow_is_found() {
    for (planted, arrow) in [
        (
            "[package]\nname = \"flick-engine\"\n[dependencies]\nflick-run.workspace = true\n",
            "flick-engine -> flick-run",
        ),
        (
            "[package]\nname = \"flick-report\"\n[dev-dependencies]\nb = { package = \"flick-build\", path = \"\" }\n",
            "flick-report -> flick-build",
        ),
        (
            "[package]\nname = \"flick-abi\"\n[target.'cfg(unix)'.dependencies]\nflick-image = \"1\"\n",
            "flick-abi -> flick-image",
        ),
        (
            "[package]\nname = \"flick-new\"\n",
            "flick-new is not in this test's table",
        ),
    ] {
        let mut parts = workspace();
        parts.extend([uses(planted)]);
        assert_eq!(violations(&parts), [arrow]);
    }
}
