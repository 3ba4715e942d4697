//! Mistakes in platform files: what the message names.
use std::collections::BTreeSet;

use flick_riscv::{Extension, Isa};

use super::{NxpClass, Part, Platform, Region};

const GOOD: &str = include_str!("../../../../platforms/near-memory.toml");

/// Line and message for a file in which `from` is replaced.
fn wrong(from: &str, to: &str) -> (usize, String) {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let error = Platform::parse("x.toml", &text).expect_err(to);
    assert!(!error.help.is_empty());
    let message = error.to_string();
    assert!(message.starts_with("x.toml:"), "{message}");
    (error.line, message + "; " + &error.help)
}

#[test]
fn messages_name_line_key_unit_and_range() {
    let line_of = |text: &str| {
        GOOD.lines()
            .position(|line| line.starts_with(text))
            .unwrap()
            + 1
    };
    let (line, text) = wrong("clock = \"3 GHz\"", "clock = 3");
    assert_eq!(line, line_of("clock"));
    assert!(text.contains("`host.clock`: 3 has no unit"), "{text}");
    assert!(text.contains("100 kHz to 20 GHz"), "{text}");
    let (_, text) = wrong("clock = \"3 GHz\"", "clock = \"3 ns\"");
    assert!(text.contains("none of the units kHz, MHz, GHz"), "{text}");
    let (_, text) = wrong("clock = \"3 GHz\"", "clock = \"300 GHz\"");
    assert!(text.contains("not in the range"), "{text}");
    let (_, text) = wrong("clock = \"3 GHz\"", "clok = \"3 GHz\"");
    assert!(
        text.contains("`host.clok` is not known") && text.contains("'clock'"),
        "{text}"
    );
    let (line, text) = wrong("clock = \"3 GHz\"", "");
    assert_eq!(line, line_of("[host]"));
    assert!(
        text.contains("`host.clock` is missing; add it: a frequency"),
        "{text}"
    );
    let (_, text) = wrong("overlap = 2", "overlap = 2\noverlapp = 3");
    assert!(
        text.contains("`host.overlapp` is not known") && text.contains("'overlap'"),
        "{text}"
    );
    let (_, text) = wrong("overlap = 2", "overlap = 0.5");
    assert!(text.contains("0.5 is not in the range 1 to 64"), "{text}");
    let (_, text) = wrong("cores = 4", "cores = 4.5");
    assert!(text.contains("not a whole number"), "{text}");
    let (_, text) = wrong("ways = 11", "ways = 12");
    assert!(text.contains("number of sets"), "{text}");
    let (_, text) = wrong("holds = [\"nxp\"]", "holds = [\"npx\"]");
    assert!(
        text.contains("\"npx\" is not known") && text.contains("'nxp'"),
        "{text}"
    );
    let (_, text) = wrong("nxp = \"2 MiB\"", "nxp = \"3 MiB\"");
    assert!(text.contains("no page has this size"), "{text}");
    let (_, text) = wrong("[crossing.nxp-returns]", "[crossing.nxp-retruns]");
    assert!(
        text.contains("`crossing.nxp-retruns` is not known") && text.contains("'nxp-returns'"),
        "{text}"
    );
    let (_, text) = wrong("name = \"near-memory\"", "name = 3");
    assert!(text.contains("it is a whole number"), "{text}");
    let (line, text) = wrong("[nxp]\n", "[nxp\n");
    assert!(text.contains("not TOML"), "{text}");
    assert!(line >= line_of("[nxp]"), "{line}");
}

/// What a file lacks is said in one go, by table.
#[test]
fn all_missing_keys_are_named() {
    let (_, text) = wrong("store = 1\n", "");
    assert!(text.contains("`host.cycles.store` is missing"), "{text}");
    let without = GOOD
        .replace("store = 1\n", "")
        .replace("isa = ", "# ")
        .replace("ways = 11\n", "");
    let error = Platform::parse("x.toml", &without).unwrap_err();
    assert_eq!(error.what, "4 required keys are missing");
    for part in [
        "\n  [nxp] isa: a text in quotes",
        "\n  [nxp.cycles] store: a number from 0 to 1000000",
        "\n  [host.cycles] store: a number",
        "\n  [host.cache] ways: a number from 1 to 64",
    ] {
        assert!(error.help.contains(part), "{part}: {}", error.help);
    }
    let error = Platform::parse("x.toml", "").unwrap_err();
    for part in [
        "\n  name, description: a text in quotes\n",
        "\n  [nxp.memory.stack] load, store: a time",
        "\n  [crossing] host-calls-nxp, nxp-returns, nxp-calls-host, host-returns: a table",
    ] {
        assert!(error.help.contains(part), "{part}: {}", error.help);
    }
}

/// The reference has in bold what the reader requires.
#[test]
fn the_reference_marks_required_keys() {
    let everything = "[[host.cache]]\n[nxp.icache]\n[host.tlb]\n[host.memory.host]\n\
        [host.window]\n[host.prefetcher]\n";
    let error = Platform::parse("x.toml", everything).unwrap_err();
    let mut required = BTreeSet::new();
    for line in error.help.lines().skip(1) {
        let keys = line.trim_start().split(": ").next().unwrap();
        let keys = keys.split_once("] ").map_or(keys, |(_, keys)| keys);
        required.extend(keys.split(", "));
    }
    let reference = include_str!("../../../../docs/timing.md");
    let table = reference.split_once("| key |").unwrap().1;
    let table = table.split_once("\n\n").unwrap().0;
    let marked = table.split("**").skip(1).step_by(2);
    let marked: BTreeSet<&str> = marked
        .flat_map(|text| text.trim_matches('`').split(' '))
        .collect();
    assert_eq!(marked, required);
}

