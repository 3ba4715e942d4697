//! The words of `flick advise --verify`: the program with its arguments, `--`, and the command that builds it.
use std::ffi::OsString;

use flick_diagnostics::Code;
use flick_driver::Error;

/// The program's words, and the build command's. FLK0104 where one of them is missing.
pub fn with_build(
    mut words: Vec<OsString>,
) -> Result<(Vec<OsString>, Option<Vec<OsString>>), Error> {
    let at = words.iter().position(|word| word == "--");
    let build = at.map(|at| words.split_off(at)[1..].to_vec());
    match build {
        Some(build) if !build.is_empty() && !words.is_empty() => Ok((words, Some(build))),
        _ => Err(Error::new(
            Code::BadOption,
            "no build command is named",
            "--verify",
            "it builds the program by the advice, with the command behind the program's words",
            "for example: flick advise --verify ./program input -- make -B",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_dashes_part_the_commands() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let (program, build) = with_build(words("./p -x -- make -B -- all")).unwrap();
        assert_eq!(program, words("./p -x"));
        assert_eq!(build, Some(words("make -B -- all")));
        for line in ["./p -x", "./p --", "-- make"] {
            assert_eq!(with_build(words(line)).unwrap_err().code, Code::BadOption);
        }
    }
}
