//! Names of host functions by address, for the summary: from the symbol tables of the mapped files,
//! which static programs have too.
use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;

use flick_events::Calls;
use memmap2::Mmap;
use object::{Object as _, ObjectSymbol, SymbolKind};

use crate::modules::{self, CodePlace};

/// A loaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    path: PathBuf,
    /// What the loader added to the file's addresses.
    bias: u64,
    /// Half-open ranges of its segments in memory.
    segments: Vec<(u64, u64)>,
}

impl Object {
    /// The file that is mapped at `addr`.
    pub fn of(addr: usize) -> Option<Object> {
        loaded().into_iter().find(|object| object.contains(addr))
    }

    pub fn contains(&self, addr: usize) -> bool {
        self.segments
            .iter()
            .any(|(start, end)| (*start..*end).contains(&(addr as u64)))
    }

    /// Of a place in memory: in the file's own addresses.
    pub fn offset(&self, addr: usize) -> u64 {
        (addr as u64).wrapping_sub(self.bias)
    }

    /// The file's bytes. They are not read into the heap, which in a static program may be the
    /// program's own and small.
    fn map(&self) -> Option<Mmap> {
        let file = fs::File::open(&self.path).ok()?;
        // SAFETY: read only. Who cuts a file short that is loaded takes the program's code away,
        // too.
        unsafe { Mmap::map(&file) }.ok()
    }

    pub fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    pub fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// All loaded files. The first is the executable, which the loader does not name.
fn loaded() -> Vec<Object> {
    unsafe extern "C" fn each(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        out: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: dl_iterate_phdr passes a valid record and our vector.
        let (info, out) = unsafe { (&*info, &mut *out.cast::<Vec<Object>>()) };
        let path = if out.is_empty() {
            fs::read_link("/proc/self/exe").unwrap_or_default()
        } else {
            // SAFETY: a C string of the loader's.
            PathBuf::from(
                unsafe { CStr::from_ptr(info.dlpi_name) }
                    .to_string_lossy()
                    .into_owned(),
            )
        };
        let headers = if info.dlpi_phnum == 0 {
            &[]
        } else {
            // SAFETY: the loaded object's program headers.
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
        };
        let segments = headers
            .iter()
            .filter(|h| h.p_type == libc::PT_LOAD)
            .map(|h| {
                (
                    info.dlpi_addr + h.p_vaddr,
                    info.dlpi_addr + h.p_vaddr + h.p_memsz,
                )
            })
            .collect();
        out.push(Object {
            path,
            bias: info.dlpi_addr,
            segments,
        });
        0
    }
    let mut objects: Vec<Object> = Vec::new();
    // SAFETY: `each` has the callback's type and gets a pointer to the vector it expects.
    unsafe { libc::dl_iterate_phdr(Some(each), ptr::from_mut(&mut objects).cast()) };
    objects
}

/// Paths of the loaded files; the kernel's own has none.
pub fn paths() -> Vec<String> {
    let objects = loaded();
    let files = objects.iter().filter(|object| object.path.is_absolute());
    files.map(Object::path).collect()
}

/// Whether a loaded file has `address`.
pub fn is_loaded(address: usize) -> bool {
    loaded().iter().any(|object| object.contains(address))
}

/// A place in host code.
pub struct Caller {
    /// Symbol of the function, or `file+0xoffset`.
    pub function: String,
    pub path: String,
    /// In the file's own addresses.
    pub offset: u64,
}

/// The function that has made the call that returns to `back`.
pub fn caller(back: usize) -> Caller {
    // The call itself, which may be the last instruction of its function.
    let at = back - 1;
    let Some(object) = Object::of(at) else {
        return Caller {
            function: format!("{back:#x}"),
            path: String::new(),
            offset: 0,
        };
    };
    let offset = object.offset(at);
    // SAFETY: a string of a module that is loaded.
    let of_image = |place: CodePlace| unsafe { CStr::from_ptr(place.function) };
    let nxp =
        modules::innermost(at as u64).map(|place| of_image(place).to_string_lossy().into_owned());
    let function = nxp
        .or_else(|| function_at(&object, offset))
        .unwrap_or_else(|| format!("{}+{offset:#x}", object.file_name()));
    Caller {
        function,
        path: object.path(),
        offset,
    }
}

/// Where the function with the code at `address` begins, if symbols tell.
pub fn start(address: usize) -> Option<usize> {
    let object = Object::of(address)?;
    let offset = object.offset(address);
    let bytes = object.map()?;
    let file = object::File::parse(&*bytes).ok()?;
    let symbol = file
        .symbols()
        .chain(file.dynamic_symbols())
        .find(|symbol| is_function_at(symbol, offset))?;
    Some(symbol.address().wrapping_add(object.bias) as usize)
}

fn is_function_at<'a>(symbol: &impl ObjectSymbol<'a>, offset: u64) -> bool {
    symbol.kind() == SymbolKind::Text
        && symbol.is_definition()
        && (symbol.address()..symbol.address() + symbol.size().max(1)).contains(&offset)
}

