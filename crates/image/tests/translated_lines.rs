//! Debug information of translated code, from an image's own, read as debuggers read it.
use std::collections::BTreeMap;

use flick_abi::layout::TranslatedPiece;
use flick_image::linked::{Function, Linked, Relocation, Target};
use flick_image::translation::{Home, Homed, Origin, Translated};
use flick_image::write::image_object;
use gimli::write::{
    Address, AttributeValue as Value, EndianVec, LineProgram, LineString, Sections, Unit,
    UnitEntryId,
};
use gimli::{Encoding, EndianSlice, Format, LineEncoding, LittleEndian, Operation, Register};
use object::write::Object as Out;
use object::{
    Architecture, BinaryFormat, Endianness, Object, ObjectSection, ObjectSymbol, RelocationTarget,
    SectionKind,
};

/// Where the linked file has the image's first byte.
const BASE: u64 = 0x1_0000;

/// The rows of `outer`, from 0x100, and of `plain`, from 0x140: offset, file, line, whether it is a
/// statement, whether the prologue ends.
const ROWS: [(u64, usize, u64, bool, bool); 7] = [
    (0x100, 0, 10, true, false),
    (0x104, 0, 11, true, true),
    (0x108, 1, 2, true, false),
    (0x110, 0, 11, false, false),
    (0x114, 0, 12, true, false),
    (0x140, 0, 20, true, false),
    (0x144, 0, 20, false, true),
];

/// Adds variables of `function`: `n` in a0, `wide` in a1, `local` below s0 as its frame's base, and
/// `counter` of the host. The first is an `int`, the others are `long`.
fn add_variables(unit: &mut Unit, function: UnitEntryId) {
    use gimli::write::Expression;
    let root = unit.root();
    let register = |number| {
        let mut place = Expression::new();
        place.op_reg(Register(number));
        Value::Exprloc(place)
    };
    let mut below = Expression::new();
    below.op_fbreg(-24);
    let types = [("int", 4), ("long", 8)].map(|(name, size)| {
        let entry = unit.add(root, gimli::DW_TAG_base_type);
        let all = unit.get_mut(entry);
        all.set(gimli::DW_AT_name, Value::String(name.into()));
        all.set(gimli::DW_AT_byte_size, Value::Udata(size));
        entry
    });
    unit.get_mut(function)
        .set(gimli::DW_AT_frame_base, register(8));
    for (tag, name, of, attribute, value) in [
        (
            gimli::DW_TAG_formal_parameter,
            "n",
            types[0],
            gimli::DW_AT_location,
            register(10),
        ),
        (
            gimli::DW_TAG_formal_parameter,
            "wide",
            types[1],
            gimli::DW_AT_location,
            register(11),
        ),
        (
            gimli::DW_TAG_variable,
            "local",
            types[1],
            gimli::DW_AT_location,
            Value::Exprloc(below),
        ),
        (
            gimli::DW_TAG_variable,
            "counter",
            types[1],
            gimli::DW_AT_linkage_name,
            Value::String("outer.counter".into()),
        ),
    ] {
        let entry = unit.add(function, tag);
        let all = unit.get_mut(entry);
        all.set(gimli::DW_AT_name, Value::String(name.into()));
        all.set(gimli::DW_AT_type, Value::UnitRef(of));
        all.set(attribute, value);
    }
}

