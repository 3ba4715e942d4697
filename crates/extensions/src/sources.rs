//! Which CPU has which extension: what Linux says, and the device tree that it was started with.
//!
//! | source | what it has |
//! |---|---|
//! | `/proc/cpuinfo` | CPUs that are online; each one's extensions that Linux knows, vendor and implementation |
//! | `riscv_hwprobe` | the same extensions, by bits, where there is no such file |
//! | device tree | each CPU's extensions, with those that Linux does not know |
//!
//! They are joined: what one of them says of a CPU is taken as true.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flick_abi::march;

use crate::cpu_set::{CpuSet, LIMIT};
use crate::cpus::Cpu;

/// CPUs as `/proc/cpuinfo` has them. Up to Linux 6.5 `isa` is each CPU's own, and later `hart isa`.
pub fn of_cpuinfo(text: &str) -> Vec<Cpu> {
    let mut cpus = Vec::new();
    for block in text.split("\n\n") {
        let value = |key: &str| {
            let lines = block.lines().filter_map(|line| line.split_once(':'));
            let mut values = lines.filter(|(name, _)| name.trim() == key);
            values.next().map(|(_, value)| value.trim())
        };
        let number = value("processor").and_then(|number| number.parse().ok());
        let Some(number) = number.filter(|&number| number < LIMIT) else {
            continue;
        };
        let isa = value("hart isa").or_else(|| value("isa")).unwrap_or("");
        let identity = ["mvendorid", "marchid", "mimpid"];
        cpus.push(Cpu {
            number,
            extensions: of_isa(isa),
            opcodes: 0,
            identity: identity.map(|key| value(key).unwrap_or("").to_owned()),
        });
    }
    cpus
}

/// The extensions of an ISA string; none if it is none of RV64.
fn of_isa(isa: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let whole = march::extensions(isa, |name| {
        names.insert(name.to_owned());
    });
    if whole.is_some() {
        names
    } else {
        BTreeSet::new()
    }
}

/// The extensions that a CPU's node of the device tree names: `riscv,isa-extensions` is a list of
/// strings with a zero behind each, and `riscv,isa` is an ISA string.
pub fn of_node(list: Option<&[u8]>, isa: Option<&[u8]>) -> BTreeSet<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let mut names = BTreeSet::new();
    for name in list.unwrap_or(&[]).split(|&byte| byte == 0) {
        let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
        if is_name {
            names.insert(text(name));
        }
    }
    let isa = isa.and_then(|isa| isa.split(|&byte| byte == 0).next());
    names.extend(isa.map(|isa| of_isa(&text(isa))).unwrap_or_default());
    names
}

/// Bits of the key `RISCV_HWPROBE_KEY_IMA_EXT_0` (Linux, `arch/riscv/hwprobe.rst`), for extensions
/// without state that the kernel saves.
const PROBED: [(u32, &str); 24] = [
    (3, "zba"),
    (4, "zbb"),
    (5, "zbs"),
    (6, "zicboz"),
    (7, "zbc"),
    (8, "zbkb"),
    (9, "zbkc"),
    (10, "zbkx"),
    (11, "zknd"),
    (12, "zkne"),
    (13, "zknh"),
    (14, "zksed"),
    (15, "zksh"),
    (27, "zfh"),
    (28, "zfhmin"),
    (29, "zihintntl"),
    (32, "zfa"),
    (34, "zacas"),
    (35, "zicond"),
    (36, "zihintpause"),
    (42, "zimop"),
    (44, "zcb"),
    (47, "zcmop"),
    (48, "zawrs"),
];

/// The extensions of these bits.
fn of_probed(bits: u64) -> impl Iterator<Item = &'static str> {
    let has = move |(bit, _): &(u32, _)| bits >> bit & 1 != 0;
    PROBED.into_iter().filter(has).map(|(_, name)| name)
}

/// What `riscv_hwprobe` says of one CPU; `None`: the kernel lacks it, as all before Linux 6.4.
#[cfg(target_arch = "riscv64")]
fn probe(cpu: usize) -> Option<u64> {
    const RISCV_HWPROBE: libc::c_long = 258;
    const IMA_EXT_0: i64 = 4;
    #[repr(C)]
    struct Pair {
        key: i64,
        value: u64,
    }
    let mut pair = Pair {
        key: IMA_EXT_0,
        value: 0,
    };
    let set = CpuSet::from_iter([cpu]);
    let words = set.words();
    // SAFETY: the pair and the set live across the call, and have the sizes that it is told.
    let status = unsafe {
        libc::syscall(
            RISCV_HWPROBE,
            &raw mut pair,
            1,
            size_of_val(words),
            words,
            0,
        )
    };
    (status == 0 && pair.key == IMA_EXT_0).then_some(pair.value)
}

