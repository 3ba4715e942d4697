//! Reads the entries of a file of faults.
use flick_abi::accelerator::STATE_NAMES;
use toml::de::DeTable;

use super::{
    Action, Fault, LineFault, PacketChoice, PacketClass, PacketFault, Queue, Register,
    RequestFault, Time, When,
};
use crate::platform::Error;
use crate::platform::quantity::LONG_TIME;
use crate::platform::toml_reader::{Source, Table};

const REFERENCE: &str = "docs/faults.md";
const FS_PER_PS: f64 = 1000.0;
/// Cycles, instructions or times.
const MOST: u64 = 1 << 53;
const MOST_FAULTS: usize = 10_000;

/// What a fault may do.
const ACTIONS: [&str; 20] = [
    "stop-hart",
    "stop-tile",
    "flip-memory",
    "flip-register",
    "raise-line",
    "suppress-line",
    "delay-line",
    "drop-request",
    "delay-request",
    "repeat-request",
    "fail-request",
    "refuse-access",
    "corrupt-input",
    "drop-message",
    "delay-message",
    "repeat-message",
    "corrupt-descriptor",
    "fill-queue",
    "reset",
    // There are no such faults yet.
    "corrupt-message",
];
const FIRST_UNKNOWN: usize = 19;

/// Fields of a descriptor: the word, and the place of the lowest bit in it (`docs/card.md`).
const FIELDS: [(&str, (usize, u32)); 12] = [
    ("version", (0, 0)),
    ("kind", (0, 32)),
    ("process", (1, 0)),
    ("tile", (1, 48)),
    ("owner", (2, 0)),
    ("activation", (3, 0)),
    ("pc", (4, 0)),
    ("sp", (5, 0)),
    ("address", (6, 0)),
    ("fcsr", (7, 0)),
    ("a0", (8, 0)),
    ("fa0", (16, 0)),
];

const PACKET_CLASSES: [(&str, PacketClass); 5] = [
    ("message", PacketClass::Message),
    ("answer", PacketClass::Answer),
    ("credit", PacketClass::Credit),
    ("data", PacketClass::Data),
    ("confirmation", PacketClass::Confirmation),
];

const QUEUES: [(&str, Queue); 2] = [("ring", Queue::Ring), ("kernel", Queue::Kernel)];

const LINES: [(&str, u32); 5] = [
    ("SSIP", 1),
    ("MSIP", 3),
    ("MTIP", 7),
    ("SEIP", 9),
    ("MEIP", 11),
];

/// Control and status registers by name (privileged manual, "CSR Listing").
const CSRS: [(&str, u32); 24] = [
    ("fflags", 0x001),
    ("frm", 0x002),
    ("fcsr", 0x003),
    ("sstatus", 0x100),
    ("sie", 0x104),
    ("stvec", 0x105),
    ("sscratch", 0x140),
    ("sepc", 0x141),
    ("scause", 0x142),
    ("stval", 0x143),
    ("stimecmp", 0x14d),
    ("satp", 0x180),
    ("mstatus", 0x300),
    ("medeleg", 0x302),
    ("mideleg", 0x303),
    ("mie", 0x304),
    ("mtvec", 0x305),
    ("mcounteren", 0x306),
    ("menvcfg", 0x30a),
    ("mscratch", 0x340),
    ("mepc", 0x341),
    ("mcause", 0x342),
    ("mtval", 0x343),
    ("mip", 0x344),
];

