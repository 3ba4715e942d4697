//! The loader's list of the objects of this process, and their tables of symbols (System V gABI,
//! chapter 5; `DT_GNU_HASH` as GNU ld writes it). Allocates nothing and calls nobody.
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;

/// The public part of `struct link_map` of `<link.h>`.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
    next: *const LinkMap,
    previous: *const LinkMap,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Dynamic {
    tag: usize,
    value: usize,
}

/// `struct dl_find_object` of `<dlfcn.h>`.
#[repr(C)]
struct Found {
    flags: u64,
    start: *const c_void,
    end: *const c_void,
    map: *const LinkMap,
    frames: *const c_void,
    reserved: [u64; 7],
}

unsafe extern "C" {
    /// The C library keeps this name for itself. It takes no lock.
    fn _dl_find_object(address: *const c_void, found: *mut Found) -> c_int;
}

const DT_HASH: usize = 4;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_SONAME: usize = 14;
const DT_GNU_HASH: usize = 0x6fff_fef5;
const DT_VERSYM: usize = 0x6fff_fff0;
/// In a symbol's version: another one is the default.
const HIDDEN: u16 = 0x8000;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;

/// An object that the loader has loaded into libflick's namespace.
#[derive(Clone, Copy)]
pub struct Object(*const LinkMap);

/// All of them, in the order in which symbols are searched.
pub fn objects() -> impl Iterator<Item = Object> {
    let mut next = Object::with(objects as *const ()).map_or(ptr::null(), |own| own.0);
    // SAFETY: entries of the loader's list; libflick's own stays.
    unsafe {
        while !next.is_null() && !(*next).previous.is_null() {
            next = (*next).previous;
        }
        std::iter::from_fn(move || {
            let object = next;
            if object.is_null() {
                return None;
            }
            next = (*object).next;
            Some(Object(object))
        })
    }
}

impl Object {
    /// The one that `address` is in.
    pub fn with(address: *const ()) -> Option<Self> {
        let mut found = Found {
            flags: 0,
            start: ptr::null(),
            end: ptr::null(),
            map: ptr::null(),
            frames: ptr::null(),
            reserved: [0; 7],
        };
        // SAFETY: the record has the layout that the C library fills.
        let result = unsafe { _dl_find_object(address.cast(), &mut found) };
        (result == 0 && !found.map.is_null()).then_some(Self(found.map))
    }

    pub fn base(&self) -> usize {
        // SAFETY: an entry of the list.
        unsafe { (*self.0).base }
    }

    /// As the loader has found it; empty for the program.
    pub fn name(&self) -> &'static CStr {
        // SAFETY: an entry of the list; its name is null or a C string.
        unsafe {
            match (*self.0).name {
                name if name.is_null() => c"",
                name => CStr::from_ptr(name),
            }
        }
    }

    /// The value of a tag of the dynamic section.
    fn value(&self, tag: usize) -> Option<usize> {
        // SAFETY: the section ends with a tag 0.
        unsafe {
            let mut entry = (*self.0).dynamic;
            while !entry.is_null() && (*entry).tag != 0 {
                if (*entry).tag == tag {
                    return Some((*entry).value);
                }
                entry = entry.add(1);
            }
        }
        None
    }

    /// The table that a tag leads to. The loader has made addresses of most values.
    fn table(&self, tag: usize) -> Option<usize> {
        let value = self.value(tag)?;
        Some(if value < self.base() {
            value + self.base()
        } else {
            value
        })
    }

    /// # Safety
    /// `at` is an offset in the table of strings.
    unsafe fn string(&self, at: usize) -> Option<&'static CStr> {
        let strings = self.table(DT_STRTAB)?;
        // SAFETY: by contract.
        Some(unsafe { CStr::from_ptr((strings + at) as *const c_char) })
    }

    pub fn soname(&self) -> Option<&'static CStr> {
        // SAFETY: the tag's value is such an offset.
        unsafe { self.string(self.value(DT_SONAME)?) }
    }

    /// The address of the function `name` that the object defines, in its default version.
    pub fn function(&self, name: &str) -> Option<usize> {
        let symbols = self.table(DT_SYMTAB)? as *const libc::Elf64_Sym;
        let versions = self.table(DT_VERSYM).map(|table| table as *const u16);
        let fits = |index: u32| {
            // SAFETY: the index comes from the object's own table of hashes.
            unsafe {
                let symbol = &*symbols.add(index as usize);
                let kind = symbol.st_info & 0xf;
                let hidden = versions.is_some_and(|table| *table.add(index as usize) & HIDDEN != 0);
                let defined =
                    symbol.st_shndx != 0 && !hidden && matches!(kind, STT_FUNC | STT_GNU_IFUNC);
                let same = self.string(symbol.st_name as usize).map(CStr::to_bytes)
                    == Some(name.as_bytes());
                (defined && same).then_some(symbol)
            }
        };
        let symbol = match (self.table(DT_GNU_HASH), self.table(DT_HASH)) {
            // SAFETY: the tables are the object's.
            (Some(table), _) => unsafe { with_gnu_hash(table, name) }.find_map(fits)?,
            // SAFETY: as above; the second word is the number of symbols.
            (None, Some(table)) => (1..unsafe { *(table as *const u32).add(1) }).find_map(fits)?,
            _ => return None,
        };
        let address = self.base() + symbol.st_value as usize;
        if symbol.st_info & 0xf == STT_GNU_IFUNC {
            // SAFETY: a resolver, which takes nothing on x86-64.
            return Some(unsafe {
                std::mem::transmute::<usize, extern "C" fn() -> usize>(address)()
            });
        }
        Some(address)
    }
}

/// The indices of the symbols whose hash is that of `name`.
///
/// # Safety
/// `table` is a table of the GNU style.
unsafe fn with_gnu_hash(table: usize, name: &str) -> impl Iterator<Item = u32> {
    let hash = name.bytes().fold(5381_u32, |hash, byte| {
        hash.wrapping_mul(33).wrapping_add(byte.into())
    });
    // SAFETY: by contract: four words, a filter of 64-bit words, the buckets, the chains.
    let (mut index, first, chains) = unsafe {
        let words = table as *const u32;
        let [count, first, filter, _] = *words.cast::<[u32; 4]>();
        let buckets = slice::from_raw_parts(words.add(4 + 2 * filter as usize), count as usize);
        let index = if count == 0 {
            0
        } else {
            buckets[(hash % count) as usize]
        };
        (
            index,
            first,
            words.add(4 + 2 * filter as usize + count as usize),
        )
    };
    let mut ended = index < first || index == 0;
    std::iter::from_fn(move || {
        while !ended {
            // SAFETY: a chain ends with a hash whose lowest bit is set.
            let here = unsafe { *chains.add((index - first) as usize) };
            let at = index;
            (index, ended) = (index + 1, here & 1 != 0);
            if here | 1 == hash | 1 {
                return Some(at);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_c_library() {
        let libc = objects()
            .find(|object| object.soname() == Some(c"libc.so.6"))
            .unwrap();
        for name in [
            "read",
            "dlsym",
            "pthread_key_create",
            "clock_gettime",
            "memcpy",
        ] {
            let name_c = std::ffi::CString::new(name).unwrap();
            // SAFETY: a C string.
            let by_loader = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name_c.as_ptr()) };
            assert_eq!(libc.function(name), Some(by_loader as usize), "{name}");
        }
        assert_eq!(libc.function("no_such_function"), None);
        assert_eq!(libc.function(""), None);
        assert!(objects().next().unwrap().name().is_empty());
    }
}
