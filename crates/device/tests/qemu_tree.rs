//! The device tree of the machine `virt` beside the one that QEMU writes, for the properties by
//! which firmware and kernels find devices; and OpenSBI with that tree.
use flick_device::Context;
use flick_device::fdt::{AddressRange, Chosen, DeviceNode, HartNode, MachineTree, Mmu};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Properties by path of the node.
type Nodes = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn text(bytes: &[u8]) -> String {
    let length = bytes.iter().position(|&b| b == 0).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

/// Reads a flattened device tree (Devicetree Specification, chapter 5).
fn read(blob: &[u8]) -> Nodes {
    assert_eq!(word(blob, 0), 0xd00d_feed);
    let (structure, strings) = (word(blob, 8), word(blob, 12));
    let mut nodes = Nodes::new();
    let mut path = Vec::<String>::new();
    let mut at = structure;
    loop {
        let token = word(blob, at);
        at += 4;
        match token {
            1 => {
                let name = text(&blob[at..]);
                at += (name.len() + 4) & !3;
                path.push(name);
                nodes.insert(path.join("/"), BTreeMap::new());
            }
            2 => drop(path.pop().unwrap()),
            3 => {
                let (length, name) = (word(blob, at), word(blob, at + 4));
                let value = blob[at + 8..at + 8 + length].to_vec();
                let name = text(&blob[strings + name..]);
                let node = nodes.get_mut(&path.join("/")).unwrap();
                assert!(node.insert(name, value).is_none());
                at += 8 + length.next_multiple_of(4);
            }
            4 => {}
            9 => break,
            other => panic!("token {other}"),
        }
    }
    assert!(path.is_empty());
    nodes
}

/// Properties whose cells at these positions, of a period, are phandles.
const HANDLES: [(&str, usize); 4] = [
    ("interrupt-parent", 1),
    ("interrupts-extended", 2),
    ("regmap", 1),
    ("cpu", 1),
];

/// A property as text, with the paths of the nodes in place of phandles.
fn meaning(nodes: &Nodes, name: &str, value: &[u8]) -> String {
    let Some((_, period)) = HANDLES.iter().find(|(handle, _)| *handle == name) else {
        return value.escape_ascii().to_string();
    };
    let cells = value.chunks(4).enumerate().map(|(index, cell)| {
        if index % period != 0 {
            return word(cell, 0).to_string();
        }
        let mut owners = nodes
            .iter()
            .filter(|(_, node)| node.get("phandle").is_some_and(|handle| handle == cell));
        owners.next().unwrap().0.clone()
    });
    cells.collect::<Vec<_>>().join(" ")
}

fn range(base: u64, size: u64) -> AddressRange {
    AddressRange { base, size }
}

/// QEMU's `virt` with two harts and 256 MiB.
fn virt(isa: &str, aclint: bool) -> MachineTree {
    let harts = || vec![0, 1];
    let mut devices = match aclint {
        false => vec![DeviceNode::Clint {
            range: range(0x200_0000, 0x1_0000),
            harts: harts(),
        }],
        true => vec![
            DeviceNode::Mswi {
                range: range(0x200_0000, 0x4000),
                harts: harts(),
            },
            DeviceNode::Mtimer {
                range: range(0x200_4000, 0x8000),
                harts: harts(),
            },
            DeviceNode::Sswi {
                range: range(0x2f0_0000, 0x4000),
                harts: harts(),
            },
        ],
    };
    devices.extend([
        DeviceNode::Plic {
            range: range(0xc00_0000, 0x60_0000),
            sources: 96,
            contexts: [0, 1]
                .iter()
                .flat_map(|&hart| [11, 9].map(|bit| Context { hart, bit }))
                .collect(),
        },
        DeviceNode::TestFinisher {
            range: range(0x10_0000, 0x1000),
        },
        DeviceNode::GoldfishRtc {
            range: range(0x10_1000, 0x1000),
            source: 11,
        },
        DeviceNode::Uart16550 {
            range: range(0x1000_0000, 0x100),
            source: 10,
            clock_frequency: 3_686_400,
            register_shift: 0,
        },
    ]);
    devices.extend((1..=8).map(|slot| DeviceNode::VirtioMmio {
        range: range(0x1000_0000 + slot * 0x1000, 0x1000),
        source: slot as u32,
    }));
    MachineTree {
        place: None,
        other_tiles: vec![],
        core_tiles: vec![],
        slice: 0,
        model: "riscv-virtio,qemu".to_owned(),
        compatible: vec!["riscv-virtio".to_owned()],
        timebase_frequency: 10_000_000,
        is_incoherent: false,
        writes_back: false,
        harts: (0..2)
            .map(|id| HartNode {
                id,
                isa: isa.to_owned(),
                mmu: Some(Mmu::Sv48),
                ..HartNode::default()
            })
            .collect(),
        memory: vec![range(0x8000_0000, 0x1000_0000)],
        boot_hart: 0,
        chosen: Chosen {
            bootargs: Some("console=ttyS0".to_owned()),
            initrd: None,
            stdout: Some(0x1000_0000),
            rng_seed: None,
            ends_machine: false,
        },
        devices,
    }
}

/// Nodes of devices that the machine lacks.
const ABSENT: [&str; 5] = ["/pmu", "/fw-cfg@", "/flash@", "/platform-bus@", "/soc/pci@"];
/// Properties that differ: handles are compared by what they lead to, the seed is random, and
/// newer kernels read the last two, which QEMU 7.2 lacks.
const OPEN: [&str; 4] = [
    "phandle",
    "rng-seed",
    "riscv,isa-base",
    "riscv,isa-extensions",
];

fn compare(ours: &Nodes, theirs: &Nodes) -> Vec<String> {
    let facts = |nodes: &Nodes| {
        let mut facts = BTreeMap::new();
        for (path, node) in nodes {
            if ABSENT.iter().any(|absent| path.starts_with(absent)) {
                continue;
            }
            facts.insert(path.clone(), String::new());
            for (name, value) in node {
                if !OPEN.contains(&&**name) {
                    facts.insert(format!("{path}:{name}"), meaning(nodes, name, value));
                }
            }
        }
        facts
    };
    let (ours, theirs) = (facts(ours), facts(theirs));
    let mut keys: Vec<_> = ours.keys().chain(theirs.keys()).collect();
    keys.sort();
    keys.dedup();
    let differ = keys
        .iter()
        .filter(|key| ours.get(**key) != theirs.get(**key));
    differ
        .map(|key| format!("{key}: {:?}, QEMU {:?}", ours.get(*key), theirs.get(*key)))
        .collect()
}

/// QEMU's tree, or nothing where QEMU is not installed.
fn qemu(folder: &std::path::Path, machine: &str) -> Option<Nodes> {
    let blob = folder.join("qemu.dtb");
    // QEMU takes a command line only with a kernel, and this kernel does not run.
    let kernel = folder.join("kernel");
    std::fs::write(&kernel, [0; 64]).unwrap();
    let output = Command::new("qemu-system-riscv64")
        .args(["-M", &format!("{machine},dumpdtb={}", blob.display())])
        .args(["-smp", "2", "-m", "256M", "-display", "none"])
        .args(["-append", "console=ttyS0", "-kernel"])
        .arg(kernel)
        .output()
        .ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(read(&std::fs::read(blob).unwrap()))
}

fn isa(nodes: &Nodes) -> String {
    text(&nodes["/cpus/cpu@0"]["riscv,isa"])
}

#[test]
fn the_tree_of_virt_is_that_of_qemu() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, aclint) in [("virt", false), ("virt,aclint=on", true)] {
        let Some(theirs) = qemu(folder.path(), machine) else {
            eprintln!("qemu-system-riscv64 is not installed: nothing is compared");
            return;
        };
        let ours = read(&virt(&isa(&theirs), aclint).to_blob().unwrap());
        let mut wrong = compare(&ours, &theirs);
        if aclint {
            // QEMU's range of `mtime` is longer than the register, and leaves the device's range.
            wrong.retain(|line| !line.starts_with("/soc/mtimer@2004000:reg: "));
            let reg = [0x200_bff8, 8, 0x200_4000, 0x7ff8].map(u64::to_be_bytes);
            assert_eq!(ours["/soc/mtimer@2004000"]["reg"], reg.concat());
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn the_tree_says_what_was_described() {
    let mut tree = virt("rv64gc_zicboz", false);
    tree.chosen.initrd = Some(range(0x8820_0000, 0x1234));
    tree.chosen.rng_seed = Some(vec![1, 2, 3]);
    tree.harts[1].cboz_block = Some(64);
    tree.harts[1].mmu = None;
    (tree.is_incoherent, tree.writes_back) = (true, true);
    let nodes = read(&tree.to_blob().unwrap());
    let chosen = &nodes["/chosen"];
    assert_eq!(chosen["linux,initrd-start"], 0x8820_0000_u64.to_be_bytes());
    assert_eq!(chosen["linux,initrd-end"], 0x8820_1234_u64.to_be_bytes());
    assert_eq!(chosen["rng-seed"], [1, 2, 3]);
    assert_eq!(text(&chosen["stdout-path"]), "/soc/serial@10000000");
    for name in ["flick,incoherent", "flick,write-back"] {
        assert!(nodes["/cpus"].contains_key(name), "{name}");
    }
    let hart = &nodes["/cpus/cpu@1"];
    assert_eq!(hart["riscv,cboz-block-size"], 64_u32.to_be_bytes());
    assert_eq!(text(&hart["mmu-type"]), "riscv,none");
    let extensions = b"i\0m\0a\0f\0d\0zicsr\0zifencei\0c\0zicboz\0";
    assert_eq!(hart["riscv,isa-extensions"], extensions);
    let lines = &nodes["/soc/plic@c000000"]["interrupts-extended"];
    let lines = meaning(&nodes, "interrupts-extended", lines);
    let (first, second) = ("/cpus/cpu@0", "/cpus/cpu@1");
    let controllers = [first, first, second, second].map(|p| format!("{p}/interrupt-controller"));
    let [a, b, c, d] = controllers;
    assert_eq!(lines, format!("{a} 11 {b} 9 {c} 11 {d} 9"));
    // The header names the hart that boots.
    tree.boot_hart = 1;
    assert_eq!(word(&tree.to_blob().unwrap(), 28), 1);
}

/// What OpenSBI prints on QEMU's machine with a tree of ours, up to its first line about the hart
/// that boots; nothing where QEMU or its OpenSBI is not installed.
fn opensbi(tree: &MachineTree, machine: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let blob = folder.path().join("ours.dtb");
    std::fs::write(&blob, tree.to_blob().unwrap()).unwrap();
    let process = Command::new("qemu-system-riscv64")
        .args(["-M", machine, "-smp", "2", "-m", "256M", "-dtb"])
        .arg(&blob)
        .args(["-display", "none", "-monitor", "none", "-serial", "stdio"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut process = process.ok()?;
    // A firmware that prints nothing ends here: the test fails, and does not wait for ever.
    let output = process.stdout.take().unwrap();
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.for_each(|line| drop(send.send(line)));
    });
    let mut text = String::new();
    while let Ok(line) = lines.recv_timeout(Duration::from_secs(20)) {
        text += &format!("{line}\n");
        if line.starts_with("Boot HART ID") {
            break;
        }
    }
    // Without its firmware QEMU has ended by itself.
    let ended = process.try_wait().unwrap().is_some();
    let _ = process.kill();
    let _ = process.wait();
    (!ended || !text.is_empty()).then_some(text)
}

#[test]
fn opensbi_finds_its_devices_by_the_tree() {
    for (machine, aclint) in [("virt", false), ("virt,aclint=on", true)] {
        let tree = virt("rv64imafdc_zicsr_zifencei", aclint);
        let Some(text) = opensbi(&tree, machine) else {
            eprintln!("QEMU or its OpenSBI is not installed: nothing is tried");
            return;
        };
        for (what, found) in [
            ("HART Count", "2"),
            ("IPI Device", "aclint-mswi"),
            ("Timer Device", "aclint-mtimer @ 10000000Hz"),
            ("Console Device", "uart8250"),
            ("Reboot Device", "sifive_test"),
            ("Shutdown Device", "sifive_test"),
        ] {
            let mut lines = text.lines().filter_map(|line| line.split_once(": "));
            let line = lines.find(|(name, _)| name.trim_end() == format!("Platform {what}"));
            let value = line.map(|(_, value)| value.trim_end());
            assert_eq!(value, Some(found), "{what} in\n{text}");
        }
    }
}