const X_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// Names of tiles, and how many harts they have.
type Tiles<'t> = &'t [(&'t str, usize)];

pub fn parse(file: &str, text: &str, tiles: Tiles<'_>) -> Result<Vec<Fault>, Error> {
    let source = Source::new(file, text, REFERENCE);
    let document = DeTable::parse(text).map_err(|error| {
        source.error(
            error.span().unwrap_or(0..0),
            format!("not TOML: {}", error.message()),
            "correct it (https://toml.io)",
        )
    })?;
    let mut root = Table::of_document(&source, &document);
    let entries = root.tables("fault")?;
    if entries.is_empty() || entries.len() > MOST_FAULTS {
        let help = "write a table [[fault]] with at and do";
        let why = format!("it has {} faults, not 1 to {MOST_FAULTS}", entries.len());
        return Err(source.error(0..0, why, help));
    }
    let faults = entries.into_iter().map(|entry| fault(entry, tiles));
    let faults = faults.collect::<Result<_, _>>()?;
    root.end()?;
    source.complete()?;
    Ok(faults)
}

fn fault(mut table: Table<'_>, tiles: Tiles<'_>) -> Result<Fault, Error> {
    let line = table.line();
    let at = table.table_even_empty("at")?;
    // The message about what is missing comes at the end.
    let when = match table.has("at") {
        true => when(at, tiles)?,
        false => When::Time(0),
    };
    let action = action(&mut table, tiles)?;
    let is_of_tiles = matches!(action, Action::StopTile { .. } | Action::Packets { .. });
    if matches!(when, When::State { .. }) && !is_of_tiles {
        let why = "it cannot happen at a state of an accelerator";
        let help = "use stop-tile, drop-message, delay-message or repeat-message, or a time";
        return Err(table.error("do", why, help));
    }
    table.end()?;
    Ok(Fault { line, when, action })
}

/// The number of the tile that a key names, if it is there.
fn tile(
    table: &mut Table<'_>,
    key: &'static str,
    tiles: Tiles<'_>,
) -> Result<Option<usize>, Error> {
    let name = table.text_or(key, "")?;
    if !table.has(key) {
        return Ok(None);
    }
    let names: Vec<&str> = tiles.iter().map(|(name, _)| *name).collect();
    let found = names.iter().position(|known| *known == name);
    found.map(Some).ok_or_else(|| {
        let why = format!("\"{name}\" is no tile of the machine");
        table.error(key, &why, &flick_names::use_one_of(&name, &names))
    })
}

/// The number of the tile that has to be named.
fn named_tile(table: &mut Table<'_>, tiles: Tiles<'_>) -> Result<usize, Error> {
    table.text("tile")?;
    Ok(tile(table, "tile", tiles)?.unwrap_or(0))
}

/// The number in the machine of a hart that has this number in its tile.
fn hart(table: &mut Table<'_>, tiles: Tiles<'_>) -> Result<usize, Error> {
    let tile = tile(table, "tile", tiles)?.unwrap_or(0);
    let hart = table.count("hart", (0, u64::from(u32::MAX)))? as usize;
    let count = tiles.get(tile).map_or(0, |(_, harts)| *harts);
    if hart >= count {
        let of = match tiles.len() {
            0 | 1 => "the machine".to_owned(),
            _ => format!("tile {}", tiles[tile].0),
        };
        let why = format!("there is no hart {hart}: {of} has {count}");
        let help = "name a hart that the machine has, or give it more by --set";
        return Err(table.error("hart", &why, help));
    }
    let before = tiles[..tile].iter().map(|(_, harts)| harts);
    Ok(before.sum::<usize>() + hart)
}

fn when(mut table: Table<'_>, tiles: Tiles<'_>) -> Result<When, Error> {
    const KINDS: [&str; 5] = ["time", "cycle", "instruction", "address", "state"];
    let kinds: Vec<_> = KINDS.into_iter().filter(|kind| table.has(kind)).collect();
    let when = match kinds[..] {
        ["time"] => When::Time(time(&mut table, "time")?),
        ["cycle"] => When::Cycle {
            hart: hart(&mut table, tiles)?,
            cycle: table.count("cycle", (0, MOST))?,
        },
        ["instruction"] => When::Instruction {
            hart: hart(&mut table, tiles)?,
            instruction: table.count("instruction", (0, MOST))?,
        },
        ["address"] => When::Address {
            hart: hart(&mut table, tiles)?,
            address: table.bits("address")?,
            times: table.count_or("times", (1, MOST), 1)?,
        },
        ["state"] => When::State {
            tile: named_tile(&mut table, tiles)?,
            state: table.choice_or("state", &STATE_NAMES, 0)?,
            times: table.count_or("times", (1, MOST), 1)?,
        },
        _ => {
            let why = "it needs one of time, cycle, instruction, address and state";
            let help = "use at = { time = \"2 ms\" }, or { hart = 0, address = 0x8000_0000 }";
            return Err(table.error("", why, help));
        }
    };
    table.end()?;
    Ok(when)
}

fn time(table: &mut Table<'_>, key: &'static str) -> Result<Time, Error> {
    Ok((table.quantity(key, &LONG_TIME)? / FS_PER_PS).round() as Time)
}

fn time_if(table: &mut Table<'_>, key: &'static str) -> Result<Option<Time>, Error> {
    match table.has(key) {
        true => time(table, key).map(Some),
        false => {
            table.quantity_or(key, &LONG_TIME, 0.0)?;
            Ok(None)
        }
    }
}

/// Bits that change: one at least.
fn mask(table: &mut Table<'_>, most: u64) -> Result<u64, Error> {
    let bits = table.bits("bits")?;
    if bits > most || bits == 0 && table.has("bits") {
        let why = format!("{bits:#x} is not in the range 1 to {most:#x}");
        return Err(table.error("bits", &why, "use a mask of bits such as 0x10"));
    }
    Ok(bits)
}

fn action(table: &mut Table<'_>, tiles: Tiles<'_>) -> Result<Action, Error> {
    let name = table.text("do")?;
    if !table.has("do") {
        // As above.
        let cycles = None;
        return Ok(Action::StopHart { hart: 0, cycles });
    }
    let known = ACTIONS.iter().position(|action| *action == name);
    if known.is_some_and(|number| number >= FIRST_UNKNOWN) {
        let help = "leave it out: this version has no such faults yet";
        return Err(table.error("do", &format!("\"{name}\" is a fault to come"), help));
    }
    let (line, request) = (
        |table: &mut Table<'_>, fault, key| line_fault(table, tiles, fault, key),
        |table: &mut Table<'_>, fault| request_fault(table, fault),
    );
    match name.as_str() {
        "stop-hart" => Ok(Action::StopHart {
            hart: hart(table, tiles)?,
            cycles: match table.count_or("cycles", (1, MOST), 0)? {
                0 => None,
                cycles => Some(cycles),
            },
        }),
        "stop-tile" => {
            let tile = named_tile(table, tiles)?;
            if table.has("tile") && tiles.get(tile).is_some_and(|(_, harts)| *harts != 0) {
                let why = format!("tile {} has harts", tiles[tile].0);
                return Err(table.error("tile", &why, "use stop-hart for its harts"));
            }
            Ok(Action::StopTile { tile })
        }
        "flip-memory" => {
            let address = table.address("address")?;
            if !address.is_multiple_of(8) {
                let help = "use a multiple of 8, and bits of the doubleword there";
                return Err(table.error("address", "it is no doubleword's", help));
            }
            Ok(Action::FlipMemory {
                tile: tile(table, "tile", tiles)?.unwrap_or(0),
                address,
                bits: mask(table, u64::MAX)?,
            })
        }
        "flip-register" => Ok(Action::FlipRegister {
            hart: hart(table, tiles)?,
            register: register(table)?,
            bits: mask(table, u64::MAX)?,
        }),
        "raise-line" => line(table, LineFault::Raise, "for"),
        "suppress-line" => line(table, LineFault::Suppress, "for"),
        "delay-line" => line(table, LineFault::Delay, "by"),
        "drop-request" => request(table, RequestFault::Drop),
        "repeat-request" => request(table, RequestFault::Repeat),
        "fail-request" => request(table, RequestFault::Fail),
        "delay-request" => {
            let by = time(table, "by")?;
            request(table, RequestFault::Delay(by))
        }
        "drop-message" => packets(table, tiles, PacketFault::Drop),
        "delay-message" => {
            let by = time(table, "by")?;
            packets(table, tiles, PacketFault::Delay(by))
        }
        "repeat-message" => {
            let by = time_if(table, "by")?.unwrap_or(0);
            packets(table, tiles, PacketFault::Repeat(by))
        }
        "refuse-access" => {
            let address = table.address("address")?;
            let size = table.quantity("size", &crate::platform::quantity::SIZE)?;
            let time = time_if(table, "for")?;
            let size = size as u64;
            Ok(Action::Refuse {
                tile: tile(table, "tile", tiles)?.unwrap_or(0),
                address,
                size,
                time,
            })
        }
        "corrupt-input" => Ok(Action::CorruptInput {
            bits: mask(table, 0xff)? as u8,
            bytes: table.count_or("bytes", (1, MOST), 1)?,
        }),
        "corrupt-descriptor" => {
            let names = FIELDS.map(|(name, _)| name);
            table.text("field")?;
            let field = table.choice_or("field", &names, 0)?;
            let (word, shift) = FIELDS[field].1;
            Ok(Action::CorruptDescriptor {
                word,
                bits: mask(table, u64::MAX >> shift)? << shift,
                descriptors: table.count_or("descriptors", (1, MOST), 1)?,
            })
        }
        "fill-queue" => {
            let names = QUEUES.map(|(name, _)| name);
            table.text("queue")?;
            let queue = table.choice_or("queue", &names, 0)?;
            Ok(Action::FillQueue {
                queue: QUEUES[queue].1,
                tile: tile(table, "tile", tiles)?.unwrap_or(0),
                time: time(table, "for")?,
            })
        }
        "reset" => Ok(Action::Reset),
        _ => {
            let help = flick_names::use_one_of(&name, &ACTIONS[..FIRST_UNKNOWN]);
            Err(table.error("do", &format!("\"{name}\" is not known"), &help))
        }
    }
}

fn line_fault(
    table: &mut Table<'_>,
    tiles: Tiles<'_>,
    fault: LineFault,
    key: &'static str,
) -> Result<Action, Error> {
    let hart = hart(table, tiles)?;
    let names = LINES.map(|(name, _)| name);
    table.text("line")?;
    let line = table.choice_or("line", &names, 0)?;
    let time = match fault {
        LineFault::Delay => Some(time(table, key)?),
        _ => time_if(table, key)?,
    };
    Ok(Action::Line {
        hart,
        bit: LINES[line].1,
        fault,
        time,
    })
}

fn request_fault(table: &mut Table<'_>, fault: RequestFault) -> Result<Action, Error> {
    Ok(Action::Request {
        disk: table.count_or("disk", (0, 255), 0)? as usize,
        requests: table.count_or("requests", (1, 1 << 20), 1)?,
        fault,
    })
}

fn packets(table: &mut Table<'_>, tiles: Tiles<'_>, fault: PacketFault) -> Result<Action, Error> {
    let from = tile(table, "from", tiles)?;
    let to = tile(table, "to", tiles)?;
    let names = PACKET_CLASSES.map(|(name, _)| name);
    let class = table.choice_or("class", &names, 0)?;
    let class = table.has("class").then_some(PACKET_CLASSES[class].1);
    let every = table.count_or("every", (1, MOST), 1)?;
    let packets = table.count_or("packets", (1, MOST), 1)?;
    if tiles.len() < 2 {
        let help = "use a machine of several tiles, such as --machine mppa256";
        return Err(table.error("do", "no packets pass between tiles here", help));
    }
    let choice = PacketChoice {
        from,
        to,
        class,
        every,
        packets,
    };
    Ok(Action::Packets { choice, fault })
}

fn register(table: &mut Table<'_>) -> Result<Register, Error> {
    let name = table.text("register")?;
    let numbered = |prefix: char| {
        let digits = name.strip_prefix(prefix)?;
        let number = digits.parse::<usize>().ok()?;
        (number < 32 && !digits.starts_with('+')).then_some(number)
    };
    let by_name = X_NAMES.iter().position(|known| *known == name);
    let fp = (name == "fp").then_some(8);
    let csr = CSRS.iter().find(|(known, _)| *known == name);
    let found = match (numbered('x').or(by_name).or(fp), numbered('f'), csr) {
        (Some(0), ..) => None,
        (Some(number), ..) => Some(Register::X(number)),
        (_, Some(number), _) => Some(Register::F(number)),
        (.., Some(&(_, number))) => Some(Register::Csr(number)),
        _ => (name == "pc").then_some(Register::Pc),
    };
    if found.is_none() && table.has("register") {
        let names = CSRS.map(|(name, _)| name).join(", ");
        let help = format!("use x1 to x31 or their names, f0 to f31, pc, or one of {names}");
        return Err(table.error("register", &format!("\"{name}\" is not known"), &help));
    }
    Ok(found.unwrap_or(Register::Pc))
}
