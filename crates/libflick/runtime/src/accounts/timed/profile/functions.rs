//! Instrumented functions by their code, as their units have registered them.
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_char};
use std::sync::Mutex;

use flick_abi::timed::TimedUnit;
use flick_events::profile::AMBIGUOUS;

use crate::accounts::symbols;
use crate::locks::bounded::{self, held};

/// What a record says of a function. A copy: the unit's module may be closed before the end.
#[derive(Clone)]
pub struct Known {
    pub name: String,
    /// As [`flick_events::profile::Function::refusal`].
    pub refusal: String,
    pub module: String,
    pub offset: u64,
}

/// By entry. A module that is loaded where another was replaces its functions one by one.
static FUNCTIONS: Mutex<BTreeMap<usize, Known>> = Mutex::new(BTreeMap::new());

/// Adds the functions of a unit.
///
/// # Safety
/// `unit` is what the pass has made, of this version.
pub unsafe fn add(unit: *const TimedUnit) {
    let module = symbols::Object::of(unit as usize);
    let mut functions = held(&FUNCTIONS);
    // SAFETY: by contract.
    unsafe {
        for i in 0..(*unit).function_count as usize {
            let function = &*(*unit).functions.add(i);
            let entry = function.entry as usize;
            let place = module.as_ref().filter(|module| module.contains(entry));
            functions.insert(
                entry,
                Known {
                    name: flick_names::plain(&text(function.name)).to_owned(),
                    refusal: text(function.refusal),
                    module: place.map_or(String::new(), symbols::Object::path),
                    offset: place.map_or(0, |module| module.offset(entry)),
                },
            );
        }
    }
}

/// # Safety
/// Null, or a C string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Entry of the instrumented function with the code at `address`, where there is such code.
pub fn entry_of(address: usize) -> Option<usize> {
    let functions = bounded::lock(&FUNCTIONS)?;
    let (&entry, _) = functions.range(..=address).next_back()?;
    Some(entry)
}

/// The same for any code: what lies behind a function may be another's, of which only symbol tables
/// know, or another file's.
pub fn containing(address: usize) -> Option<usize> {
    let entry = entry_of(address)?;
    let module = symbols::Object::of(address)?;
    let start = symbols::start(address);
    (module.contains(entry) && start.is_none_or(|start| start == entry)).then_some(entry)
}

/// All functions that are known, by entry.
pub fn describe() -> BTreeMap<usize, Known> {
    let functions = held(&FUNCTIONS);
    let mut names: HashMap<&str, usize> = HashMap::new();
    for known in functions.values() {
        *names.entry(&known.name).or_default() += 1;
    }
    let ambiguous = |known: &Known| known.refusal.is_empty() && names[known.name.as_str()] > 1;
    let describe = |known: &Known| {
        let mut known = known.clone();
        if ambiguous(&known) {
            known.refusal = AMBIGUOUS.to_owned();
        }
        known
    };
    functions
        .iter()
        .map(|(&entry, known)| (entry, describe(known)))
        .collect()
}
