//! Calls through pointers in translated code, by stubs that gdb knows by name. Translated code looks for
//! the target in a table of the runtime, and functions that have such stubs are never there. So each call comes to the module's word of [`names::TRANSLATION_WORDS`] for unknown targets,
//! which leads here, or to the cell of [`names::RT_XCALL`].
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::debug_interface::Request;
use flick_abi::layout::{BINDER_SIZE, Module, TRANSLATION_ABI};
use flick_abi::names;
use flick_engine::Hart;
use flick_image::elf_kind::parse_host;
use flick_image::write::{PointerStub, pointer_stubs};
use flick_translator::HART_BIAS;
use iced_x86::code_asm::*;
use object::{Object as _, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationTarget, elf};

use crate::gdb::Shown;
use crate::mappings::{Mapping, Mappings};
use crate::module_file::module_file;
use crate::placed_object::Object;

const PAGE: u64 = 4096;
/// The word of the module for calls of unknown targets.
pub const CALL: &str = "__flick_1_call";
/// Bytes of a stub, from one to the next.
const STUB_SIZE: u64 = 16;
/// Bytes of a stub's instructions.
const STUB_CODE: u64 = 13;
/// Bytes of the code that looks functions up.
const LOOKUP_SIZE: u64 = 320;
/// Fibonacci hashing.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The place of a name in [`names::TRANSLATION_WORDS`].
pub fn word_number(name: &str) -> Option<usize> {
    let mut words = names::TRANSLATION_WORDS.iter();
    words.position(|&word| word == name)
}

/// The stubs of a module.
pub struct Pointers {
    /// The module's record.
    pub record: *const Module,
    _shown: Shown,
    _memory: Mapping,
}

// SAFETY: the record is compared alone.
unsafe impl Send for Pointers {}

/// A file that is mapped, and the distance of its addresses from those in it.
struct File {
    bytes: Vec<u8>,
    bias: u64,
}

/// Leads the calls of a module that way. `word`: the module's word, if the module's file does not
/// tell.
///
/// # Safety
/// The request's module is mapped and relocated, and `record` is as `LeadPointers` says.
pub unsafe fn lead(
    request: &Request,
    record: *const Module,
    word: Option<u64>,
) -> Result<Pointers, String> {
    let mappings = Mappings::read().map_err(|error| format!("/proc/self/maps: {error}"))?;
    let file = File {
        bytes: module_file(&mappings, request.module as u64)?,
        // SAFETY: by contract.
        bias: unsafe { bias_of(request.module) }.ok_or("it has no headers")?,
    };
    let functions = file.functions(request.leads_to)?;
    let word = match word {
        Some(word) => word,
        None => file.word(CALL)?,
    };
    let image = request.module as u64;
    let (code, table_size) = sizes(functions.len());
    let mut memory = mappings.room_near(&(image..image + 1), code + table_size)?;
    let start = memory.start();
    let table = start + code;
    let assembled = Code::new(request, &functions, start, table, table_size / 16)
        .map_err(|error| error.to_string())?;
    memory.write(start, &assembled.bytes);
    for (n, entry) in assembled.table.iter().enumerate() {
        let [function, stub] = entry.map(u64::to_le_bytes);
        memory.write(table + 16 * n as u64, &[function, stub].concat());
    }
    memory.protect(start..table, libc::PROT_READ | libc::PROT_EXEC)?;
    memory.protect(table..table + table_size, libc::PROT_READ)?;
    let [by_address, by_signature] = assembled.lookups.clone();
    let object = pointer_stubs(assembled.bytes, &assembled.lookups, &assembled.stubs)
        .map_err(|_| "its stubs do not fit into an object")?;
    let mut object = Object::parse(object)?;
    object.place(start, &|_| None)?;
    let shown = Shown::new(object.into_elf());
    // SAFETY: by contract, and the code is in place.
    unsafe {
        if request.isa == 0 {
            // Code of a card leaves its hart for calls by a signature.
            set_cells(record, request.xcall, start + by_signature.start);
        }
        set_word(&mappings, word, start + by_address.start)?;
    }
    Ok(Pointers {
        record,
        _shown: shown,
        _memory: memory,
    })
}

/// Bytes of the code and of the table for so many functions.
fn sizes(functions: usize) -> (u64, u64) {
    let functions = functions as u64;
    let code = LOOKUP_SIZE + 2 * STUB_SIZE * functions;
    // Half of it is free, so that a search ends.
    let table = 16 * (2 * functions + 1).next_power_of_two();
    (code.next_multiple_of(PAGE), table.next_multiple_of(PAGE))
}

/// # Safety
/// The module is mapped.
unsafe fn bias_of(module: *const Module) -> Option<u64> {
    // SAFETY: dladdr reads the loader's tables and fills the record; the headers of a mapped file
    // are mapped at its start.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(module.cast::<c_void>(), &raw mut info) == 0 {
            return None;
        }
        let base = info.dli_fbase as u64;
        let header = &*(base as *const libc::Elf64_Ehdr);
        let first = (base + header.e_phoff) as *const libc::Elf64_Phdr;
        let headers = std::slice::from_raw_parts(first, header.e_phnum.into());
        let loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
        let lowest = loaded.map(|header| header.p_vaddr).min()?;
        Some(base.wrapping_sub(lowest / PAGE * PAGE))
    }
}