/// An RV64 file with a unit `src/a.c`. In `outer` a call of `inner`, of `include/h.h`, is inlined.
/// Only its line table has `plain`.
fn rv64_file(version: u16, with_variables: bool) -> Vec<u8> {
    let encoding = Encoding {
        address_size: 8,
        format: Format::Dwarf32,
        version,
    };
    let text = |text: &str| LineString::String(text.into());
    let lines = LineEncoding::default();
    let (directory, name) = (text("/build"), text("src/a.c"));
    let mut lines = LineProgram::new(encoding, lines, directory, None, name, None);
    let directories = [
        lines.default_directory(),
        lines.add_directory(text("include")),
    ];
    let files = [
        lines.add_file(text("src/a.c"), directories[0], None),
        lines.add_file(text("h.h"), directories[1], None),
    ];
    for (start, size) in [(0x100, 0x20), (0x140, 8)] {
        lines.begin_sequence(Some(Address::Constant(BASE + start)));
        for (at, file, line, is_statement, ends_prologue) in ROWS {
            if (start..start + size).contains(&at) {
                let row = lines.row();
                (row.address_offset, row.file, row.line) = (at - start, files[file], line);
                (row.is_statement, row.prologue_end) = (is_statement, ends_prologue);
                lines.generate_row();
            }
        }
        lines.end_sequence(size);
    }
    // The linker has dropped this one.
    lines.begin_sequence(Some(Address::Constant(0)));
    lines.row().line = 99;
    lines.generate_row();
    lines.end_sequence(0x1_0108);

    let mut unit = Unit::new(encoding, lines);
    let root = unit.root();
    let inner = unit.add(root, gimli::DW_TAG_subprogram);
    let outer = unit.add(root, gimli::DW_TAG_subprogram);
    let call = unit.add(outer, gimli::DW_TAG_inlined_subroutine);
    let address = |at| Value::Address(Address::Constant(BASE + at));
    let c11 = Value::Language(gimli::DW_LANG_C11);
    let is_inlined = Value::Inline(gimli::DW_INL_inlined);
    for (entry, name, value) in [
        (root, gimli::DW_AT_name, Value::String("src/a.c".into())),
        (root, gimli::DW_AT_comp_dir, Value::String("/build".into())),
        (root, gimli::DW_AT_producer, Value::String("cc 1".into())),
        (root, gimli::DW_AT_language, c11),
        (inner, gimli::DW_AT_name, Value::String("inner".into())),
        (inner, gimli::DW_AT_inline, is_inlined),
        (outer, gimli::DW_AT_name, Value::String("outer".into())),
        (outer, gimli::DW_AT_low_pc, address(0x100)),
        (outer, gimli::DW_AT_high_pc, Value::Udata(0x20)),
        (call, gimli::DW_AT_abstract_origin, Value::UnitRef(inner)),
        (call, gimli::DW_AT_low_pc, address(0x108)),
        (call, gimli::DW_AT_high_pc, Value::Udata(8)),
        (
            call,
            gimli::DW_AT_call_file,
            Value::FileIndex(Some(files[0])),
        ),
        (call, gimli::DW_AT_call_line, Value::Udata(11)),
    ] {
        unit.get_mut(entry).set(name, value);
    }
    if with_variables {
        add_variables(&mut unit, outer);
    }
    let mut dwarf = gimli::write::Dwarf::new();
    dwarf.units.add(unit);
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    dwarf.write(&mut sections).unwrap();
    let (format, machine) = (BinaryFormat::Elf, Architecture::Riscv64);
    let mut out = Out::new(format, machine, Endianness::Little);
    sections
        .for_each(|id, data| {
            let name = id.name().as_bytes().to_vec();
            let section = out.add_section(vec![], name, SectionKind::Debug);
            out.set_section_data(section, data.slice().to_vec(), 1);
            Ok::<(), gimli::Error>(())
        })
        .unwrap();
    out.write().unwrap()
}

fn linked() -> Linked {
    let function = |offset, size, name: &str| Function {
        offset,
        size,
        name: name.into(),
    };
    Linked {
        base: BASE,
        bytes: vec![0; 0x200],
        text: 0x100..0x200,
        functions: vec![
            function(0x100, 0x20, "outer"),
            function(0x140, 8, "_ZN1n5plainEv"),
        ],
        entries: BTreeMap::from([("__flick_nxp_outer".into(), 0x100)]),
        ..Linked::default()
    }
}

/// The second statement of `outer` has become no code, and `inner` stands in three places.
fn translated() -> Translated {
    let piece = |guest, code, size| TranslatedPiece {
        guest,
        code,
        size,
        states: 0,
        frame: 0,
    };
    let origin = |code, guest| Origin {
        code,
        guest,
        frame: guest,
        is_cold: false,
    };
    let cold = |code, guest| Origin {
        is_cold: true,
        ..origin(code, guest)
    };
    Translated {
        code: vec![0x90; 0x80],
        pieces: vec![piece(0x100, 0, 0x38), piece(0x140, 0x40, 0x10)],
        origins: vec![
            origin(0, 0x100),
            origin(8, 0x104),
            origin(8, 0x108),
            origin(0x10, 0x110),
            origin(0x18, 0x114),
            origin(0x20, 0x10a),
            cold(0x28, 0x114),
            cold(0x30, 0x108),
            origin(0x40, 0x140),
            origin(0x40, 0x144),
        ],
        unwind: vec![0; 32],
        ..Translated::default()
    }
}

/// The sections of debug information, as they are where the code is at address 0.
fn debug_sections(object: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let file = object::File::parse(object).unwrap();
    let mut all = BTreeMap::new();
    for section in file.sections() {
        let name = section.name().unwrap();
        if !name.starts_with(".debug") {
            continue;
        }
        let mut data = section.data().unwrap().to_vec();
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                panic!("a relocation without a symbol");
            };
            let symbol = file.symbol_by_index(symbol).unwrap();
            assert_eq!(symbol.address(), 0);
            let size = usize::from(relocation.size() / 8);
            let value = relocation.addend().to_le_bytes();
            data[at as usize..at as usize + size].copy_from_slice(&value[..size]);
        }
        all.insert(name.to_owned(), data);
    }
    all
}

