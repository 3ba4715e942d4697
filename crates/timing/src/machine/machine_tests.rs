//! Mistakes in machine files: what the message names.
use std::path::Path;

use flick_riscv::Extension;

use super::{Machine, Mmu, TileKind, Topology, names};

/// A file with something of everything.
pub const GOOD: &str = r#"
name = "all"
description = "a machine with something of everything"
timebase = "10 MHz"

[core.rocket]
issue = 1
predictor = "two-bit"
counters = 512
[core.rocket.cycles]
int = 1
mul = 4
div = 33
load = 1
store = 1
branch = 1
jump = 1
fp = 4
fp-mul = 4
fp-div = 20
atomic = 5
address = 1
bit = 1
system = 3
taken = 0
mispredict = 3
source = "an assumption"
[core.rocket.vector]
start = 2
datapath = 128
[core.rocket.l1d]
size = "16 KiB"
ways = 4
write = "back"
[core.rocket.dtlb]
entries = 32
tables = "cached"

[[tile]]
name = "a"
clock = "1 GHz"
[[tile.hart]]
kernel = true
isa = "rv64gc"
core = "rocket"
[[tile.hart]]
name = "vector"
count = 2
isa = "rv64gcv_zvl256b"
mmu = "sv48"
clock = "500 MHz"
disabled = true
unit = "sums"
[[tile.unit]]
name = "sums"
opcodes = ["custom-0"]
[tile.coherence]
kind = "directory"
latency = "10 ns"
[[tile.memory]]
base = 0x8000_0000
size = "1 MiB"
banks = 4
latency = "50 ns"
bandwidth = "12.8 GB/s"
arbitration = "round-robin"
[[tile.device]]
kind = "clint"
base = 0x200_0000
[[tile.device]]
kind = "plic"
base = 0xc00_0000
sources = 31
[[tile.device]]
kind = "uart16550"
base = 0x1000_0000
interrupt = 10
[tile.dtu]
base = 0xf000_0000
endpoints = 16

[[tile]]
name = "fft"
count = 2
kind = "accelerator"
clock = "1 GHz"
[tile.accelerator]
function = "fft"
kind = "stream"
block = "2 KiB"
cycles = 5856
[tile.dtu]
base = 0xf000_0000
endpoints = 16

[[link]]
name = "noc"
topology = "mesh"
columns = 3
tiles = ["a", "fft"]
latency = "10 ns"
width = "8 B"
clock = "1 GHz"
"#;

pub fn parse(text: &str, settings: &[&str]) -> Result<Machine, super::Error> {
    let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
    Machine::parse("x.toml", text, &settings)
}

/// Line, message and help for a file in which `from` is replaced.
fn wrong(from: &str, to: &str) -> (usize, String) {
    assert!(GOOD.contains(from), "{from}");
    let error = parse(&GOOD.replacen(from, to, 1), &[]).expect_err(to);
    assert!(!error.help.is_empty());
    let message = error.to_string();
    assert!(message.starts_with("x.toml:"), "{message}");
    (error.line, message + "; " + &error.help)
}

