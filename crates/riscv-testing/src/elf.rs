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
    file
}
