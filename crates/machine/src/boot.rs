//! What is in memory when the machine starts: firmware, a kernel behind it, an initial RAM disk, and the
//! device tree. The firmware finds them as OpenSBI's `fw_dynamic` wants it, which is how QEMU's `virt`
//! starts it, too.
use std::ops::Range;

use flick_device::fdt::AddressRange;
use flick_timing::machine::Hart;

use crate::board::{Board, Boards};
use crate::described_system::{BadSystem, System};
use crate::hart_order::HartDescription;
use crate::htif::Htif;
use crate::program_file::{BadProgram, Program};

/// The files that a machine starts with.
#[derive(Debug, Default)]
pub struct Files {
    /// An RV64 ELF file, or an image for the start of memory.
    pub firmware: Vec<u8>,
    /// The same for tiles with one hart, if it is another.
    pub firmware_alone: Option<Vec<u8>>,
    /// The same for single tiles, by their numbers.
    pub firmware_of: Vec<(usize, Vec<u8>)>,
    /// A kernel that the firmware starts in S mode: an image, or an RV64 ELF file.
    pub kernel: Option<Vec<u8>>,
    /// An initial RAM disk for the kernel, or for firmware that is one.
    pub initrd: Option<Vec<u8>>,
    /// The command line of the kernel, or of firmware that is one.
    pub append: Option<String>,
    /// The same by tile, if tiles have different ones. One without a command line has no RAM disk either.
    pub append_by_tile: Option<Vec<Option<String>>>,
}

/// Where an image of a kernel is put behind the start of memory: 2 MiB, as Linux wants it.
const KERNEL: u64 = 2 << 20;
const ALIGNMENT: u64 = 2 << 20;
/// A tree begins at a page, so that it can be mapped alone.
const PAGE: u64 = 4096;
/// Room for a tree at the end of memory.
const TREE: u64 = 64 << 10;
/// `struct fw_dynamic_info` (OpenSBI, `include/sbi/fw_dynamic.h`).
const DYNAMIC_MAGIC: u64 = 0x4942_534f;
const DYNAMIC_VERSION: u64 = 2;
const SUPERVISOR: u64 = 1;
const FS_PER_PS: f64 = 1000.0;