#[test]
fn libraries_are_beside_the_machine_file() {
    let text = GOOD.replace("\"stream\"", "\"stream\"\nlibrary = \"lib/x.so\"");
    let library = |file| {
        let machine = Machine::parse(file, &text, &[]).unwrap();
        match &machine.tiles[1].kind {
            TileKind::Accelerator(accelerator) => accelerator.library.clone().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(library("x.toml"), Path::new("lib/x.so"));
    assert_eq!(library("../there/x.toml"), Path::new("../there/lib/x.so"));
}

#[test]
fn everything_is_read() {
    let machine = parse(GOOD, &[]).unwrap_or_else(|error| panic!("{error}; {}", error.help));
    let tile = &machine.tiles[0];
    let ids: Vec<u32> = tile.harts.iter().map(|hart| hart.id).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert_eq!(tile.harts[1].isa.vlen(), Some(256));
    assert_eq!(
        (tile.harts[0].mmu, tile.harts[1].mmu),
        (Mmu::Sv57, Mmu::Sv48)
    );
    assert_eq!((tile.harts[0].period, tile.harts[1].period), (1e6, 2e6));
    assert!(tile.harts[1].is_disabled && !tile.harts[0].is_disabled);
    assert_eq!(tile.kernel_hart().unwrap().id, 0);
    assert_eq!(machine.core(&tile.harts[0]).unwrap().name, "rocket");
    assert_eq!(machine.tiles[2].name, "fft1");
    let link = &machine.links[0];
    assert_eq!((link.topology, link.tiles.len()), (Topology::Mesh(3), 3));
    assert_eq!(link.hops(0, 2), 2);
    let buffers = |machine: &Machine| match &machine.tiles[1].kind {
        super::TileKind::Accelerator(part) => part.buffers,
        _ => 0,
    };
    let two = parse(GOOD, &["tile.fft.accelerator.buffers=2"]).unwrap();
    assert_eq!((buffers(&machine), buffers(&two)), (1, 2));
    // Accelerators of streams run, and those of requests with a known function.
    assert_eq!(machine.missing(), []);
    let requests = parse(&GOOD.replace("\"stream\"", "\"request\""), &[]).unwrap();
    let missing: Vec<String> = requests.missing().iter().map(|m| m.to_string()).collect();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(
        missing[0].starts_with("tile fft0 and 1 more: accelerators of requests with this function")
    );
    let requests = GOOD.replace("\"stream\"", "\"request\"");
    let known = requests.replace("\"fft\"\nkind", "\"vector-sum\"\nkind");
    assert_eq!(parse(&known, &[]).unwrap().missing(), []);
    let has_unit: Vec<bool> = tile
        .harts
        .iter()
        .map(|hart| hart.isa.has(Extension::XFlickDot))
        .collect();
    assert_eq!(
        has_unit,
        tile.harts
            .iter()
            .map(|hart| hart.unit.is_some())
            .collect::<Vec<_>>()
    );
    assert!(
        has_unit.contains(&true) && has_unit.contains(&false),
        "{has_unit:?}"
    );
}

#[test]
fn shipped_machines_can_be_read() {
    for name in names() {
        let machine = Machine::load(name, &[]);
        let machine = machine.unwrap_or_else(|error| panic!("{error}; {}", error.help));
        assert_eq!(machine.name, name);
    }
}

#[test]
fn messages_name_what_is_wrong_and_what_to_do() {
    for (from, to, parts) in [
        // Keys and values by themselves.
        (
            "issue = 1",
            "isue = 1",
            &["`core.rocket.isue` is not known", "'issue'"][..],
        ),
        ("int = 1\n", "", &["`core.rocket.cycles.int` is missing"]),
        ("size = \"16 KiB\"", "size = 16", &["16 has no unit"]),
        (
            "size = \"16 KiB\"",
            "size = \"12 KiB\"",
            &["number of sets"],
        ),
        (
            "entries = 32",
            "entries = 0",
            &["0 is not in the range 1 to 65536"],
        ),
        ("counters = 512", "counters = 500", &["no power of two"]),
        (
            "predictor = \"two-bit\"",
            "",
            &["this predictor has no counters"],
        ),
        ("datapath = 128", "datapath = 100", &["no power of two"]),
        (
            "kind = \"directory\"",
            "kind = \"none\"",
            &["this coherence has no latency"],
        ),
        (
            "isa = \"rv64gc\"",
            "isa = \"rv64gq\"",
            &["no extension \"q\"", "known are i, m"],
        ),
        (
            "isa = \"rv64gc\"",
            "isa = \"rv64gc_zbba\"",
            &["no extension \"zbba\"", "'zba'"],
        ),
        (
            "isa = \"rv64gc\"",
            "isa = \"rv32gc\"",
            &["does not begin with rv64i"],
        ),
        ("zvl256b", "zvl100b", &["vectors have 128, 256"]),
        (
            "core = \"rocket\"",
            "core = \"rockt\"",
            &["no core \"rockt\"", "'rocket'"],
        ),
        (
            "unit = \"sums\"",
            "unit = \"sum\"",
            &["no unit \"sum\"", "'sums'"],
        ),
        (
            "opcodes = [\"custom-0\"]",
            "opcodes = [\"custom-9\"]",
            &["custom-9"],
        ),
        (
            "count = 2\nisa",
            "count = 0\nisa",
            &["not in the range 1 to 512"],
        ),
        (
            "count = 2\nisa",
            "count = 512\nisa",
            &["513 harts", "512 harts at most"],
        ),
        (
            "count = 2\nisa",
            "kernel = true\nisa",
            &["a second hart", "one kernel hart"],
        ),
        (
            "kernel = true",
            "kernel = true\ncount = 2",
            &["a second hart"],
        ),
        (
            "kernel = true",
            "kernel = 1",
            &["a whole number", "true or false"],
        ),
        (
            "base = 0x8000_0000",
            "base = 0x8000_0001",
            &["not the start of a page"],
        ),
        (
            "base = 0x8000_0000",
            "base = -5",
            &["no hart has such an address"],
        ),
        (
            "base = 0x8000_0000",
            "base = 0xffff_ffff_ffff_ffff_f",
            &["no hart has such"],
        ),
        ("size = \"1 MiB\"", "size = \"0 B\"", &["not in the range"]),
        (
            "size = \"1 MiB\"",
            "size = \"5000 B\"",
            &["not of whole pages"],
        ),
        ("banks = 4", "banks = 3", &["no power of two"]),
        (
            "banks = 4",
            "banks = 4096\ninterleave = \"4 KiB\"",
            &["smaller than one part"],
        ),
        (
            "interrupt = 10",
            "",
            &["`tile.device.interrupt` is missing"],
        ),
        (
            "kind = \"plic\"",
            "kind = \"plick\"",
            &["\"plick\" is not known", "'plic'"],
        ),
        (
            "mmu = \"sv48\"",
            "mmu = \"Sv48\"",
            &["\"Sv48\" is not known", "'sv48'"],
        ),
        (
            "sources = 31",
            "sources = 2000",
            &["not in the range 1 to 1023"],
        ),
        (
            "endpoints = 16",
            "endpoints = 0",
            &["not in the range 1 to 255"],
        ),
        (
            "endpoints = 16",
            "endpoints = 16\nmessage = \"8 B\"",
            &["header of 24 bytes"],
        ),
        (
            "kind = \"stream\"",
            "library = \"x.so\"",
            &["compute streams", "add kind = \"stream\""],
        ),
        (
            "kind = \"stream\"",
            "kind = \"stream\"\nlibrary = \"\"",
            &["`tile.accelerator.library`: it is empty"],
        ),
        (
            "cycles = 5856",
            "",
            &["`tile.accelerator.cycles` is missing"],
        ),
        (
            "cycles = 5856",
            "cycles = 5856\nbuffers = 3",
            &["not in the range 1 to 2"],
        ),
        (
            "kind = \"stream\"",
            "kind = \"request\"\nbuffers = 2",
            &["has no buffers", "kind = \"stream\""],
        ),
        (
            "timebase = \"10 MHz\"",
            "timebase = \"5 GHz\"",
            &["too large"],
        ),
        // Links.
        (
            "tiles = [\"a\", \"fft\"]",
            "tiles = [\"a\", \"ftf\"]",
            &["goes to \"ftf\"", "fft0"],
        ),
        (
            "tiles = [\"a\", \"fft\"]",
            "tiles = [\"a\"]",
            &["the link has one end"],
        ),
        (
            "tiles = [\"a\", \"fft\"]",
            "tiles = [\"a\", \"a\"]",
            &["is there twice"],
        ),
        (
            "tiles = [\"a\", \"fft\"]",
            "tiles = 3",
            &["a list of texts"],
        ),
        ("columns = 3", "columns = 2", &["do not fill the rows"]),
        (
            "topology = \"mesh\"\ncolumns = 3",
            "",
            &["connects two tiles"],
        ),
        (
            "tiles = [\"a\", \"fft\"]\n",
            "tiles = [\"a\", \"fft0\"]\n",
            &["do not fill"],
        ),
        (
            "[core.rocket.dtlb]",
            "[core.rocket.prefetch]\ndegree = 4\n[core.rocket.dtlb]",
            &["the core has no `l2` for the lines"],
        ),
        // Between entries.
        (
            "name = \"fft\"\ncount = 2",
            "name = \"a\"",
            &["two tiles have the name a"],
        ),
        (
            "base = 0xc00_0000",
            "base = 0x200_8000",
            &["plic at 0x2008000 overlaps clint"],
        ),
        (
            "base = 0xf000_0000",
            "base = 0x800f_f000",
            &["the DTU at 0x800ff000 overlaps memory"],
        ),
        (
            "interrupt = 10",
            "interrupt = 32",
            &["source 32", "beyond the 31 of the PLIC"],
        ),
        (
            "kind = \"clint\"",
            "kind = \"mswi\"",
            &["no timer", "kind = \"clint\""],
        ),
        (
            "base = 0xc00_0000\nsources = 31",
            "base = 0xc00_0000\nsources = 31\n[[tile.device]]\nkind = \"plic\"\nbase = 0xd00_0000\nsources = 3",
            &["2 devices that are its PLIC"],
        ),
        (
            "columns = 3\ntiles = [\"a\", \"fft\"]",
            "columns = 2\ntiles = [\"a\", \"fft0\"]",
            &["tile fft1: no link goes to it"],
        ),
        (
            "endpoints = 16\n\n[[tile]]",
            "endpoints = 16\n\n[[tile]]\nname = \"lone\"\nkind = \"memory\"\n[[tile.memory]]\nbase = 0\nsize = \"4 KiB\"\n[[tile]]",
            &["tile lone: no link goes to it"],
        ),
        (
            "[[tile.memory]]\nbase = 0x8000_0000",
            "[[tile.memory]]\nuse = \"scratchpad\"\nbase = 0x8000_0000",
            &["its harts have no memory"],
        ),
        (
            "[[tile.unit]]\n",
            "[[tile.unit]]\nname = \"sums\"\nopcodes = []\n[[tile.unit]]\n",
            &["two units"],
        ),
        (
            "name = \"all\"",
            "include = \"nothing\"\nname = \"all\"",
            &["no platform of this name"],
        ),
        ("name = \"all\"", "name = \"a\\u0000\"", &["a NUL"]),
        ("name = \"all\"", "name = [", &["not TOML"]),
    ] {
        let (_, text) = wrong(from, to);
        for part in parts {
            assert!(text.contains(part), "{to}: {part}: {text}");
        }
    }
    let (_, text) = wrong(GOOD, "");
    assert!(text.contains("docs/machine-files.md"), "{text}");
    let empty = parse("name='x'\ndescription=''\ntimebase='1 MHz'", &[]).unwrap_err();
    assert!(empty.what.contains("no tile"), "{empty}");
}

#[test]
fn places_are_lines() {
    let line_of = |text: &str| GOOD.lines().position(|l| l.starts_with(text)).unwrap() + 1;
    assert_eq!(wrong("isa = \"rv64gc\"", "isa = \"x\"").0, line_of("isa"));
    assert_eq!(
        wrong("tiles = [\"a\"", "tiles = [\"b\"").0,
        line_of("tiles")
    );
    let uart = line_of("kind = \"uart16550\"") - 1;
    assert_eq!(wrong("interrupt = 10", "interrupt = 32").0, uart);
}

/// No text makes the reader panic.
#[test]
fn damaged_files_are_errors() {
    for at in (0..GOOD.len()).step_by(5) {
        for with in ["", "\"", "[", "=", "-1", "9e999", "\u{0}", "\n[[tile]]\n"] {
            let _ = parse(
                &format!("{}{with}{}", &GOOD[..at], &GOOD[at..]),
                &["harts=3"],
            );
        }
        let _ = parse(&GOOD[..at], &["tile.0.memory.0.size=1G", "isa=rv64i"]);
    }
}

/// The reference names each key, and has in bold those that the reader requires.
#[test]
fn the_reference_has_all_keys() {
    let reference = include_str!("../../../../docs/machine-files.md");
    let marked: String = reference.split("**").skip(1).step_by(2).collect();
    let keys = |text: &str| -> Vec<String> {
        let words =
            text.split(|c: char| !(c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit()));
        words.map(str::to_owned).collect()
    };
    let marked = keys(&marked);
    let everything = "[core.x.l1i]\n[core.x.vector]\n[core.x.itlb]\n[[tile]]\n[[tile.hart]]\n\
        [[tile.unit]]\n[[tile.memory]]\n[tile.dtu]\n[tile.coherence]\nkind = 'snoop'\n[[tile]]\nname = 'b'\n\
        kind = 'accelerator'\n[[link]]\ntopology = 'mesh'\n";
    let error = parse(everything, &[]).unwrap_err();
    let mut count = 0;
    for line in error.help.lines().skip(1) {
        let required = line.trim_start().split(": ").next().unwrap();
        let required = required.split_once("] ").map_or(required, |(_, keys)| keys);
        for key in required.split(", ").filter(|key| *key != "clock") {
            assert!(marked.iter().any(|word| word == key), "{key} is not bold");
            count += 1;
        }
    }
    assert!(count > 35, "{}", error.help);
    let known = keys(reference);
    for line in GOOD.lines().filter_map(|line| line.split_once(" = ")) {
        assert!(known.iter().any(|word| word == line.0), "{line:?}");
    }
}

/// Each figure of a shipped file has a comment in its line, or its table has one above it.
#[test]
fn figures_of_shipped_machines_have_sources() {
    for name in names() {
        let text = super::shipped_machines::text(name).unwrap();
        let (mut before, mut is_covered) = ("", false);
        for line in text.lines() {
            if line.starts_with('[') {
                is_covered = line.contains('#') || before.starts_with('#');
            } else if let Some((key, value)) = line.split_once(" = ") {
                // Names and ISA strings are no figures.
                let figure = value.trim_start_matches('"').chars().next();
                let is_figure = figure.is_some_and(|c| c.is_ascii_digit());
                let is_sourced = line.contains('#') || is_covered;
                let is_text = ["name", "description"].contains(&key);
                assert!(!is_figure || is_sourced || is_text, "{name}: {line}");
            }
            before = line;
        }
    }
}
