//! `libflick-debug.so`: code of modules that the link has not translated, for a debugger.
//!
//! **From where.** libflick loads this library if a debugger is there, and asks it for the code of
//! each such module ([`flick_abi::debug_interface`]). The module's file has the linked RV64 ELF with its
//! debug information.
//!
//! | file | subject |
//! |---|---|
//! | `module_file.rs` | the file of a module, and whether it is the module's still |
//! | `mappings.rs` | the process's memory: what is where, room near a module |
//! | `placed_object.rs` | an object that gets addresses: a linker within the process |
//! | `pointers.rs` | calls through pointers, by stubs that gdb knows |
//! | `gdb.rs` | gdb's interface for code that is made at run time |
//!
//! **Where to.** The code is what the link would have made (`flick_driver::translate_image`), and is
//! written as at the link (`flick_image::write`). The runtime uses it as a module's own. gdb gets
//! symbols, lines, variables and frames from one ELF file in memory for each module.
//!
//! libflick loads it so that it calls the C library itself, whatever the program defines.
#![warn(missing_docs)]

mod gdb;
mod mappings;
mod module_file;
mod placed_object;
mod pointers;

use std::mem::offset_of;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flick_abi::debug_interface::{LeadPointers, Make, Remove, Request};
use flick_abi::layout::Module;
use flick_abi::names;
use flick_driver::{translate_for_harts, translate_image};
use flick_image::linked::Target;
use flick_image::{Linked, write};

use mappings::{Mapping, Mappings};
use module_file::module_file;
use placed_object::{Group, Object};
use pointers::Pointers;

/// The code of a module.
struct Made {
    /// What the runtime reads in place of the module's own record.
    record: Box<Module>,
    /// Its word for calls of targets that it does not know.
    call_word: Option<u64>,
    /// Tells gdb when it goes, before its memory does.
    _shown: gdb::Shown,
    memory: Mapping,
}

// SAFETY: the record's pointers lead to the module and to the mapping, which are nobody's alone.
unsafe impl Send for Made {}

static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

static POINTERS: Mutex<Vec<Pointers>> = Mutex::new(Vec::new());

/// Code that nobody executes any more. gdb 13 takes its breakpoints out of it after the loader has
/// closed the library, so it stays until the next code is made.
static GONE: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());

/// See [`Make`].
///
/// # Safety
/// The request's module is mapped, and its tables are as its record says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_debug_3_make(request: &mut Request) -> *const Module {
    const _: Make = __flick_debug_3_make;
    locked(&GONE).clear();
    // SAFETY: by contract.
    match unsafe { make(request) } {
        Ok(made) => {
            let record = ptr::from_ref(&*made.record);
            locked(&MADE).push(made);
            record
        }
        Err(why) => {
            say(request, &why);
            ptr::null()
        }
    }
}

/// See [`LeadPointers`].
///
/// # Safety
/// As [`__flick_debug_3_make`]; the record is as the type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_debug_3_lead_pointers(
    request: &mut Request,
    record: *const Module,
) -> bool {
    const _: LeadPointers = __flick_debug_3_lead_pointers;
    let word = {
        let all = locked(&MADE);
        let made = all.iter().find(|made| ptr::eq(&*made.record, record));
        made.and_then(|made| made.call_word)
    };
    // SAFETY: by contract.
    match unsafe { pointers::lead(request, record, word) } {
        Ok(pointers) => {
            locked(&POINTERS).push(pointers);
            true
        }
        Err(why) => {
            say(request, &why);
            false
        }
    }
}

fn say(request: &mut Request, why: &str) {
    let mut end = why.len().min(request.reason.len());
    while !why.is_char_boundary(end) {
        end -= 1;
    }
    request.reason[..end].copy_from_slice(&why.as_bytes()[..end]);
    request.reason_size = end;
}

