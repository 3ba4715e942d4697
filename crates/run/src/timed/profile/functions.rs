//! Instrumented functions by their code, as their units have told of them.
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Mutex;

use flick_abi::timed::{TimedFunction, TimedUnit};

use super::super::patient::{self, held};
use crate::stats::symbols;

struct Known(*const TimedFunction);
// SAFETY: records of modules, which nobody changes.
unsafe impl Send for Known {}

/// By entry.
static FUNCTIONS: Mutex<BTreeMap<usize, Known>> = Mutex::new(BTreeMap::new());

/// Adds the functions of a unit.
///
/// # Safety
/// `unit` is what the pass has made, of this version, and stays loaded.
pub unsafe fn add(unit: *const TimedUnit) {
    let mut functions = held(&FUNCTIONS);
    // SAFETY: by contract.
    unsafe {
        for i in 0..(*unit).function_count as usize {
            let function = (*unit).functions.add(i);
            functions.insert((*function).entry as usize, Known(function));
        }
    }
}

/// Entry of the instrumented function with the code at `address`, where there is such code.
pub fn entry_of(address: usize) -> Option<usize> {
    let functions = patient::lock(&FUNCTIONS)?;
    let (&entry, _) = functions.range(..=address).next_back()?;
    Some(entry)
}

/// The same for any code: what lies behind a function may be another's, of which only symbol tables know.
pub fn containing(address: usize) -> Option<usize> {
    let entry = entry_of(address)?;
    let start = symbols::start(address);
    start.is_none_or(|start| start == entry).then_some(entry)
}

fn name_of(known: &Known) -> String {
    // SAFETY: a record of a loaded module, with C strings.
    let name = unsafe { CStr::from_ptr((*known.0).name) };
    flick_names::plain(&name.to_string_lossy()).to_owned()
}

/// Name of the function at `entry`, and the code of the error that refuses it on the NxP.
pub fn describe(entry: usize) -> Option<(String, String)> {
    let functions = held(&FUNCTIONS);
    let known = functions.get(&entry)?;
    if !symbols::is_loaded(known.0 as usize) {
        return None;
    }
    // SAFETY: a record of a loaded module, with C strings.
    let refusal = unsafe {
        let refusal = (*known.0).refusal;
        match refusal.is_null() {
            true => String::new(),
            false => CStr::from_ptr(refusal).to_string_lossy().into_owned(),
        }
    };
    Some((name_of(known), refusal))
}