/// Why a machine does not start.
#[derive(Debug, thiserror::Error)]
pub enum BadBoot {
    /// A file is unusable.
    #[error("{what}: {error}")]
    Program {
        /// Which one.
        what: &'static str,
        /// Why.
        error: BadProgram,
    },
    /// There is no such machine.
    #[error(transparent)]
    System(#[from] BadSystem),
    /// The files do not fit.
    #[error("the machine's memory of {memory:#x} bytes is too small for its {what}")]
    Room {
        /// Bytes.
        memory: u64,
        /// The file.
        what: &'static str,
    },
}

/// What runs on the board.
#[derive(Debug)]
pub struct Booted {
    /// The harts at their reset.
    pub harts: Vec<HartDescription>,
    /// The firmware.
    pub firmware: Program,
}

/// Puts the files into the memory of the system's board.
pub fn boot(system: &mut System, board: &Board, files: &Files) -> Result<Booted, BadBoot> {
    boot_with(system, board, &files.firmware, files)
}

/// The same with this firmware in place of that of `files`.
fn boot_with(
    system: &mut System,
    board: &Board,
    firmware: &[u8],
    files: &Files,
) -> Result<Booted, BadBoot> {
    let bad = |what| move |error| BadBoot::Program { what, error };
    let AddressRange { base, size: memory } = system.main_memory();
    let kernel_base = base.saturating_add(KERNEL);
    let mut firmware = Program::parse(firmware, base).map_err(bad("firmware"))?;
    firmware.load(board).map_err(bad("firmware"))?;
    if !system.has_htif() {
        firmware.htif = None;
    }
    let mut kernel_at = 0;
    let mut free = match files.initrd.is_some() && files.kernel.is_none() {
        true => firmware.end(),
        false => kernel_base,
    };
    if let Some(file) = &files.kernel {
        let kernel = Program::parse(file, kernel_base).map_err(bad("kernel"))?;
        kernel.load(board).map_err(bad("kernel"))?;
        kernel_at = kernel.entry;
        free = kernel
            .end()
            .max(image_size(file).saturating_add(kernel_base));
    }
    let room = |what| BadBoot::Room { memory, what };
    let (append, initrd) = match &files.append_by_tile {
        None => (files.append.clone(), files.initrd.as_ref()),
        Some(all) => {
            // The first tile ends the machine anyway, if it has a program.
            let first = all.iter().position(Option::is_some);
            system.chosen.ends_machine = board.tile() != 0 && first == Some(board.tile());
            let append = all.get(board.tile()).cloned().flatten();
            let initrd = files.initrd.as_ref().filter(|_| append.is_some());
            (append, initrd)
        }
    };
    system.chosen.bootargs = append;
    if let Some(initrd) = initrd {
        let size = initrd.len() as u64;
        let at = match files.kernel {
            // Behind the kernel, with room for what it allocates first.
            Some(_) => free.checked_next_multiple_of(ALIGNMENT),
            // Firmware that is the kernel has its own memory behind it.
            None => (base + memory)
                .checked_sub(TREE + size)
                .map(|at| at / PAGE * PAGE)
                .filter(|&at| at >= free),
        };
        let at = at.ok_or(room("initial RAM disk"))?;
        let written = board.write_memory(at, initrd);
        written.map_err(|_| room("initial RAM disk"))?;
        system.chosen.initrd = Some(AddressRange { base: at, size });
        free = at + size;
    }
    let boot_hart = system.boot_hart();
    let dynamic = [
        DYNAMIC_MAGIC,
        DYNAMIC_VERSION,
        kernel_at,
        SUPERVISOR,
        0,
        boot_hart.into(),
    ];
    let dynamic: Vec<u8> = dynamic.into_iter().flat_map(u64::to_le_bytes).collect();
    let tree = system.tree()?;
    let end = base + memory;
    let size = tree.len().next_multiple_of(8) + dynamic.len();
    let below = end.checked_sub(size as u64).ok_or(room("device tree"))?;
    // A memory without room for a kernel has it behind the firmware.
    let used = match kernel_at != 0 || files.initrd.is_some() {
        true => free,
        false => firmware.end(),
    };
    let places = [
        (below / ALIGNMENT * ALIGNMENT, free),
        (below / PAGE * PAGE, used),
    ];
    let mut places = places.into_iter();
    let (tree_at, _) = places
        .find(|&(at, from)| at >= from.max(base))
        .ok_or(room("device tree"))?;
    board
        .write_memory(tree_at, &tree)
        .map_err(|_| room("device tree"))?;
    // A machine that does not start from a memory of its own has this behind the tree.
    let dynamic_at = match system.boot_memory() {
        Some(memory) => memory.base,
        None => tree_at + tree.len().next_multiple_of(8) as u64,
    };
    board
        .write_memory(dynamic_at, &dynamic)
        .map_err(|_| room("start"))?;
    let hart = |hart: &Hart| HartDescription {
        tile: board.tile(),
        id: hart.id.into(),
        isa: hart.isa,
        mmu: hart.mmu,
        has_host_space: hart.has_host_space,
        period: (hart.period / FS_PER_PS).round().max(1.0) as u64,
        pc: firmware.entry,
        arguments: [hart.id.into(), tree_at, dynamic_at],
    };
    Ok(Booted {
        harts: system.tile.harts.iter().map(hart).collect(),
        firmware,
    })
}

/// What runs on the boards of all tiles.
#[derive(Debug)]
pub struct BootedTiles {
    /// The harts of all tiles at their reset.
    pub harts: Vec<HartDescription>,
    /// Their names.
    pub names: Vec<String>,
    /// Where bare programs say that they end, by tile.
    pub htif: Vec<Option<Htif>>,
    /// The tile whose console gets input: the first that has a console.
    pub input_tile: usize,
    /// Memory that is free for programs, by tile: from the firmware's end to the device tree.
    pub free: Vec<Range<u64>>,
}

/// Puts the files into the memories of the systems' boards. Each tile has the firmware. If there is a
/// kernel, it, its RAM disk and its command line are those of the first tile.
pub fn boot_tiles(
    systems: &mut [System],
    boards: &Boards,
    files: &Files,
) -> Result<BootedTiles, BadBoot> {
    let input_tile = systems.iter().position(System::has_console).unwrap_or(0);
    let mut booted = BootedTiles {
        harts: vec![],
        names: vec![],
        htif: vec![],
        input_tile,
        free: vec![],
    };
    let is_single = systems.len() == 1;
    for (system, board) in systems.iter_mut().zip(boards.all()) {
        // Firmware that is the kernel has the RAM disk and the command line on each tile.
        let mut own = files.firmware_of.iter();
        let own = own.find(|(tile, _)| *tile == board.tile());
        let firmware = match (own, &files.firmware_alone) {
            (Some((_, own)), _) => own,
            (_, Some(alone)) if system.tile.harts.len() == 1 => alone,
            _ => &files.firmware,
        };
        let tile = match (board.tile(), &files.kernel) {
            (0, _) | (_, None) => boot_with(system, board, firmware, files)?,
            _ => boot_with(system, board, firmware, &Files::default())?,
        };
        let start = tile.firmware.end().next_multiple_of(16);
        let end = tile.harts.first().map_or(0, |hart| hart.arguments[1]);
        booted.free.push(start.min(end)..end);
        booted.htif.push(tile.firmware.htif);
        booted.harts.extend(tile.harts);
        let harts = system.tile.harts.iter();
        booted.names.extend(harts.map(|hart| match is_single {
            true => format!("hart {}", hart.id),
            false => format!("{}.{}", system.tile.name, hart.name),
        }));
    }
    Ok(booted)
}

/// The bytes that a Linux image takes in memory (Linux, `Documentation/arch/riscv/boot-image-header.rst`);
/// 0 for other files.
fn image_size(file: &[u8]) -> u64 {
    const MAGIC: Range<usize> = 0x38..0x3c;
    const SIZE: Range<usize> = 0x10..0x18;
    let is_image = file.get(MAGIC) == Some(b"RSC\x05");
    let size = file.get(SIZE).and_then(|bytes| bytes.try_into().ok());
    size.filter(|_| is_image).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_timing::machine;

    const MEMORY: u64 = 0x8000_0000;

    fn virt(settings: &[&str]) -> System {
        let settings: Vec<String> = settings.iter().map(|&text| text.into()).collect();
        System::new(&machine::Machine::load("virt", &settings).unwrap()).unwrap()
    }

    #[test]
    fn files_are_behind_each_other() {
        let mut virt = virt(&["harts=2", "memory=16M"]);
        let board = virt.board(vec![]).unwrap();
        let files = Files {
            firmware: vec![0x13; 4],
            kernel: Some(vec![0x6f; 8]),
            initrd: Some(vec![7; 5]),
            append: Some("quiet".into()),
            ..Files::default()
        };
        let booted = boot(&mut virt, &board, &files).unwrap();
        assert_eq!(booted.harts[1].pc, MEMORY);
        let [id, tree, dynamic] = booted.harts[1].arguments;
        assert_eq!((id, dynamic), (1, 0x1000));
        let mut bytes = [0; 24];
        board.read_memory(dynamic, &mut bytes).unwrap();
        assert_eq!(bytes[16..], (MEMORY + KERNEL).to_le_bytes());
        assert_eq!(
            virt.chosen.initrd.unwrap().base,
            MEMORY + KERNEL + ALIGNMENT
        );
        board.read_memory(tree, &mut bytes[..4]).unwrap();
        assert_eq!(bytes[..4], [0xd0, 0x0d, 0xfe, 0xed]);
    }

    #[test]
    fn a_tile_with_one_hart_has_its_own_firmware() {
        let description = machine::Machine::load("card-two", &[]).unwrap();
        let mut systems = System::all(&description).unwrap();
        // The second tile keeps the kernel's hart alone.
        systems[1].tile.harts.truncate(1);
        let host = crate::host_board(&description, Box::new(flick_device::NoSpace)).unwrap();
        let (host, _) = host.unwrap();
        let boards = crate::boards_of(&systems, &description, vec![], Some(host)).unwrap();
        let files = Files {
            firmware: vec![0x13; 4],
            firmware_alone: Some(vec![0x6f; 4]),
            ..Files::default()
        };
        boot_tiles(&mut systems, &boards, &files).unwrap();
        let first = |board: &Board| {
            let mut bytes = [0; 4];
            board.read_memory(MEMORY, &mut bytes).unwrap();
            bytes
        };
        let [many, alone] = [0, 1].map(|tile| first(&boards.all()[tile]));
        assert_eq!((many, alone), ([0x13; 4], [0x6f; 4]));
    }

    #[test]
    fn firmware_can_be_the_kernel() {
        let mut small = virt(&["memory=2M"]);
        let board = small.board(vec![]).unwrap();
        let files = Files {
            firmware: vec![0x13; 4],
            initrd: Some(vec![7; 5000]),
            ..Files::default()
        };
        boot(&mut small, &board, &files).unwrap();
        let base = small.chosen.initrd.unwrap().base;
        assert_eq!(base, MEMORY + (2 << 20) - TREE - 2 * PAGE);
        let files = Files {
            initrd: Some(vec![7; 2 << 20]),
            ..files
        };
        let error = boot(&mut small, &board, &files).unwrap_err();
        assert!(error.to_string().ends_with("its initial RAM disk"));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let mut small = virt(&["memory=4M"]);
        let board = small.board(vec![]).unwrap();
        let mut files = Files {
            firmware: vec![0; 4],
            initrd: Some(vec![0; 4 << 20]),
            ..Files::default()
        };
        let error = boot(&mut small, &board, &files).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the machine's memory of 0x400000 bytes is too small for its initial RAM disk"
        );
        files.firmware = b"\x7fELF\x01".to_vec();
        let error = boot(&mut small, &board, &files).unwrap_err();
        assert_eq!(
            error.to_string(),
            "firmware: it is an ELF file, but not for RV64"
        );
        let mut image = vec![0; 0x40];
        image[0x10..0x18].copy_from_slice(&u64::MAX.to_le_bytes());
        image[0x38..0x3c].copy_from_slice(b"RSC\x05");
        files = Files {
            firmware: vec![0; 4],
            kernel: Some(image),
            initrd: Some(vec![]),
            ..Files::default()
        };
        boot(&mut small, &board, &files).unwrap_err();
    }
}
