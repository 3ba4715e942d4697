//! The modules of a part import each other without circles: each can be read, tested and replaced
//! with what it uses, and nothing else. `arrows.rs` holds the same between the parts.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// Parts whose modules are held.
const PARTS: [&str; 4] = ["libflick/runtime", "engine", "events", "translator"];

/// Circles that stay, by part, with the reason.
const ALLOWED: [(&str, &[&str], &str); 7] = [
    (
        "engine",
        &[
            "core",
            "csr",
            "vector",
            "vector::configuration",
            "vector::element_access",
            "vector::estimate",
            "vector::fixed",
            "vector::float_conversions",
            "vector::float_elements",
            "vector::groups",
            "vector::integer_elements",
            "vector::mask",
            "vector::permute",
            "vector::process_states",
            "vector::reduce",
            "vector::vector_state",
        ],
        "vector/mod.rs dispatches to its files, as fp/mod.rs does; a core has the vector state, and \
         vector registers are CSRs",
    ),
    (
        "engine",
        &[
            "fp",
            "fp::conversions",
            "fp::execute",
            "fp::quiet",
            "fp::soft",
            "fp::sse",
        ],
        "fp/mod.rs dispatches to its files, and has the boxing of values that they share",
    ),
    (
        "translator",
        &[
            "code", "counting", "function", "jumps", "liveness", "lower", "program", "tables",
            "thunk",
        ],
        "the trait of the translated program has the summary of a function's registers in it",
    ),
    (
        "translator",
        &["dispatch", "glue"],
        "the dispatch loop and its assembly share the least stack",
    ),
    (
        "translator",
        &[
            "emit",
            "emit::cold",
            "emit::convert",
            "emit::homes",
            "emit::places",
            "fault_state",
            "vector_call",
        ],
        "emit/mod.rs has the emitter, to which its files add methods",
    ),
    (
        "translator",
        &["movable", "movable::facts", "movable::kept_record"],
        "movable/mod.rs has the movable function, whose questions are a file of their own",
    ),
    (
        "translator",
        &[
            "simplify",
            "simplify::bit_tests",
            "simplify::boxes",
            "simplify::constants",
            "simplify::early",
            "simplify::finish",
            "simplify::hart",
            "simplify::nan",
            "simplify::narrow",
            "simplify::pairs",
            "simplify::params",
            "simplify::pinned",
            "simplify::stack",
            "simplify::zero_extensions",
        ],
        "simplify/mod.rs runs the passes, and has the helpers that they share",
    ),
];

/// The layers of the runtime, from the bottom up (`crates/libflick/runtime/src/lib.rs`): a folder
/// or file there uses those before it.
const LAYERS: [&str; 16] = [
    "os",
    "config",
    "locks",
    "memory",
    "modules",
    "thread",
    "heap",
    "translation",
    "accounts",
    "reports",
    "signals",
    "crossing",
    "interpose",
    "forks",
    "start",
    "registration",
];

/// Modules by their paths in the crate (`a::b`; the root is the empty path), and the modules that
/// each imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Reads the modules in the folder `src` of a crate.
fn imports(src: &Path) -> Imports {
    let mut files = Vec::new();
    find_files(src, &mut files);
    let texts: BTreeMap<String, String> = files
        .iter()
        .map(|file| {
            (
                module_of(src, file),
                code(&fs::read_to_string(file).unwrap()),
            )
        })
        .collect();
    texts
        .iter()
        .map(|(module, text)| {
            let mut used = BTreeSet::new();
            for path in paths(text, &children(module, &texts)) {
                used.extend(target(module, &path, &texts));
            }
            // The root declares the others; an import of its own items is none of theirs.
            used.remove("");
            used.remove(module);
            (module.clone(), used)
        })
        .collect()
}

/// Source files, without those of unit tests.
fn find_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

fn module_of(src: &Path, file: &Path) -> String {
    let inner = file.strip_prefix(src).unwrap().with_extension("");
    let mut parts: Vec<_> = inner.iter().map(|p| p.to_str().unwrap()).collect();
    if matches!(parts.last(), Some(&"mod" | &"lib" | &"main")) {
        parts.pop();
    }
    parts.join("::")
}

/// The text without comments, and without the unit tests at its end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end]
        .lines()
        .map(|line| line.find("//").map_or(line, |at| &line[..at]))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Names of the modules directly below `module`.
fn children<'a>(module: &str, all: &'a BTreeMap<String, String>) -> BTreeSet<&'a str> {
    all.keys()
        .filter_map(|known| {
            let inner = match module {
                "" => known.as_str(),
                _ => known.strip_prefix(module)?.strip_prefix("::")?,
            };
            (!inner.is_empty() && !inner.contains("::")).then_some(inner)
        })
        .collect()
}

