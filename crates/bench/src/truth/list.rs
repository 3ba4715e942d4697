//! The list of programs that `bench/truth/build.sh` leaves beside them.
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use flick_driver::Error;
use serde::Deserialize;

/// The file's name.
pub const NAME: &str = "list.toml";

/// A program, built twice from the same sources.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub name: String,
    /// Where it comes from.
    pub group: String,
    /// By clang, and with what timed runs need: paths in the folder of the list.
    pub plain: PathBuf,
    pub timed: PathBuf,
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Two programs of one pair execute the same instructions on other data.
    #[serde(default)]
    pub pair: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    program: Vec<Program>,
}

fn parse(text: &str) -> Result<Vec<Program>, String> {
    let List { program } = toml::from_str(text).map_err(|e| e.to_string().trim().to_owned())?;
    if program.is_empty() {
        return Err("no [[program]] is there".to_owned());
    }
    for (n, of) in program.iter().enumerate() {
        if program[..n].iter().any(|before| before.name == of.name) {
            return Err(format!("two programs are named `{}`", of.name));
        }
    }
    Ok(program)
}

/// `--only` names a program that is not in the list of a folder.
pub fn no_program(dir: &Path, name: &str) -> Error {
    Error::new(
        Code::BadOption,
        "the list has no such program",
        dir.join(NAME).display().to_string(),
        format!("no program is named `{name}`"),
        "give --only a `name` of the list, once for each program",
    )
}

/// The programs of a folder.
pub fn read(dir: &Path) -> Result<Vec<Program>, Error> {
    let path = dir.join(NAME);
    let wrong = |why: String| {
        Error::new(
            Code::FileAccess,
            "the list of programs cannot be read",
            path.display().to_string(),
            why,
            "build the programs: bench/truth/build.sh DIR",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|e| wrong(e.to_string()))?;
    let mut all = parse(&text).map_err(wrong)?;
    for program in &mut all {
        program.plain = dir.join(&program.plain);
        program.timed = dir.join(&program.timed);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let one = "[[program]]\nname = \"a\"\ngroup = \"g\"\nplain = \"p/a\"\ntimed = \"t/a\"\n";
        let all = parse(&format!("{one}arguments = [\"1\"]\npair = \"x\"\n")).unwrap();
        assert_eq!(
            (all[0].arguments.clone(), all[0].pair.clone()),
            (vec!["1".to_owned()], Some("x".to_owned()))
        );
        assert_eq!(parse("").unwrap_err(), "no [[program]] is there");
        let twice = parse(&format!("{one}{one}")).unwrap_err();
        assert_eq!(twice, "two programs are named `a`");
        assert!(
            parse(&format!("{one}time = 3\n"))
                .unwrap_err()
                .contains("unknown field")
        );
    }
}