impl File {
    /// The functions' addresses, and where they lead.
    fn functions(&self, leads_to: extern "C" fn(u64) -> u64) -> Result<BTreeMap<u64, u64>, String> {
        let file = parse_host(&self.bytes).map_err(|_| "its file is damaged")?;
        let is_function = |symbol: &object::Symbol| {
            let object::SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
                return false;
            };
            symbol.is_definition() && symbol.size() != 0 && st_info & 0xf == elf::STT_FUNC
        };
        let loaded = |address: u64| {
            let mut segments = file.segments();
            segments.any(|s| (s.address()..s.address() + s.size()).contains(&address))
        };
        let symbols = file.symbols().filter(is_function);
        let places = symbols.map(|symbol| symbol.address());
        Ok(places
            .filter(|&place| loaded(place))
            .map(|place| self.bias.wrapping_add(place))
            .map(|address| (address, leads_to(address)))
            .filter(|&(_, to)| to != 0)
            .collect())
    }

    /// The address of the word that has the address of libflick's `name`.
    fn word(&self, name: &str) -> Result<u64, String> {
        let file = parse_host(&self.bytes).map_err(|_| "its file is damaged")?;
        let symbols = file.dynamic_symbol_table();
        let is_it = |target| match target {
            RelocationTarget::Symbol(at) => {
                let symbol = symbols
                    .as_ref()
                    .and_then(|all| all.symbol_by_index(at).ok());
                symbol.is_some_and(|symbol| symbol.name() == Ok(name))
            }
            _ => false,
        };
        let mut all = file.dynamic_relocations().into_iter().flatten();
        let found = all.find(|(_, relocation)| is_it(relocation.target()));
        let (place, _) = found.ok_or("its code does not call through pointers")?;
        Ok(self.bias.wrapping_add(place))
    }
}

/// The code at its place.
struct Code {
    bytes: Vec<u8>,
    /// The code that looks up functions: for calls by address, and by signature.
    lookups: [Range<u64>; 2],
    stubs: Vec<PointerStub>,
    /// A function's address and its first stub; 0 where there is none.
    table: Vec<[u64; 2]>,
}

impl Code {
    fn new(
        request: &Request,
        functions: &BTreeMap<u64, u64>,
        start: u64,
        table: u64,
        slots: u64,
    ) -> Result<Self, IcedError> {
        let stub_at = |n: usize| LOOKUP_SIZE + 2 * STUB_SIZE * n as u64;
        let call = word_number(CALL).map_or(0, |n| request.words[n]);
        let by_signature = request.signature_call;
        let first = assemble(start, |a| {
            // A call by name has its cell in r10, and a stub of its own.
            let mut unknown = a.create_label();
            a.test(r10, r10)?;
            a.jne(unknown)?;
            if request.isa != 0 {
                return_behind_jump(a)?;
            }
            search(a, table, slots, 0)?;
            a.xor(r10d, r10d)?;
            a.set_label(&mut unknown)?;
            jump(a, call)
        })?;
        let second_at = (first.len() as u64).next_multiple_of(STUB_SIZE);
        let second = assemble(start + second_at, |a| {
            a.mov(rax, qword_ptr(rbp + FUNCTION))?;
            search(a, table, slots, STUB_SIZE as i32)?;
            jump(a, by_signature)
        })?;
        let lookups = [
            0..first.len() as u64,
            second_at..second_at + second.len() as u64,
        ];
        assert!(lookups[1].end <= LOOKUP_SIZE);
        const INT3: u8 = 0xcc;
        let mut bytes = first;
        bytes.resize(second_at as usize, INT3);
        bytes.extend(second);
        bytes.resize(LOOKUP_SIZE as usize, INT3);
        let mut stubs = vec![];
        let mut slots_of = vec![[0; 2]; slots as usize];
        for (n, (&address, &function)) in functions.iter().enumerate() {
            let plain = match address == function {
                true => request.host_call,
                // An NxP function.
                false => function,
            };
            for to in [plain, by_signature] {
                let at = bytes.len() as u64;
                let code = assemble(start + at, |a| {
                    a.mov(r10, to)?;
                    a.jmp(r10)
                })?;
                assert_eq!(code.len() as u64, STUB_CODE);
                bytes.extend(code);
                bytes.resize((at + STUB_SIZE) as usize, INT3);
                let code = at..at + STUB_CODE;
                stubs.push(PointerStub { code, function });
            }
            let mut slot = hash(address, slots);
            while slots_of[slot][0] != 0 {
                slot = (slot + 1) % slots as usize;
            }
            slots_of[slot] = [address, start + stub_at(n)];
        }
        Ok(Self {
            bytes,
            lookups,
            stubs,
            table: slots_of,
        })
    }
}

fn assemble(
    at: u64,
    code: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Result<Vec<u8>, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    code(&mut a)?;
    a.assemble(at)
}

