//! Logic of accelerators from shared objects (`include/flick_accelerator.h`).
use std::cell::Cell;
use std::path::{Path, PathBuf};

use flick_accelerator::c_interface::{
    ABI, ABI_PREFIX, ALIGNMENT, Block, FAILED, Function, MEMORY_PREFIX, Memory,
};
use flick_accelerator::{Accelerator, Computed};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use object::{Object, ObjectSymbol};

/// Why a shared object has no logic for a tile.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum BadLogic {
    #[error("it cannot be loaded: {}", reason(.0))]
    Library(libloading::Error),
    #[error("it has no function {function}{}", known(.others))]
    Function {
        function: String,
        others: Vec<String>,
    },
    #[error("its function {0} does not say which version of the interface it is for")]
    NoVersion(String),
    #[error(
        "its function {function} is for version {found} of the interface, and this Flick has {ABI}"
    )]
    Version { function: String, found: u32 },
}

impl BadLogic {
    /// What to do next.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Library(_) => {
                "change `library`, which is a path from the machine file on, or make it: cc -shared -fPIC"
            }
            Self::Function { .. } => {
                "change `function` of [tile.accelerator], or export that function from the shared object"
            }
            Self::NoVersion(_) => {
                "write FLICK_ACCELERATOR(NAME); in front of it (flick_accelerator.h), in Rust flick_accelerator::export!"
            }
            Self::Version { .. } => {
                "compile it again, with the flick_accelerator.h of this Flick, or its crate"
            }
        }
    }
}

/// The loader's own words.
fn reason(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or(error.to_string(), ToString::to_string)
}

/// The end of a sentence with the accelerators that there are.
fn known(others: &[String]) -> String {
    match others.is_empty() {
        true => String::new(),
        false => format!("; it has {}", others.join(", ")),
    }
}

/// The accelerators that a shared object has.
fn names_in(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else {
        return vec![];
    };
    let names = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    let names = names.filter_map(|symbol| symbol.name().ok()?.strip_prefix(ABI_PREFIX));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// A function of a shared object, as logic.
pub struct LoadedLogic {
    function: Function,
    memory: Option<Memory>,
    /// For messages.
    tile: String,
    name: String,
    path: PathBuf,
    /// What is wrong was said.
    is_said: Cell<bool>,
    /// Which has the function.
    _library: Library,
}

impl LoadedLogic {
    /// The function of the shared object at a path, for a tile.
    pub fn new(path: &Path, function: &str, tile: &str) -> Result<Self, BadLogic> {
        // The loader looks for a name without a folder among those of the system.
        let path = match path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new(".").join(path),
            _ => path.to_owned(),
        };
        // At once: a symbol that is missing is an error here, and would end the process later.
        // SAFETY: the user wants its code to be executed, by naming the file.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(BadLogic::Library)?;
        let missing = || BadLogic::Function {
            function: function.to_owned(),
            others: names_in(&path),
        };
        // SAFETY: null, or a function, which is called only where the variable beside it says of which type it is.
        let found = unsafe { library.get::<Option<Function>>(function) };
        let found = found.ok().and_then(|found| *found).ok_or_else(missing)?;
        let version = format!("{ABI_PREFIX}{function}");
        // SAFETY: null, or a variable, which has this type in all versions of the interface.
        let version = unsafe {
            let place = library.get::<*const u32>(&version);
            let place = place.ok().filter(|place| !place.is_null());
            place.map(|place| place.read_unaligned())
        };
        let version = version.ok_or_else(|| BadLogic::NoVersion(function.to_owned()))?;
        if version != ABI {
            return Err(BadLogic::Version {
                function: function.to_owned(),
                found: version,
            });
        }
        let memory = format!("{MEMORY_PREFIX}{function}");
        // SAFETY: null, or a function, which has this type in this version of the interface.
        let memory = unsafe { library.get::<Option<Memory>>(&memory) };
        Ok(Self {
            function: found,
            memory: memory.ok().and_then(|memory| *memory),
            tile: tile.to_owned(),
            name: function.to_owned(),
            path,
            is_said: Cell::new(false),
            _library: library,
        })
    }

    /// Tells the user, once, why an activity ends with an error.
    fn say(&self, what: &str) {
        if self.is_said.replace(true) {
            return;
        }
        let text = format!(
            "flick: the accelerator of tile {}, {} of {}, {what}\n",
            self.tile,
            self.name,
            self.path.display()
        );
        // Not by std's standard error: in a host program this may be a signal handler.
        // SAFETY: the bytes are valid. A failed write has no remedy.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }

    /// Calls the function. The memory is aligned.
    fn call(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed {
        let block = Block {
            memory: memory.as_mut_ptr(),
            memory_size: memory.len() as u64,
            size: size as u64,
            is_last: is_last.into(),
        };
        // SAFETY: a function of this interface, with memory that nobody else uses.
        let output = unsafe { (self.function)(&block) };
        if output.size == FAILED {
            self.say(&format!(
                "has failed at a block of {size} bytes; the activity ends with an error"
            ));
        } else if output.size > memory.len() as u64 {
            self.say(&format!(
                "has returned {} bytes of output for a block of {size} bytes, and the local memory has {}; \
                 the activity ends with an error; give the tile more memory, or return less",
                output.size,
                memory.len()
            ));
        }
        output.into()
    }
}

impl Accelerator for LoadedLogic {
    fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed {
        if memory.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            return self.call(memory, size, is_last);
        }
        let mut aligned = vec![0_u128; memory.len().div_ceil(ALIGNMENT)];
        // SAFETY: bytes of the vector, at least as many as the memory has.
        let copy = unsafe {
            std::slice::from_raw_parts_mut(aligned.as_mut_ptr().cast::<u8>(), memory.len())
        };
        copy.copy_from_slice(memory);
        let computed = self.call(copy, size, is_last);
        memory.copy_from_slice(copy);
        computed
    }

    fn memory(&self, block: u64) -> u64 {
        // SAFETY: a function of this interface.
        self.memory.map_or(block, |memory| unsafe { memory(block) })
    }
}
