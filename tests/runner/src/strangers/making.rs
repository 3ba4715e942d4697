//! Builds a program of others by one compiler.
use std::fs;
use std::path::{Path, PathBuf};

use super::stranger::{Level, Stranger, Unit};
use crate::build::Compiler;
use crate::exec::Invocation;
use crate::program::Language;
use crate::suite::Setup;

/// Seconds for a command; a busy machine takes several times as long as a quiet one.
const LIMIT: u64 = 600;

pub struct Made {
    pub program: PathBuf,
    /// As a person repeats them.
    pub commands: Vec<String>,
}

#[derive(Debug)]
pub struct Failed {
    pub commands: Vec<String>,
    /// The last command's messages.
    pub text: String,
}

/// Builds it in `dir`, which is emptied first. `without`: options that are left out.
pub fn make(
    stranger: &Stranger,
    level: Level,
    compiler: &Compiler,
    without: &[String],
    dir: &Path,
    setup: &Setup,
) -> Result<Made, Failed> {
    let mut commands = Vec::new();
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir).map_err(|e| Failed {
        commands: Vec::new(),
        text: format!("{}: {e}", dir.display()),
    })?;
    for mut argv in argvs(stranger, level, compiler) {
        argv.retain(|word| !without.contains(word));
        let mut step = Invocation::new(argv, dir);
        step.timeout = LIMIT;
        commands.push(step.shell());
        step.env.extend(setup.warm_path());
        if let Err(text) = step.succeed("build") {
            return Err(Failed { commands, text });
        }
    }
    Ok(Made {
        program: dir.join("prog"),
        commands,
    })
}

/// The commands: a single one where all sources are compiled in the same way.
fn argvs(stranger: &Stranger, level: Level, compiler: &Compiler) -> Vec<Vec<String>> {
    let driver = |language: Language| match language {
        Language::C => compiler.cc.clone(),
        Language::Cxx => compiler.cxx.clone(),
    };
    let compile = |unit: &Unit| {
        let mut argv = vec![driver(unit.language)];
        argv.extend(unit.words.iter().cloned());
        argv.push(level.to_string());
        argv.extend(compiler.extra.iter().cloned());
        argv
    };
    let linking = || {
        let mut words = vec!["-fuse-ld=lld".to_owned(), "-o".into(), "prog".into()];
        words.extend(stranger.libs.iter().cloned());
        words
    };
    let path = |source: &PathBuf| source.display().to_string();
    if let [unit] = &stranger.units[..]
        && unit.language == stranger.language
    {
        let mut argv = compile(unit);
        argv.extend(unit.sources.iter().map(path));
        argv.extend(linking());
        return vec![argv];
    }
    let mut all = Vec::new();
    let mut link = vec![driver(stranger.language)];
    link.extend(compiler.extra.iter().cloned());
    for unit in &stranger.units {
        for source in &unit.sources {
            let object = format!("unit{}.o", all.len());
            let mut argv = compile(unit);
            argv.extend(["-c".into(), path(source), "-o".into(), object.clone()]);
            all.push(argv);
            link.push(object);
        }
    }
    link.extend(linking());
    all.push(link);
    all
}

/// The options that clang's message says it does not know: they ask GCC for a way to compile.
pub fn unknown_options(text: &str) -> Vec<String> {
    let messages = [
        "unknown argument: '",
        "unknown argument '",
        "unsupported option '",
    ];
    let after = |line: &str| {
        let (_, rest) = messages.iter().find_map(|m| line.split_once(m))?;
        let (option, _) = rest.split_once('\'')?;
        Some(option.to_owned())
    };
    text.lines().filter_map(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(source: &str, language: Language) -> Unit {
        Unit {
            sources: vec![source.into()],
            language,
            words: vec!["-w".into()],
        }
    }

    fn stranger(units: Vec<Unit>) -> Stranger {
        Stranger {
            name: "x".into(),
            units,
            language: Language::C,
            libs: vec!["-lm".into()],
            args: Vec::new(),
            stdin: None,
            data: Vec::new(),
            succeeds: true,
            levels: Vec::new(),
        }
    }

    #[test]
    fn one_command_or_one_for_each_source() {
        let clang = Compiler::clang(&["-Dx"]);
        let line = |argv: &Vec<String>| argv.join(" ");
        let simple = stranger(vec![unit("a.c", Language::C)]);
        let lines: Vec<_> = argvs(&simple, Level::Os, &clang).iter().map(line).collect();
        assert_eq!(lines, ["clang-19 -w -Os -Dx a.c -fuse-ld=lld -o prog -lm"]);
        let mixed = stranger(vec![unit("a.c", Language::C), unit("b.cpp", Language::Cxx)]);
        let lines: Vec<_> = argvs(&mixed, Level::O2, &clang).iter().map(line).collect();
        assert_eq!(
            lines,
            [
                "clang-19 -w -O2 -Dx -c a.c -o unit0.o",
                "clang++-19 -w -O2 -Dx -c b.cpp -o unit1.o",
                "clang-19 -Dx unit0.o unit1.o -fuse-ld=lld -o prog -lm"
            ]
        );
    }

    #[test]
    fn options_for_gcc_are_found() {
        let text = "clang-19: error: unknown argument: '-fweb'\n\
                    clang-19: error: unsupported option '-mfp16-format=ieee' for target 'x'\nx\n";
        assert_eq!(unknown_options(text), ["-fweb", "-mfp16-format=ieee"]);
    }
}
