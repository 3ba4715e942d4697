//! What a trace's numbers stand for: functions and call sites, numbered as they come and named at
//! the end, when time no longer matters.
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Mutex;

use flick_abi::layout::Gate;
use flick_events::trace::IDLE;
use flick_timing::platform::PARTS;

use crate::accounts::symbols;
use crate::locks::bounded::{self, held};
use crate::modules;

/// What a number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thing {
    /// [`PARTS`]
    Part(usize),
    Gate(usize),
    /// A host function by its address.
    Host(u64),
    /// Host code that has made a call which returns here.
    Caller(u64),
    /// NxP code.
    Nxp(u64),
    /// A hart of a card that executes no thread's code.
    Idle,
}

static NUMBERS: Mutex<Option<HashMap<Thing, u32>>> = Mutex::new(None);

pub fn number(thing: Thing) -> u32 {
    // A signal handler that interrupts this has unknown functions.
    let Some(mut numbers) = bounded::lock(&NUMBERS) else {
        return 0;
    };
    let numbers = numbers.get_or_insert_default();
    let next = numbers.len() as u32 + 1;
    *numbers.entry(thing).or_insert(next)
}

/// All that have a number, which are removed.
pub fn take() -> HashMap<Thing, u32> {
    let mut numbers = held(&NUMBERS);
    numbers.take().unwrap_or_default()
}

#[derive(Default)]
pub struct Name {
    pub text: String,
    pub file: String,
    pub line: u32,
}

pub fn name(thing: Thing) -> Name {
    let text = match thing {
        Thing::Part(part) => PARTS[part].to_owned(),
        Thing::Gate(gate) if symbols::is_loaded(gate) => {
            // SAFETY: the record of a gate of a loaded module.
            let name = unsafe { CStr::from_ptr((*(gate as *const Gate)).name) };
            flick_names::plain(&name.to_string_lossy()).to_owned()
        }
        Thing::Gate(_) => "(of a library that was closed)".to_owned(),
        Thing::Host(target) => {
            let names = symbols::name_all(vec![(target as usize, 1)]);
            names
                .first()
                .map_or(String::new(), |calls| calls.function.clone())
        }
        Thing::Idle => IDLE.to_owned(),
        Thing::Caller(back) => symbols::caller(back as usize).function,
        Thing::Nxp(address) => {
            let mut found = Name::default();
            modules::describe(address, |place| {
                let text = |text| {
                    // SAFETY: a C string of a loaded image.
                    let text = unsafe { CStr::from_ptr(text) };
                    text.to_string_lossy().into_owned()
                };
                // The real function comes last.
                found.text = flick_names::plain(&text(place.function)).to_owned();
                if !place.file.is_null() {
                    (found.file, found.line) = (text(place.file), place.line);
                }
            });
            return found;
        }
    };
    Name {
        text,
        ..Name::default()
    }
}