/// On a card the machine's link is executed, and the platform's figure is charged for the rest of the way.
#[test]
fn the_rest_of_the_link_is_charged_on_a_card() {
    let link = |platform: &str| {
        let charged = Platform::load(platform).unwrap().crossing.of_host();
        [
            charged.host_calls_nxp,
            charged.nxp_returns,
            charged.nxp_calls_host,
            charged.host_returns,
        ]
        .map(|parts| parts[Part::Link as usize])
    };
    assert_eq!(link("flick-isca20"), [793_600_000; 4]);
    assert_eq!(link("flick-isca20,crossing.machine-link=2 us"), [0; 4]);
    let nxp_calls_host = "flick-isca20,crossing.nxp-calls-host.link=0.2 us";
    assert_eq!(link(nxp_calls_host)[2], 0);
    // A platform that does not say how much of it a machine executes means all.
    assert_eq!(link("near-memory,crossing.nxp-returns.link=3 us"), [0; 4]);
}

/// A section of a tile has the values of `[nxp]`, but for its own.
#[test]
fn tiles_have_what_their_sections_change() {
    let with = |text: &str| Platform::parse("x.toml", &format!("{GOOD}{text}"));
    assert!(with("").unwrap().tiles.is_empty());
    let same = with("\n[tile.a]\n").unwrap();
    assert_eq!(same.tiles, [("a".to_owned(), same.nxp.clone())]);
    let text = "\n[tile.a]\nclock = \"2 GHz\"\nisa = \"rv64gcv\"\ncycles.mul = 7\n\
        [[tile.a.cache]]\nsize = \"1 KiB\"\nways = 1\nholds = [\"host\"]\n\
        [tile.a.memory.nxp]\nload = \"9 ns\"\n[tile.a.memory.tile.b]\nload = \"3 us\"\nstore = 0\n";
    let platform = with(text).unwrap();
    let (name, core) = &platform.tiles[0];
    assert_eq!((name.as_str(), core.cycle), ("a", 5e5));
    assert_eq!(core.costs[NxpClass::Mul as usize], 3_500_000);
    assert_eq!(core.caches.len(), 1);
    let nxp = &platform.nxp;
    assert_eq!(nxp.cycle, 1e6);
    let own = core.memory[Region::Nxp as usize];
    assert_eq!(
        (own.load, own.byte),
        (9_000_000, nxp.memory[Region::Nxp as usize].byte)
    );
    assert_eq!(
        core.memory[Region::Stack as usize],
        nxp.memory[Region::Stack as usize]
    );
    assert_eq!(
        (core.tiles[0].0.as_str(), core.tiles[0].1.load),
        ("b", 3_000_000_000)
    );
    // What the core lacks is emulated, but for vectors.
    let general: Isa = "rv64i".parse().unwrap();
    let emulated = core.with_emulation(general);
    assert!(emulated.has(Extension::Zba) && !emulated.has(Extension::M));
    assert!(!nxp.with_emulation(general).has(Extension::V));
    let wrong = |text: &str| with(text).expect_err(text).to_string();
    assert!(wrong("\n[tile]\na = 1\n").contains("`tile.a`: it is a whole number"));
    assert!(wrong("\n[tile.a]\ncores = 2\n").contains("`tile.a.cores` is not known"));
    assert!(wrong("\n[tile.a.memory.tile.a]\nload = 0\nstore = 0\n").contains("own memory"));
    assert!(
        wrong("\n[tile.a.memory.tile.b]\nload = 0\n")
            .contains("`tile.a.memory.tile.b.store` is missing")
    );
}

/// A host's own memory comes with how the core waits for it. The nearest cache's hit is part of that.
#[test]
fn the_hosts_own_memory_has_a_window() {
    assert_eq!(Platform::parse("x.toml", GOOD).unwrap().host.window, None);
    let memory = "[host.memory.host]\nload = \"80 ns\"\nstore = \"0 ns\"\n";
    let text = GOOD.replacen(
        "[host.memory.nxp]",
        &format!("{memory}[host.memory.nxp]"),
        1,
    );
    let error = Platform::parse("x.toml", &text).unwrap_err();
    assert!(error.help.contains("[host.window] "), "{}", error.help);
    let window = "[host.window]\ninstructions = 224\nwidth = 4\nmisses = 10\n";
    let text = text.replacen(memory, &format!("{window}{memory}"), 1);
    let text = text.replacen("ways = 8\n", "ways = 8\nhit = 4.5\n", 1);
    let host = Platform::parse("x.toml", &text).unwrap().host;
    let window = host.window.unwrap();
    // 56 cycles, and four and a half, of 3 GHz.
    assert_eq!((window.ahead, window.chain), (18_666_667, 1_500_000));
    assert_eq!((window.misses, window.streams), (10, 0));
    assert_eq!((host.caches[0].hit, host.caches[1].hit), (0, 3_333_333));
    // A window alone means nothing.
    let (_, text) = wrong(
        "[host.memory.nxp]",
        "[host.window]\nwidth = 4\n[host.memory.nxp]",
    );
    assert!(text.contains("`host.window` is not known"), "{text}");
}

/// No text makes the reader panic.
#[test]
fn damaged_files_are_errors() {
    for at in (0..GOOD.len()).step_by(7) {
        if !GOOD.is_char_boundary(at) {
            continue;
        }
        for with in [
            "",
            "\"",
            "[",
            "=",
            "-1",
            "9e999",
            "\u{0}",
            "\n[[nxp.cache]]\n",
        ] {
            let text = format!("{}{with}{}", &GOOD[..at], &GOOD[at..]);
            let _ = Platform::parse("x.toml", &text);
            let _ = Platform::parse("x.toml", &GOOD[..at]);
        }
    }
}