type Dwarf<'a> = gimli::Dwarf<EndianSlice<'a, LittleEndian>>;

fn read(sections: &BTreeMap<String, Vec<u8>>) -> Dwarf<'_> {
    let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let data = sections.get(id.name()).map_or(&[][..], |data| data);
        Ok(EndianSlice::new(data, LittleEndian))
    };
    gimli::Dwarf::load(load).unwrap()
}

/// Rows as text: address, file, line, `s` of a statement, `p` at the end of a prologue.
fn rows(dwarf: &Dwarf) -> Vec<String> {
    let header = dwarf.units().next().unwrap().unwrap();
    let unit = dwarf.unit(header).unwrap();
    let mut rows = unit.line_program.clone().unwrap().rows();
    let mut all = vec![];
    while let Some((header, row)) = rows.next_row().unwrap() {
        let text = |value| dwarf.attr_string(&unit, value).unwrap().to_string_lossy();
        let file = row.file(header).unwrap();
        let directory = text(file.directory(header).unwrap());
        let name = text(file.path_name());
        let number = row.line().map_or(0, |line| line.get());
        let address = row.address();
        let mut line = format!("{address:x} {directory}/{name} {number}");
        if row.end_sequence() {
            line = format!("{address:x} end");
        } else if row.is_stmt() {
            line += " s";
        }
        if row.prologue_end() {
            line += " p";
        }
        all.push(line);
    }
    all
}

/// Functions and inlined calls as text: the entry's depth, names, ranges of addresses, lines.
fn functions(dwarf: &Dwarf) -> Vec<String> {
    let header = dwarf.units().next().unwrap().unwrap();
    let unit = dwarf.unit(header).unwrap();
    let mut entries = unit.entries();
    let (mut all, mut depth) = (vec![], 0);
    while let Some((step, entry)) = entries.next_dfs().unwrap() {
        depth += step;
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin).unwrap();
        let named = match origin {
            Some(gimli::AttributeValue::UnitRef(at)) => unit.entry(at).unwrap(),
            _ => entry.clone(),
        };
        let mut line = depth.to_string();
        for name in [
            gimli::DW_AT_name,
            gimli::DW_AT_linkage_name,
            gimli::DW_AT_comp_dir,
            gimli::DW_AT_producer,
        ] {
            if let Some(value) = named.attr_value(name).unwrap() {
                let text = dwarf.attr_string(&unit, value).unwrap();
                line += &format!(" {}", text.to_string_lossy());
            }
        }
        let mut ranges = dwarf.die_ranges(&unit, entry).unwrap();
        while let Some(range) = ranges.next().unwrap() {
            line += &format!(" {:x}-{:x}", range.begin, range.end);
        }
        for (name, text) in [
            (gimli::DW_AT_decl_line, "declared"),
            (gimli::DW_AT_call_line, "called"),
        ] {
            if let Some(value) = entry.attr_value(name).unwrap() {
                line += &format!(" {text} {}", value.udata_value().unwrap());
            }
        }
        if entry.attr_value(gimli::DW_AT_external).unwrap().is_some() {
            line += " external";
        }
        all.push(line);
    }
    all
}

#[test]
fn lines_and_functions_are_those_of_the_image() {
    for version in [4, 5] {
        let file = rv64_file(version, false);
        let object = image_object(&linked(), &file, Some(&translated())).unwrap();
        let sections = debug_sections(&object);
        let dwarf = read(&sections);
        assert_eq!(
            rows(&dwarf),
            [
                "0 /build/src/a.c 10 s",
                "8 include/h.h 2 s p",
                "10 /build/src/a.c 11 s",
                "18 /build/src/a.c 12 s",
                "20 include/h.h 2 s",
                "28 /build/src/a.c 12",
                "30 include/h.h 2",
                "38 end",
                "40 /build/src/a.c 20 s",
                "40 /build/src/a.c 20 s p",
                "50 end",
            ],
            "DWARF {version}"
        );
        assert_eq!(
            functions(&dwarf),
            [
                "0 src/a.c /build cc 1 0-50",
                "1 outer 0-38 declared 10 external",
                "2 inner 8-10 20-28 30-38 called 11",
                "1 inner",
                "1 plain _ZN1n5plainEv 40-50 declared 20",
            ],
            "DWARF {version}"
        );
    }
}

#[test]
fn without_origins_there_is_no_debug_information() {
    let plain = Translated {
        origins: vec![],
        ..translated()
    };
    for translated in [Some(&plain), None] {
        let object = image_object(&linked(), &rv64_file(5, false), translated).unwrap();
        assert!(debug_sections(&object).is_empty());
    }
}