/// The function with the code at `offset` of the file.
fn function_at(object: &Object, offset: u64) -> Option<String> {
    let bytes = object.map()?;
    let file = object::File::parse(&*bytes).ok()?;
    let functions = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| is_function_at(symbol, offset));
    let names = functions.filter_map(|symbol| {
        let name = flick_names::plain(symbol.name().ok().filter(|name| !name.is_empty())?);
        Some((rank(name, symbol.is_local()), name.to_owned()))
    });
    names.min().map(|(_, name)| name)
}

/// Names the targets that were called. A function without a symbol is `file+0xoffset`.
pub fn name_all(targets: Vec<(usize, u64)>) -> Vec<Calls> {
    let objects = loaded();
    let mut calls = Vec::new();
    let mut by_object: BTreeMap<usize, Vec<(usize, u64)>> = BTreeMap::new();
    for (target, count) in targets
        .into_iter()
        .filter(|(target, count)| *target != 0 && *count != 0)
    {
        match objects.iter().position(|object| object.contains(target)) {
            Some(i) => by_object.entry(i).or_default().push((target, count)),
            None => {
                let function = format!("{target:#x}");
                calls.push(Calls {
                    function,
                    module: String::new(),
                    count,
                });
            }
        }
    }
    for (i, targets) in by_object {
        let object = &objects[i];
        let module = object.file_name();
        let names = names_of(object, targets.iter().map(|t| t.0 as u64));
        for (target, count) in targets {
            let function = names
                .get(&(target as u64))
                .cloned()
                .unwrap_or_else(|| format!("{module}+{:#x}", object.offset(target)));
            calls.push(Calls {
                function,
                module: module.clone(),
                count,
            });
        }
    }
    calls
}

/// The best name of each address that starts a function.
fn names_of(object: &Object, addrs: impl Iterator<Item = u64>) -> HashMap<u64, String> {
    let wanted: HashMap<u64, u64> = addrs
        .map(|addr| (addr.wrapping_sub(object.bias), addr))
        .collect();
    let mut best: HashMap<u64, (Rank, String)> = HashMap::new();
    let Some(bytes) = object.map() else {
        return HashMap::new();
    };
    let Ok(file) = object::File::parse(&*bytes) else {
        return HashMap::new();
    };
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Some(addr) = wanted.get(&symbol.address()) else {
            continue;
        };
        // An indirect function's symbol is its resolver.
        let function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
        let Some(name) = symbol
            .name()
            .ok()
            .filter(|name| function && !name.is_empty())
        else {
            continue;
        };
        let name = flick_names::plain(name);
        let rank = rank(name, symbol.is_local());
        if best.get(addr).is_none_or(|(known, _)| rank < *known) {
            best.insert(*addr, (rank, name.to_owned()));
        }
    }
    best.into_iter()
        .map(|(addr, (_, name))| (addr, name))
        .collect()
}

/// Of several symbols at one address people know the global one without underscores; lower is
/// better.
type Rank = (bool, bool, usize, String);

fn rank(name: &str, local: bool) -> Rank {
    (name.starts_with('_'), local, name.len(), name.to_owned())
}

/// Counts of the same function together.
pub fn merged(calls: Vec<Calls>) -> Vec<Calls> {
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    for c in calls {
        *sums.entry((c.function, c.module)).or_default() += c.count;
    }
    sums.into_iter()
        .map(|((function, module), count)| Calls {
            function,
            module,
            count,
        })
        .collect()
}

/// Name of the function at `target`.
pub fn name_of(target: u64) -> String {
    let names = name_all(vec![(target as usize, 1)]);
    names
        .first()
        .map_or(String::new(), |calls| calls.function.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_functions_of_the_program_and_of_libraries() {
        let here = names_functions_of_the_program_and_of_libraries as fn() as usize;
        let libc_function = libc::getppid as unsafe extern "C" fn() -> libc::pid_t as usize;
        let data = Box::into_raw(Box::new(0u8)) as usize;
        let named = name_all(vec![
            (here, 1),
            (libc_function, 2),
            (data, 3),
            (0, 9),
            (here + 1, 4),
        ]);
        // SAFETY: the box made above.
        drop(unsafe { Box::from_raw(data as *mut u8) });
        let of = |count| named.iter().find(|c| c.count == count).unwrap();
        assert!(
            of(1).function.contains("names_functions_of_the_program"),
            "{:?}",
            of(1)
        );
        assert_eq!(of(2).function, "getppid");
        assert!(of(2).module.starts_with("libc.so"), "{:?}", of(2));
        assert_eq!(of(3).function, format!("{data:#x}"));
        assert!(
            of(4).function.starts_with(&format!("{}+0x", of(1).module)),
            "{:?}",
            of(4)
        );
        assert_eq!(named.len(), 4);
    }

    #[test]
    fn equal_functions_are_added_up() {
        let calls = |f: &str, n| Calls {
            function: f.into(),
            module: "m".into(),
            count: n,
        };
        assert_eq!(
            merged(vec![calls("b", 1), calls("a", 2), calls("b", 3)]),
            [calls("a", 2), calls("b", 4)]
        );
    }
}