/// See [`Remove`].
#[unsafe(no_mangle)]
pub extern "C" fn __flick_debug_3_remove(record: *const Module) {
    const _: Remove = __flick_debug_3_remove;
    locked(&POINTERS).retain(|pointers| !ptr::eq(pointers.record, record));
    let mut all = locked(&MADE);
    let at = (all.iter()).position(|made| ptr::eq(&*made.record, record));
    if let Some(at) = at {
        locked(&GONE).push(all.swap_remove(at).memory);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// As [`__flick_debug_3_make`].
unsafe fn make(request: &Request) -> Result<Made, String> {
    let module = request.module;
    // SAFETY: by contract; these fields are in records of every size.
    let (image, image_size, image_id) =
        unsafe { ((*module).image, (*module).image_size, (*module).image_id) };
    let mappings = Mappings::read().map_err(|error| format!("/proc/self/maps: {error}"))?;
    let file = module_file(&mappings, module as u64)?;
    let rv64 = module_file::rv64_elf(&file)?;
    let linked = Linked::parse(rv64).map_err(|_| "the RV64 code in its file is damaged")?;
    if xxhash_rust::xxh3::xxh3_64(&linked.bytes) != image_id {
        return Err("its file has changed since it was loaded".into());
    }
    let translated = match request.isa {
        0 => translate_image(&linked),
        isa => translate_for_harts(&linked, isa),
    };
    let object = write::code_object(&linked, rv64, &translated)
        .map_err(|_| "its code does not fit into an object")?;
    let mut object = Object::parse(object)?;
    let near = image as u64..image as u64 + image_size;
    let mut memory = mappings.room_near(&near, object.size())?;
    let resolve = |name: &str| {
        if name == names::LINK_GUARD {
            return Some(image as u64);
        }
        let word = pointers::word_number(name);
        // SAFETY: by contract, the image is mapped and relocated.
        word.map(|word| request.words[word])
            .or_else(|| unsafe { host_address(&linked, image, name) })
    };
    object.place(memory.start(), &resolve)?;
    for (at, bytes) in object.contents() {
        memory.write(at, bytes);
    }
    for group in Group::ALL {
        memory.protect(object.range(group), group.protection())?;
    }
    let translation = object
        .address_of(write::RECORD_SECTION)
        .ok_or("the object has no record of the translation")?;
    // SAFETY: by contract.
    let mut record = unsafe { copy_of(module) };
    record.translation = translation as *const _;
    let call_word = object.address_of(write::WORDS_SECTION).map(|words| {
        let n = pointers::word_number(pointers::CALL);
        words + 8 * n.unwrap_or_default() as u64
    });
    Ok(Made {
        record,
        call_word,
        _shown: gdb::Shown::new(object.into_elf()),
        memory,
    })
}

/// The address of the host's `name`, from a word of the image that has it.
///
/// # Safety
/// `linked` is the image at `image`, which is relocated.
unsafe fn host_address(linked: &Linked, image: *const u8, name: &str) -> Option<u64> {
    let is_it = |target: &Target| matches!(target, Target::Host { name: host, .. } if host == name);
    let mut all = linked.relocations.iter();
    let word = all.find(|relocation| is_it(&relocation.target))?;
    // SAFETY: by contract; the parser has checked that the word is in the image.
    let value = unsafe {
        image
            .add(word.offset as usize)
            .cast::<u64>()
            .read_unaligned()
    };
    Some(value.wrapping_sub(word.addend as u64))
}

/// The record without what it lacks, and of this version's size: tables of which it says nothing are
/// empty.
///
/// # Safety
/// The record has as many bytes as it says.
unsafe fn copy_of(module: *const Module) -> Box<Module> {
    // SAFETY: null pointers and zeros are a record of nothing. The bytes that are copied over it are
    // the first fields of a record, of whatever version.
    unsafe {
        let mut copy: Box<Module> = Box::new(std::mem::zeroed());
        let size = ((*module).size as usize).min(offset_of!(Module, translation));
        ptr::copy_nonoverlapping(module.cast::<u8>(), ptr::from_mut(&mut *copy).cast(), size);
        copy.size = size_of::<Module>() as u32;
        copy
    }
}