/// Paths in `text` that begin with `crate`, `super`, `self` or a child: those of `use`
/// declarations, each of a group apart, and those in the code.
fn paths(text: &str, children: &BTreeSet<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut other = String::new();
    while let Some(at) = find_use(rest) {
        let end = rest[at..].find(';').map_or(rest.len(), |end| at + end);
        other.push_str(&rest[..at]);
        let tree: Vec<&str> = rest[at + "use ".len()..end].split_whitespace().collect();
        leaves("", &tree.join(" "), &mut found);
        rest = &rest[end..];
    }
    other.push_str(rest);
    let path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    found.extend(
        other
            .split(|c| !path(c))
            .filter(|word| word.contains("::"))
            .map(str::to_owned),
    );
    found.retain(|path| {
        let first = path.split("::").next().unwrap_or_default();
        matches!(first, "crate" | "super" | "self") || children.contains(first)
    });
    found
}

/// Where a `use` declaration begins.
fn find_use(text: &str) -> Option<usize> {
    let starts_word = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '"')
    };
    let mut all = text.match_indices("use ").map(|(at, _)| at);
    all.find(|&at| starts_word(at))
}

/// The paths of a tree of `use`, without the names that `as` gives them.
fn leaves(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        found.push(format!("{prefix}{}", path.trim()));
        return;
    };
    let prefix = format!("{prefix}{}", tree[..open].trim());
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                leaves(&prefix, &inner[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    leaves(&prefix, &inner[start..], found);
}

/// The module that `path`, in `module`, leads to or into.
fn target(module: &str, path: &str, all: &BTreeMap<String, String>) -> Option<String> {
    let mut at: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    for part in path.split("::") {
        match part {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" | "" => {}
            name => at.push(name),
        }
    }
    // Items follow the module's own path.
    (0..=at.len())
        .rev()
        .map(|length| at[..length].join("::"))
        .find(|known| all.contains_key(known))
}

/// Sets of modules that import each other, one line each.
fn circles(imports: &Imports) -> Vec<Vec<&str>> {
    let mut graph = DiGraph::<&str, ()>::new();
    let nodes: BTreeMap<&str, _> = imports
        .keys()
        .map(|module| (module.as_str(), graph.add_node(module)))
        .collect();
    for (module, used) in imports {
        for lower in used {
            graph.add_edge(nodes[module.as_str()], nodes[lower.as_str()], ());
        }
    }
    let mut found: Vec<Vec<&str>> = tarjan_scc(&graph)
        .into_iter()
        .filter(|circle| circle.len() > 1)
        .map(|circle| circle.into_iter().map(|node| graph[node]).collect())
        .collect();
    found.iter_mut().for_each(|circle| circle.sort_unstable());
    found.sort();
    found
}

/// The same between the first parts of the paths: folders, and files beside them.
fn folders(imports: &Imports) -> Imports {
    let first = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
    let mut all = Imports::new();
    for (module, used) in imports {
        let folder = first(module);
        let lower = used.iter().map(|path| first(path));
        let lower: Vec<_> = lower.filter(|lower| *lower != folder).collect();
        all.entry(folder).or_default().extend(lower);
    }
    all.remove("");
    all
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source(part: &str) -> PathBuf {
    here().join("../../crates").join(part).join("src")
}

#[test]
fn modules_import_no_circles() {
    for part in PARTS {
        let imports = imports(&source(part));
        let allowed: Vec<Vec<&str>> = ALLOWED
            .iter()
            .filter(|(of, ..)| *of == part)
            .map(|(_, circle, _)| circle.to_vec())
            .collect();
        assert_eq!(circles(&imports), allowed, "{part}");
    }
}

#[test]
fn layers_of_the_runtime_use_those_below() {
    let imports = folders(&imports(&source("libflick/runtime")));
    let known: BTreeSet<&str> = imports.keys().map(String::as_str).collect();
    assert_eq!(known, BTreeSet::from(LAYERS));
    let height = |layer: &str| LAYERS.iter().position(|known| *known == layer).unwrap();
    for (layer, used) in &imports {
        for lower in used {
            assert!(height(lower) < height(layer), "{layer} uses {lower}");
        }
    }
}

#[test]
fn planted_circles_are_seen() {
    let imports = imports(&here().join("tests/fixtures/circles"));
    assert_eq!(
        circles(&imports),
        [vec!["folder::deep", "high", "low"], vec!["left", "right"]]
    );
}
