//! `flick place --explain`.
use std::path::Path;

use flick_diagnostics::Code;
use flick_image::elf_kind::{parse_host, read_file};
use flick_image::place_lines::{Placed, Reason};
use flick_image::{Placements, final_file, needed};
use flick_names::Demangle;

use crate::{Error, Result, expected};

/// A table of where each selected function of a program, library or object is and why; text that
/// ends in a newline. A program of which nothing is placed may need libraries that have such
/// functions: then theirs. FLK0105, FLK0304, FLK0307, FLK0308.
pub fn place_explain(path: &Path, demangle: Demangle) -> Result<String> {
    let libraries = needed::with_placements(path);
    let own = match own_table(path, demangle) {
        Ok(table) => table,
        Err(error) if error.code != Code::NoNxpCode || libraries.is_empty() => return Err(error),
        Err(error) => {
            let mut text = format!("{}: {}\n", path.display(), error.why);
            for (library, found) in libraries {
                text += &format!("\n{}, a library that it needs:\n", library.display());
                text += &table(found.functions, demangle);
            }
            return Ok(text);
        }
    };
    let others = libraries.iter().map(|(library, found)| {
        let count = found.functions.len();
        let s = if count == 1 { "" } else { "s" };
        let library = library.display();
        format!("{count} more function{s} in a library: flick place --explain {library}\n")
    });
    Ok(own + &others.collect::<String>())
}

fn own_table(path: &Path, demangle: Demangle) -> Result<String> {
    let place = path.display();
    let data = read_file(path)?;
    let file = parse_host(&data).map_err(|e| e.at(&place))?;
    final_file::check_version(&file).map_err(|e| e.at(&place))?;
    let mut found = Placements::of_file(&file).map_err(|e| e.at(&place))?;
    for mut declared in found.expected {
        if found
            .functions
            .iter()
            .all(|f| f.function != declared.function)
        {
            let mark = expected::mark(&declared);
            declared.reason =
                Reason::Other(format!("{mark} marks this declaration, and no definition"));
            declared.placement = "host".into();
            found.functions.push(declared);
        }
    }
    if found.functions.is_empty() && final_file::is_stripped(&file) {
        let (why, help) = final_file::STRIPPED;
        let what = "no placement in this file";
        return Err(Error::new(
            Code::NoNxpCode,
            what,
            place.to_string(),
            why,
            help,
        ));
    }
    if found.functions.is_empty() {
        return Err(Error::new(
            Code::NoNxpCode,
            "no NxP code in this file",
            place.to_string(),
            "no function was marked, or chosen by a placement file",
            "mark functions with FLICK_NXP (flick.h; a mark on a class, or on the function that another \
             one overrides, marks nothing), or compile with --flick-place=FILE",
        ));
    }
    Ok(table(found.functions, demangle))
}

fn table(mut functions: Vec<Placed>, demangle: Demangle) -> String {
    // A header's inline function says the same in every unit.
    functions.sort_by(|a, b| {
        (&a.unit, &a.file, a.line, &a.function).cmp(&(&b.unit, &b.file, b.line, &b.function))
    });
    functions.dedup();
    let mut rows = vec![["function", "where", "why", "unit", "source"].map(String::from)];
    rows.extend(functions.iter().map(|f| {
        let source = match (f.file.as_str(), f.line) {
            ("", _) => "?".into(),
            (file, 0) => file.into(),
            (file, line) => format!("{file}:{line}"),
        };
        [
            demangle.apply(&f.function).into_owned(),
            f.placement.clone(),
            f.why(),
            f.unit.clone(),
            source,
        ]
    }));
    // One very long C++ name does not push every other line out of sight.
    const WIDEST: usize = 60;
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..4)
        .filter_map(width)
        .map(|width| width.min(WIDEST))
        .collect();
    let mut text = String::new();
    for row in &rows {
        for (cell, &width) in row.iter().zip(&widths) {
            text.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(&row[4]);
        text.push('\n');
    }
    let count = |placement: &str| {
        functions
            .iter()
            .filter(|f| f.placement == placement)
            .count()
    };
    let refused = functions
        .iter()
        .filter(|f| matches!(f.reason, Reason::Refused(_)))
        .count();
    text.push_str(&format!(
        "{} on the NxP, {} on both sides, {} on the host ({refused} of them could not be placed)\n",
        count("nxp"),
        count("both"),
        count("host"),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let lines = b"v1\ta.c\tmain\thost\trefused:FLK0202\tinline assembly\ta.c\t9\n\
                      v1\ta.c\tf\tnxp\tmark\t\ta.c\t3\nv1\ta.c\tf\tnxp\tmark\t\ta.c\t3\n";
        let text = table(Placements::parse(lines).unwrap().functions, Demangle::Yes);
        let want = "\
function  where  why                                         unit  source
f         nxp    marked in the source                        a.c   a.c:3
main      host   cannot be placed [FLK0202]: inline assembly  a.c   a.c:9
1 on the NxP, 0 on both sides, 1 on the host (1 of them could not be placed)
";
        // The widest cell of a column sets its width.
        assert_eq!(
            text.lines().nth(1).unwrap().find("a.c"),
            text.lines().nth(2).unwrap().find("a.c")
        );
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            want.split_whitespace().collect::<Vec<_>>()
        );
    }
}
