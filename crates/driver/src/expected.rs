//! Marks on declarations of functions that this link has without them: FLK0215.
use std::collections::BTreeSet;

use flick_diagnostics::Code;
use flick_image::place_lines::{Placed, Reason};
use flick_names::demangled;

use crate::link_inputs::Inputs;
use crate::search::LinkInput;
use crate::{Error, Result};

/// A warning for each function that is marked where it is declared, was placed nowhere, and is
/// defined by an object of this link. A shared library's functions are its own link's matter.
pub fn unmet(inputs: &Inputs, files: &[LinkInput]) -> Result<Vec<Error>> {
    let mut names = BTreeSet::new();
    let open: Vec<&Placed> = inputs
        .expected
        .iter()
        .filter(|e| !inputs.placed.contains(&e.function) && names.insert(e.function.clone()))
        .collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let all = Inputs::read(files, &names)?;
    Ok(open
        .into_iter()
        .filter_map(|e| Some(warning(e, all.definers.get(&e.function)?)))
        .collect())
}

fn warning(expected: &Placed, definer: &str) -> Error {
    let Placed {
        function,
        file,
        line,
        ..
    } = expected;
    let mark = mark(expected);
    Error::new(
        Code::MarkedDeclaration,
        format!(
            "'{}' is marked {mark} and runs on the host",
            demangled(function)
        ),
        format!("{file}:{line}"),
        format!(
            "only a declaration has the mark; {definer} defines the function, and was compiled without"
        ),
        "mark the definition, or include the header with the mark there and compile with flick cc",
    )
}

/// `FLICK_NXP` or `FLICK_BOTH`.
pub fn mark(expected: &Placed) -> &str {
    match &expected.reason {
        Reason::Other(mark) => mark,
        _ => "",
    }
}