#[cfg(not(target_arch = "riscv64"))]
fn probe(_cpu: usize) -> Option<u64> {
    None
}

/// The CPUs that are online, with all that the system under `root` says of them. `root` is `/`.
pub fn of_system(root: &Path) -> Vec<Cpu> {
    let mut cpus = of_cpuinfo(&fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default());
    if cpus.is_empty() {
        let online = fs::read_to_string(root.join("sys/devices/system/cpu/online"));
        let online = online.ok().and_then(|text| text.trim().parse().ok());
        cpus.extend(online.unwrap_or(CpuSet::EMPTY).iter().map(|number| Cpu {
            number,
            ..Cpu::default()
        }));
    }
    for cpu in &mut cpus {
        let node = root.join(format!("sys/devices/system/cpu/cpu{}/of_node", cpu.number));
        let property = |name: &str| fs::read(node.join(name)).ok();
        let (list, isa) = (property("riscv,isa-extensions"), property("riscv,isa"));
        cpu.extensions
            .extend(of_node(list.as_deref(), isa.as_deref()));
        let probed = probe(cpu.number).into_iter().flat_map(of_probed);
        cpu.extensions.extend(probed.map(String::from));
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str = "processor\t: 0\nhart\t\t: 0\nisa\t\t: rv64imafdc_zicntr\nmmu\t\t: sv57\n\
        mvendorid\t: 0x0\nmarchid\t\t: 0x0\nmimpid\t\t: 0x1\nhart isa\t: rv64imafdc_zicntr\n\n\
        processor\t: 1\nhart\t\t: 3\nisa\t\t: rv64imafdc_zicntr\nmmu\t\t: sv57\n\
        mvendorid\t: 0x0\nmarchid\t\t: 0x0\nmimpid\t\t: 0x1\nhart isa\t: rv64imafdc_zicntr_zba\n\n";

    #[test]
    fn each_cpu_has_its_own_extensions() {
        let cpus = of_cpuinfo(CPUINFO);
        assert_eq!(cpus.len(), 2);
        assert!(!cpus[0].extensions.contains("zba"));
        assert!(cpus[1].extensions.contains("zba") && cpus[1].extensions.contains("d"));
        assert_eq!(cpus[1].identity, ["0x0", "0x0", "0x1"]);
        let old = of_cpuinfo("processor : 2\nisa : rv64imac_zbb\n");
        assert!(old[0].extensions.contains("zbb"));
    }

    #[test]
    fn what_is_malformed_is_no_cpu_or_has_no_extensions() {
        for text in [
            "",
            "\n\n\n",
            "processor\n",
            "processor: -1\n",
            "processor: 1024\n",
        ] {
            assert_eq!(of_cpuinfo(text), [], "{text:?}");
        }
        let cpus = of_cpuinfo("processor: 0\nisa: rv32imac\n\nprocessor: 1\nisa: rv64_\n");
        assert!(cpus.iter().all(|cpu| cpu.extensions.is_empty()));
    }

    #[test]
    fn nodes_of_the_device_tree() {
        let names = |list, isa| of_node(list, isa).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(names(Some(b"i\0zba\0xacme\0"), None), "i xacme zba");
        assert_eq!(names(None, Some(b"rv64ima_zbs\0")), "a i m zbs");
        assert_eq!(names(Some(b"\0\xff\0a b\0"), Some(b"what")), "");
    }

    #[test]
    fn bits_of_the_kernel() {
        assert_eq!(of_probed(0b1_1111).collect::<Vec<_>>(), ["zba", "zbb"]);
        assert_eq!(of_probed(1 << 35).collect::<Vec<_>>(), ["zicond"]);
    }

    #[test]
    fn a_system_without_cpuinfo() {
        let root = tempfile::tempdir().unwrap();
        let cpu = root.path().join("sys/devices/system/cpu");
        fs::create_dir_all(cpu.join("cpu1/of_node")).unwrap();
        fs::write(cpu.join("online"), "0-1\n").unwrap();
        fs::write(cpu.join("cpu1/of_node/riscv,isa-extensions"), "i\0xacme\0").unwrap();
        let cpus = of_system(root.path());
        assert_eq!(cpus.len(), 2);
        assert!(cpus[1].extensions.contains("xacme"));
    }
}