/// Where the hart has t2, the function of a call by a signature, from rbp.
const FUNCTION: i32 = (offset_of!(Hart, x) + 8 * 7) as i32 - HART_BIAS;

fn hash(address: u64, slots: u64) -> usize {
    let shift = 64 - slots.ilog2();
    (address.wrapping_mul(FACTOR) >> shift) as usize
}

/// Jumps to the stub of the function in rax, `behind` bytes further, if the table has it. Only r10 is
/// free. `FACTOR` and the table are as in [`hash`].
fn search(a: &mut CodeAssembler, table: u64, slots: u64, behind: i32) -> Result<(), IcedError> {
    let (mut again, mut found, mut none) = (a.create_label(), a.create_label(), a.create_label());
    a.push(rcx)?;
    a.push(rdx)?;
    a.mov(rdx, FACTOR)?;
    a.imul_2(rdx, rax)?;
    a.shr(rdx, 64 - slots.ilog2())?;
    a.mov(rcx, table)?;
    a.set_label(&mut again)?;
    a.mov(r10, rdx)?;
    a.shl(r10, 4)?;
    a.cmp(qword_ptr(rcx + r10), rax)?;
    a.je(found)?;
    a.cmp(qword_ptr(rcx + r10), 0)?;
    a.je(none)?;
    a.inc(rdx)?;
    a.and(rdx, slots as i32 - 1)?;
    a.jmp(again)?;
    a.set_label(&mut found)?;
    a.mov(r10, qword_ptr(rcx + r10 + 8))?;
    a.add(r10, behind)?;
    a.pop(rdx)?;
    a.pop(rcx)?;
    a.jmp(r10)?;
    a.set_label(&mut none)?;
    a.pop(rdx)?;
    a.pop(rcx)
}

/// Behind the call of an unknown target there is a jump to where a known one returns. It returns there at once:
/// code of a card that leaves its hart gets this frame again (`crossing/card/shown_frames.rs` of libflick), and
/// gdb's `next` waits there. Only r10 is free.
fn return_behind_jump(a: &mut CodeAssembler) -> Result<(), IcedError> {
    const JUMP: i32 = 0xe9;
    let mut other = a.create_label();
    a.mov(r10, qword_ptr(rsp))?;
    a.cmp(byte_ptr(r10), JUMP)?;
    a.jne(other)?;
    a.push(rcx)?;
    a.movsxd(rcx, dword_ptr(r10 + 1))?;
    a.lea(r10, qword_ptr(r10 + rcx + 5))?;
    a.pop(rcx)?;
    a.mov(qword_ptr(rsp), r10)?;
    a.set_label(&mut other)
}

/// With r10 as it is.
fn jump(a: &mut CodeAssembler, to: u64) -> Result<(), IcedError> {
    let mut word = a.create_label();
    a.jmp(qword_ptr(word))?;
    a.set_label(&mut word)?;
    a.dq(&[to])
}

/// The cells of calls by a signature lead to `code`.
///
/// # Safety
/// `record` is the record of a module that is mapped and relocated.
unsafe fn set_cells(record: *const Module, xcall: u64, code: u64) {
    // SAFETY: by contract; the runtime has looked at the translation. Each cell has a binder, and as
    // many stubs of the same size are in front of the first (`ahead/stubs.rs` of the translator).
    unsafe {
        let translation = (*record).translation;
        if translation.is_null() || (*translation).abi != TRANSLATION_ABI {
            return;
        }
        let count = (*translation).cell_count;
        let Some(first) = (*translation).binders.checked_sub(BINDER_SIZE * count) else {
            return;
        };
        for n in 0..count {
            let stub = (*translation).code.add((first + BINDER_SIZE * n) as usize);
            // mov rax, [rip + displacement]
            if stub.cast::<[u8; 3]>().read() != [0x48, 0x8b, 0x05] {
                return;
            }
            let displacement = stub.add(3).cast::<i32>().read_unaligned();
            let slot = stub.add(7).offset(displacement as isize).cast::<u64>();
            if slot.read_unaligned() == xcall {
                (*(*translation).cells.add(n as usize)).store(code, Ordering::Release);
            }
        }
    }
}

/// The word at `word`, which the loader may have made constant, gets this value.
///
/// # Safety
/// It is a word of a module.
unsafe fn set_word(mappings: &Mappings, word: u64, value: u64) -> Result<(), String> {
    let page = (word / PAGE * PAGE) as *mut c_void;
    let is_writable = mappings
        .is_writable(word)
        .ok_or("its words are not mapped")?;
    let protect = |protection| {
        // SAFETY: the page is the module's data.
        match unsafe { libc::mprotect(page, PAGE as usize, protection) } {
            0 => Ok(()),
            _ => Err(format!("mprotect: {}", std::io::Error::last_os_error())),
        }
    };
    if !is_writable {
        protect(libc::PROT_READ | libc::PROT_WRITE)?;
    }
    // SAFETY: by contract; translated code reads it by one instruction.
    unsafe { (*(word as *const AtomicU64)).store(value, Ordering::Release) };
    if !is_writable {
        protect(libc::PROT_READ)?;
    }
    Ok(())
}
