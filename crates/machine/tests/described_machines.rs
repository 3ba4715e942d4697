//! Machine files as machines: what the shipped ones give, harts that differ, and any texts.
use flick_machine::{Board, Console, End, Files, Machine, System, boot};
use flick_timing::machine;

#[path = "fuzz/any_machine_file.rs"]
mod any_machine_file;
mod bare_assembly;

use bare_assembly::build;

fn system(name: &str, settings: &[&str]) -> System {
    let settings: Vec<String> = settings.iter().map(|&text| text.into()).collect();
    let machine = machine::Machine::load(name, &settings).unwrap();
    assert_eq!(machine.missing(), []);
    System::new(&machine).unwrap()
}

#[derive(Default)]
struct Printed(String);

impl Console for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.0 += &String::from_utf8_lossy(bytes);
    }
}

/// How a program in assembly ends and what it prints, on harts that all begin at its first
/// instruction with their number in a0.
fn run(name: &str, system: &mut System, text: &str) -> (End, String, Vec<u64>) {
    let firmware = build(name, "rv64gcv", text);
    let board: Board = system.board(vec![]).unwrap();
    let files = Files {
        firmware,
        ..Files::default()
    };
    let booted = boot(system, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
    machine.limit(1_000_000);
    let mut printed = Printed::default();
    let end = machine.run(&mut printed);
    (end, printed.0, machine.cycles())
}

/// Hart 4 alone has vectors: the others take an exception for them, and misa says so.
#[test]
fn harts_differ_in_their_extensions() {
    for name in ["spike-rvv", "rocket-rvv"] {
        let mut system = system(name, &["memory=16M"]);
        let text = r#"
            la t0, handler
            csrw mtvec, t0
            li s0, 1
            li t0, 0x600
            csrs mstatus, t0
            csrr s1, misa
            srli s1, s1, 21
            andi s1, s1, 1
            vsetvli t0, zero, e8, m1, ta, ma
            j tell
            .balign 4
            handler: li s0, 0
            tell: bne s0, s1, bad
            # The harts with vectors add 16, the others 1.
            slli t1, s0, 4
            bnez t1, add
            li t1, 1
            add: la t0, sum
            amoadd.w t2, t1, (t0)
            bnez a0, stop
            wait: lw t1, (t0)
            li t2, 20
            bne t1, t2, wait
            li t0, 0x100000
            li t1, 0x5555
            sw t1, (t0)
            bad: li t0, 0x100000
            addi t1, a0, 1
            slli t1, t1, 16
            li t2, 0x3333
            add t1, t1, t2
            sw t1, (t0)
            stop: wfi
            j stop
            .data
            .balign 4
            sum: .word 0"#;
        let (end, ..) = run(&format!("unequal-{name}"), &mut system, text);
        assert_eq!(end, End::Exit(0), "{name}");
        assert_eq!(system.boot_hart(), 0);
    }
}

/// Several memories, a console that is another port, and clocks that differ.
#[test]
fn memories_ports_and_clocks_are_those_of_the_file() {
    let file = r#"
        name = "own"
        description = "memories, ports and clocks of its own"
        timebase = "1 MHz"
        [[tile]]
        name = "board"
        clock = "1 GHz"
        [[tile.hart]]
        isa = "rv64gc"
        [[tile.hart]]
        isa = "rv64gc"
        clock = "250 MHz"
        [[tile.memory]]
        base = 0x8000_0000
        size = "4 MiB"
        [[tile.memory]]
        name = "far"
        base = 0x10_0000_0000
        size = "64 KiB"
        [[tile.memory]]
        name = "pad"
        use = "scratchpad"
        base = 0x4000_0000
        size = "4 KiB"
        [[tile.device]]
        kind = "mtimer"
        base = 0x300_0000
        [[tile.device]]
        kind = "mswi"
        base = 0x301_0000
        [[tile.device]]
        kind = "plic"
        base = 0xc00_0000
        sources = 3
        [[tile.device]]
        kind = "finisher"
        base = 0x5000
        [[tile.device]]
        kind = "uart16550"
        base = 0x6000
        size = "4 KiB"
        shift = 2
        interrupt = 3
        [[tile.device]]
        kind = "virtio-mmio"
        base = 0x7000
        device = "console"
        interrupt = 2
    "#;
    let described = machine::Machine::parse("own.toml", file, &[]).unwrap();
    let mut system = System::new(&described).unwrap();
    // Hart 1 stores to the other memories and raises hart 0's interrupt.
    let text = r#"
        li t0, 0x40000000
        li t1, 0x1000000000
        bnez a0, other
        wait: csrr t2, mip
        andi t2, t2, 8
        beqz t2, wait
        lw t2, (t0)
        lw t3, (t1)
        li t4, 0x6000
        sb t2, (t4)
        sb t3, (t4)
        li t5, 20000
        longer: addi t5, t5, -1
        bnez t5, longer
        li t4, 0x5000
        li t5, 0x5555
        sw t5, (t4)
        other: li t2, 'o'
        sw t2, (t0)
        li t2, 'k'
        sw t2, (t1)
        li t0, 0x3010000
        li t2, 1
        sw t2, (t0)
        stop: j stop"#;
    let (end, printed, cycles) = run("own", &mut system, text);
    assert_eq!((end, &*printed), (End::Exit(0), "ok"));
    // Four cycles of hart 0 take as long as one of hart 1.
    assert!(cycles[0] > 2 * cycles[1], "{cycles:?}");
    let tree = String::from_utf8_lossy(&system.tree().unwrap()).into_owned();
    for node in [
        "memory@80000000",
        "memory@1000000000",
        "riscv,aclint-mtimer",
        "serial@6000",
        "/soc/serial@6000",
        "virtio_mmio@7000",
    ] {
        assert!(tree.contains(node), "{node}");
    }
    assert!(!tree.contains("memory@40000000"));
}

/// What `mmu` says is in the device tree, by hart.
#[test]
fn the_tree_has_the_modes_of_address_translation() {
    let modes = |settings: &[&str]| -> Vec<String> {
        let tree = system("virt", settings).tree().unwrap();
        let tree = String::from_utf8_lossy(&tree).into_owned();
        let modes = tree
            .split("riscv,")
            .skip(1)
            .map(|rest| rest.split('\0').next().unwrap());
        let is_mode = |text: &&str| text.starts_with("sv") || *text == "none";
        modes.filter(is_mode).map(str::to_owned).collect()
    };
    assert_eq!(modes(&["harts=2"]), ["sv57"; 2]);
    for (mmu, named) in [("bare", "none"), ("sv39", "sv39"), ("sv48", "sv48")] {
        let setting = format!("tile.board.hart.mmu={mmu}");
        assert_eq!(modes(&["harts=1", &setting]), [named]);
    }
}

#[test]
fn any_texts_are_read_or_refused() {
    let virt = std::fs::read("../../machines/virt.toml").unwrap();
    any_machine_file::read_any(&virt);
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    const PIECES: [&[u8]; 14] = [
        b"0",
        b"1",
        b"\"",
        b"[",
        b"]",
        b"\n",
        b"=",
        b".",
        b"99999999999999999999",
        b"[[tile]]\n",
        b"[[tile.hart]]\n",
        b"base = 0\n",
        b"size = \"1 B\"\n",
        b"-",
    ];
    for _ in 0..2000 {
        let mut text = virt.clone();
        for _ in 0..1 + next(3) {
            let at = next(text.len());
            let end = (at + next(12)).min(text.len());
            text.splice(at..end, PIECES[next(PIECES.len())].iter().copied());
        }
        any_machine_file::read_any(&text);
        let settings = b"tile.0.hart.0.count=3\nmemory=1G\0";
        any_machine_file::read_any(&[settings, &text[..]].concat());
    }
}
