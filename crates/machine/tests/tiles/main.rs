//! Machines of several tiles: memories apart, packets between them, and one order of all harts.
#[path = "../bare_assembly/mod.rs"]
mod bare_assembly;
mod packet_port;
mod packets;
mod separate_tiles;

use flick_machine::snapshot::Snapshot;
use flick_machine::{
    BlockDisk, Boards, Console, End, Files, Machine, System, boards_of, boot_tiles, timing_of_tiles,
};
use flick_timing::machine;

use packet_port::{PacketPort, REGISTERS};

/// Two tiles of two harts on a torus.
const TILES: &str = r#"
name = "tiles"
description = "tiles on a torus"
timebase = "10 MHz"

[core.plain]
[core.plain.cycles]
int = 1
load = 1
store = 1
branch = 1
jump = 2
mul = 3
div = 20
fp = 4
fp-mul = 4
fp-div = 20
atomic = 5
address = 1
bit = 1
system = 3
[core.plain.l1d]
size = "1 KiB"
ways = 2

[[tile]]
name = "tile"
count = 2
clock = "1 GHz"
[[tile.hart]]
name = "user"
count = 2
isa = "rv64gc"
core = "plain"
[[tile.memory]]
base = 0x8000_0000
size = "1 MiB"
latency = "50 ns"
[[tile.device]]
kind = "clint"
base = 0x200_0000
[[tile.device]]
kind = "uart16550"
base = 0x1000_0000
interrupt = 1
[[tile.device]]
kind = "plic"
base = 0xc00_0000
sources = 3
[[tile.device]]
kind = "finisher"
base = 0x10_0000
[tile.dtu]
base = 0xf000_0000
endpoints = 4

[[link]]
name = "noc"
topology = "torus"
columns = 2
tiles = ["tile"]
latency = "20 ns"
width = "4 B"
clock = "400 MHz"
"#;

/// What every program begins with: the port is at s0, the tile's number in s1 and the hart's in s2.
const BEGIN: &str = r#"
    li s0, 0xf0000000
    ld s1, TILE(s0)
    csrr s2, mhartid
    csrw mie, zero
"#;

#[derive(Default)]
struct Printed(String);

impl Console for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.0 += &String::from_utf8_lossy(bytes);
    }
}

fn program(name: &str, text: &str) -> Vec<u8> {
    bare_assembly::build(name, "rv64gc", &format!("{REGISTERS}{BEGIN}{text}"))
}

/// What `ask` says of a machine whose tiles have ports in place of their units.
fn on_tiles<T>(
    settings: &[&str],
    firmware: &[u8],
    slice: Option<u64>,
    ask: impl FnOnce(&mut Machine) -> T,
) -> T {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let description = machine::Machine::parse("tiles.toml", TILES, &settings).unwrap();
    assert_eq!(description.missing(), []);
    let mut systems = System::all(&description).unwrap();
    for system in &mut systems {
        system.tile.dtu = None;
    }
    let board = |(tile, system): (usize, &System)| {
        let mut board = system.board(Vec::<BlockDisk>::new()).unwrap();
        let port = Box::new(PacketPort::new(tile));
        board.add_unit(0xf000_0000..0xf000_1000, port);
        (board, system.tile.harts.len())
    };
    let boards = systems.iter().enumerate().map(board);
    let boards = Boards::new(boards.collect(), &description.links);
    let files = Files {
        firmware: firmware.to_vec(),
        ..Files::default()
    };
    let booted = boot_tiles(&mut systems, &boards, &files).unwrap();
    let mut machine = Machine::of_tiles(&boards, &booted);
    if let Some(slice) = slice {
        let tiles = systems.iter().map(|system| &system.tile);
        let mut timing = timing_of_tiles(&description, tiles);
        timing.slice = slice * 1000;
        machine.set_timing(timing);
        machine.set_mode(true);
    }
    machine.limit(20_000_000);
    ask(&mut machine)
}

/// How a run ends, what it prints, and the cycles of its harts.
fn run(machine: &mut Machine) -> (End, String, Vec<u64>) {
    let mut printed = Printed::default();
    let end = machine.run(&mut printed);
    (end, printed.0, machine.cycles())
}

/// Runs a machine to `time`, and goes on in another one from there.
fn with_snapshot(settings: &[&str], firmware: &[u8], time: u64) -> (End, String, Vec<u64>) {
    let mut printed = Printed::default();
    let snapshot = on_tiles(settings, firmware, None, |machine| {
        assert_eq!(machine.run_until(time, &mut printed), None);
        Snapshot::take(machine, None)
    });
    on_tiles(settings, firmware, None, |machine| {
        snapshot.put(machine).unwrap();
        let (end, rest, cycles) = run(machine);
        (end, printed.0 + &rest, cycles)
    })
}

#[test]
fn the_shipped_cluster_machine_runs_whole() {
    let settings = ["tile.cluster.memory.size=256 KiB".to_owned()];
    let description = machine::Machine::load("mppa256", &settings).unwrap();
    assert_eq!(description.missing(), []);
    let mut systems = System::all(&description).unwrap();
    let boards = boards_of(&systems, &description, vec![], None).unwrap();
    // Each hart of each tile adds to a word of its tile; the last hart of a tile ends the machine.
    let firmware = bare_assembly::build(
        "mppa256",
        "rv64gc",
        r#"
            la t0, count
            li t1, 1
            amoadd.w t2, t1, (t0)
            li t3, 15
            li a0, 77
            beq t2, t3, end
        1:  wfi
            j 1b
            .balign 64
        count: .dword 0
            .balign 64
        "#,
    );
    let files = Files {
        firmware,
        ..Files::default()
    };
    let booted = boot_tiles(&mut systems, &boards, &files).unwrap();
    assert_eq!(booted.harts.len(), 256);
    assert_eq!(booted.names[16 * 3 + 6], "cluster3.user5");
    let mut machine = Machine::of_tiles(&boards, &booted);
    machine.limit(1_000_000);
    let (end, _, cycles) = run(&mut machine);
    assert_eq!((end, cycles.len()), (End::Exit(77), 256));
}
