//! A static RV64 executable, as plain as they come.

/// Bytes at an address with access flags (4 read, 2 write, 1 execute).
pub struct Segment<'a> {
    pub address: u64,
    pub flags: u32,
    pub bytes: &'a [u8],
    /// In memory; zeros follow the bytes.
    pub size: u64,
}

/// The file; it is entered at the first segment's address.
pub fn executable(segments: &[Segment]) -> Vec<u8> {
    executable_with_symbols(segments, &[])
}

/// The same with the addresses of symbols.
pub fn executable_with_symbols(segments: &[Segment], symbols: &[(&str, u64)]) -> Vec<u8> {
    const PAGE: usize = 0x1000;
    let mut file = Vec::new();
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    let half = |file: &mut Vec<u8>, v: u16| file.extend(v.to_le_bytes());
    let word = |file: &mut Vec<u8>, v: u32| file.extend(v.to_le_bytes());
    let long = |file: &mut Vec<u8>, v: u64| file.extend(v.to_le_bytes());
    half(&mut file, 2); // ET_EXEC
    half(&mut file, 243); // EM_RISCV
    word(&mut file, 1);
    long(&mut file, segments[0].address);
    long(&mut file, 64); // program headers
    long(&mut file, 0);
    word(&mut file, 5); // RVC, double-float ABI
    for v in [64, 56, segments.len() as u16, 64, 0, 0] {
        half(&mut file, v);
    }
    let mut offset = PAGE;
    for segment in segments {
        word(&mut file, 1); // PT_LOAD
        word(&mut file, segment.flags);
        for v in [
            offset as u64,
            segment.address,
            segment.address,
            segment.bytes.len() as u64,
            segment.size,
            PAGE as u64,
        ] {
            long(&mut file, v);
        }
        offset += segment.bytes.len().next_multiple_of(PAGE);
    }
    for segment in segments {
        file.resize(file.len().next_multiple_of(PAGE), 0);
        file.extend(segment.bytes);
    }
    if !symbols.is_empty() {
        add_sections(&mut file, symbols);
    }
    file
}

/// The table of symbols, its names, and the sections' own names; their headers.
fn add_sections(file: &mut Vec<u8>, symbols: &[(&str, u64)]) {
    const SECTION_NAMES: &[u8] = b"\0.symtab\0.strtab\0.shstrtab\0";
    file.resize(file.len().next_multiple_of(8), 0);
    let (mut table, mut names) = (vec![0; 24], vec![0]);
    for (name, address) in symbols {
        table.extend((names.len() as u32).to_le_bytes());
        // Global, of no type; its value is absolute.
        table.extend([0x10, 0, 0xf1, 0xff]);
        table.extend([address.to_le_bytes(), [0; 8]].concat());
        names.extend(name.bytes());
        names.push(0);
    }
    // Place of the name, type, content, link, first global symbol, size of an item.
    let sections = [
        (1, 2, &table[..], 2, 1, 24),
        (9, 3, &names[..], 0, 0, 0),
        (17, 3, SECTION_NAMES, 0, 0, 0),
    ];
    let mut headers = vec![0; 64];
    for (name, kind, content, link, info, item) in sections {
        let (offset, size) = (file.len() as u64, content.len() as u64);
        headers.extend([name, kind].map(u32::to_le_bytes).concat());
        headers.extend([0, 0, offset, size].map(u64::to_le_bytes).concat());
        headers.extend([link, info].map(u32::to_le_bytes).concat());
        headers.extend([1, item].map(u64::to_le_bytes).concat());
        file.extend(content);
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let start = (file.len() as u64).to_le_bytes();
    file.extend(headers);
    file[40..48].copy_from_slice(&start);
    for (at, value) in [(58, 64_u16), (60, 4), (62, 3)] {
        file[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
}