#[test]
fn debug_information_that_cannot_be_read_is_left_out() {
    for file in [&b"nothing"[..], &[]] {
        let object = image_object(&linked(), file, Some(&translated())).unwrap();
        assert!(debug_sections(&object).is_empty());
    }
    // Each byte in turn is another one.
    let file = rv64_file(5, true);
    let parsed = object::File::parse(&*file).unwrap();
    let ranges: Vec<(u64, u64)> = parsed.sections().filter_map(|s| s.file_range()).collect();
    for at in ranges.iter().flat_map(|&(start, size)| start..start + size) {
        let mut file = file.clone();
        for change in [0xff, 0x80, 0x01] {
            file[at as usize] ^= change;
            image_object(&linked(), &file, Some(&translated())).unwrap();
        }
    }
}

/// Variables as text: name, type, and where they are, by address.
fn variables(dwarf: &Dwarf) -> Vec<String> {
    let header = dwarf.units().next().unwrap().unwrap();
    let unit = dwarf.unit(header).unwrap();
    let mut entries = unit.entries();
    let mut all = vec![];
    while let Some((_, entry)) = entries.next_dfs().unwrap() {
        let location = entry.attr_value(gimli::DW_AT_location).unwrap();
        let Some(location) = location else { continue };
        let name = |entry: &gimli::DebuggingInformationEntry<_>| {
            let value = entry.attr_value(gimli::DW_AT_name).unwrap().unwrap();
            let text = dwarf.attr_string(&unit, value).unwrap();
            text.to_string_lossy().into_owned()
        };
        let of = entry.attr_value(gimli::DW_AT_type).unwrap();
        let Some(gimli::AttributeValue::UnitRef(of)) = of else {
            panic!("a variable without a type");
        };
        let mut line = format!("{} {}", name(&unit.entry(of).unwrap()), name(entry));
        let mut list = dwarf.attr_locations(&unit, location).unwrap().unwrap();
        while let Some(place) = list.next().unwrap() {
            line += &format!(" {:x}-{:x}", place.range.begin, place.range.end);
            let mut operations = place.data.operations(unit.encoding());
            while let Some(operation) = operations.next().unwrap() {
                line += &match operation {
                    Operation::Register { register } => format!(" r{}", register.0),
                    Operation::RegisterOffset {
                        register, offset, ..
                    } => format!(" [r{}{offset:+}]", register.0),
                    Operation::Address { address } => format!(" [{address:x}]"),
                    Operation::StackValue => " value".to_owned(),
                    Operation::UnsignedConstant { value } => format!(" {value}"),
                    Operation::SignedConstant { value } => format!(" {value}"),
                    Operation::Shl => " shl".to_owned(),
                    Operation::Shra => " shra".to_owned(),
                    other => panic!("{other:?}"),
                };
            }
        }
        all.push(line);
    }
    all
}

#[test]
fn variables_are_where_the_homes_of_their_registers_are() {
    let homed = |code, reg, home| Homed {
        code,
        reg,
        home,
        size: 8,
        is_extended: false,
    };
    let extended = |homed| Homed {
        is_extended: true,
        ..homed
    };
    let lower = |homed| Homed { size: 4, ..homed };
    let translated = Translated {
        homes: vec![
            homed(0, 10, Home::Register(7)),
            extended(homed(0, 11, Home::Register(6))),
            homed(8, 8, Home::Sp(32)),
            homed(0x10, 10, Home::Stack(16)),
            lower(homed(0x10, 11, Home::Register(3))),
            homed(0x18, 10, Home::Nowhere),
            homed(0x18, 11, Home::Const(-1)),
            homed(0x20, 8, Home::Register(3)),
            homed(0x28, 8, Home::Nowhere),
        ],
        depths: vec![vec![(0, 0)], vec![(0, 0)]],
        ..translated()
    };
    let mut linked = linked();
    linked.relocations.push(Relocation {
        offset: 0,
        target: Target::Host {
            name: "outer.counter".into(),
            weak: false,
        },
        addend: 0,
    });
    for version in [4, 5] {
        let file = rv64_file(version, true);
        let object = image_object(&linked, &file, Some(&translated)).unwrap();
        let sections = debug_sections(&object);
        let dwarf = read(&sections);
        assert_eq!(
            variables(&dwarf),
            [
                "int n 0-10 r5 10-18 [r7+16]",
                "long wide 0-10 [r4+0] 32 shl 32 shra value 18-38 -1 value",
                "long local 8-20 [r15+8] 20-28 [r3-24]",
                "long counter 0-38 [0]",
            ],
            "DWARF {version}"
        );
    }
}
