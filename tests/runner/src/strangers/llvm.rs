//! The programs of LLVM's test-suite: SingleSource and MultiSource of a checkout. The suite
//! describes them for CMake. This module reads the files that CMake generates: commands, links, and
//! `.test` files with the run.
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::stranger::{Data, Found, Level, Stranger, Unit};
use super::words;
use crate::program::{Language, sorted_entries};

/// GCC's tests, which we take from GCC.
const FROM_GCC: &str = "SingleSource/Regression/C/gcc-c-torture";

/// Has CMake look at the checkout `suite`, in the folder `build`, and reads what it wrote.
pub fn find(suite: &Path, build: &Path) -> Result<Found, String> {
    configure(suite, build)?;
    let commands = build.join("compile_commands.json");
    let text = fs::read_to_string(&commands).map_err(|e| format!("{}: {e}", commands.display()))?;
    let commands = Commands::parse(&text)?;
    let mut tests = Vec::new();
    for part in ["SingleSource", "MultiSource"] {
        tests_below(&build.join(part), &mut tests)?;
    }
    let mut found = Found::default();
    for test in tests {
        let path = test.strip_prefix(build).unwrap_or(&test);
        let name = path.with_extension("").display().to_string();
        if name.starts_with(FROM_GCC) {
            found.elsewhere.push((name, "is taken from GCC".into()));
            continue;
        }
        match stranger(&test, &name, &commands) {
            Ok(stranger) => found.programs.push(stranger),
            Err(why) => found.not_understood.push(format!("{name}: {why}")),
        }
    }
    Ok(found)
}

fn configure(suite: &Path, build: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(build);
    fs::create_dir_all(build).map_err(|e| format!("{}: {e}", build.display()))?;
    let done = Command::new("cmake")
        .args(["-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Release"])
        .args([
            "-DCMAKE_C_COMPILER=clang-19",
            "-DCMAKE_CXX_COMPILER=clang++-19",
        ])
        .arg("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        .arg("-DTEST_SUITE_SUBDIRS=SingleSource;MultiSource")
        .args([
            "-DTEST_SUITE_COLLECT_COMPILE_TIME=OFF",
            "-DTEST_SUITE_COLLECT_CODE_SIZE=OFF",
        ])
        // Not run: we read what it would be given.
        .args(["-DTEST_SUITE_LIT=/bin/true", "-DSMALL_PROBLEM_SIZE=ON"])
        .arg(suite)
        .current_dir(build)
        .output()
        .map_err(|e| format!("cmake: {e}"))?;
    if done.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(format!("cmake does not take {}:\n{text}", suite.display()))
}

fn tests_below(dir: &Path, tests: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in sorted_entries(dir)? {
        if path.is_dir() && path.file_name().is_some_and(|n| n != "CMakeFiles") {
            tests_below(&path, tests)?;
        } else if path.extension().is_some_and(|e| e == "test") {
            tests.push(path);
        }
    }
    Ok(())
}

/// The compile commands by the object that they make.
struct Commands(BTreeMap<PathBuf, (Language, Vec<String>, PathBuf)>);

impl Commands {
    fn parse(text: &str) -> Result<Self, String> {
        let all: Vec<Value> =
            serde_json::from_str(text).map_err(|e| format!("CMake's commands: {e}"))?;
        let mut map = BTreeMap::new();
        for entry in &all {
            let field = |name: &str| entry[name].as_str().unwrap_or_default();
            let Some(argv) = words::split(field("command")) else {
                continue;
            };
            let language = match argv.first().is_some_and(|cc| cc.contains("++")) {
                true => Language::Cxx,
                false => Language::C,
            };
            let mut options = Vec::new();
            let mut object = None;
            let mut rest = argv.into_iter().skip(1);
            while let Some(word) = rest.next() {
                match word.as_str() {
                    "-o" => object = rest.next(),
                    "-c" => {}
                    word if word == field("file") || word.starts_with("-O") => {}
                    _ => options.push(word),
                }
            }
            let object = Path::new(field("directory")).join(object.unwrap_or_default());
            map.insert(object, (language, options, field("file").into()));
        }
        Ok(Self(map))
    }
}

/// The program that a `.test` file beside it runs.
fn stranger(test: &Path, name: &str, commands: &Commands) -> Result<Stranger, String> {
    let dir = test.parent().unwrap_or(Path::new("."));
    let text = fs::read_to_string(test).map_err(|e| e.to_string())?;
    let program = test.file_stem().unwrap_or_default().to_string_lossy();
    let (args, stdin) = run_line(&text, &program)?;
    let target = target_of(dir, &program)?;
    let (objects, libs, language) = link_line(&target)?;
    let mut units: Vec<Unit> = Vec::new();
    for object in objects {
        let Some((language, words, source)) = commands.0.get(&dir.join(&object)) else {
            return Err(format!("nothing says how {object} is made"));
        };
        match units.last_mut() {
            Some(last) if last.language == *language && last.words == *words => {
                last.sources.push(source.clone())
            }
            _ => units.push(Unit {
                sources: vec![source.clone()],
                language: *language,
                words: words.clone(),
            }),
        }
    }
    let mut data = copies(&target, dir)?;
    for beside in sorted_entries(&dir.join("CMakeFiles"))? {
        // Targets that only copy.
        if beside.join("build.make").exists() && !beside.join("link.txt").exists() {
            data.extend(copies(&beside, dir)?);
        }
    }
    Ok(Stranger {
        name: name.into(),
        units,
        language,
        libs,
        args,
        stdin: stdin.map(PathBuf::from),
        data,
        succeeds: false,
        levels: Level::ALL.to_vec(),
    })
}

/// `RUN: cd %S ; %S/PROGRAM ARGS < INPUT`
fn run_line(text: &str, program: &str) -> Result<(Vec<String>, Option<String>), String> {
    let mut lines = text.lines().filter_map(|l| l.strip_prefix("RUN: "));
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return Err("not one RUN line".into());
    };
    let line = line.trim_start_matches("cd %S ; ").replace("%S/", "./");
    let not_words = || format!("RUN: {line}");
    let (command, input) = match line.split_once(" < ") {
        Some((command, input)) => (command, Some(input.trim().to_owned())),
        None => (line.as_str(), None),
    };
    let mut argv = words::split(command).ok_or_else(not_words)?;
    if argv.is_empty() || argv.remove(0) != format!("./{program}") || line.contains("%b") {
        return Err(not_words());
    }
    Ok((argv, input))
}

/// The folder of the target that links `program` in `dir`.
fn target_of(dir: &Path, program: &str) -> Result<PathBuf, String> {
    let named = dir.join(format!("CMakeFiles/{program}.dir"));
    if named.join("link.txt").exists() {
        Ok(named)
    } else {
        Err("no target has its name".into())
    }
}

/// Objects, libraries and the language of the link.
fn link_line(target: &Path) -> Result<(Vec<String>, Vec<String>, Language), String> {
    let text = fs::read_to_string(target.join("link.txt")).map_err(|e| e.to_string())?;
    let not_understood = || format!("link: {text}");
    let argv = words::split(&text).ok_or_else(not_understood)?;
    let language = match argv.first().is_some_and(|cc| cc.contains("++")) {
        true => Language::Cxx,
        false => Language::C,
    };
    let (mut objects, mut libs) = (Vec::new(), Vec::new());
    let mut rest = argv.into_iter().skip(1);
    while let Some(word) = rest.next() {
        if word == "-o" {
            rest.next();
        } else if word.ends_with(".o") {
            objects.push(word);
        } else if word.starts_with("-O") || word.starts_with("-D") {
        } else if word.starts_with('-') || word.starts_with('/') {
            libs.push(word);
        } else {
            return Err(not_understood());
        }
    }
    Ok((objects, libs, language))
}

/// The files that the target's rules put beside the program.
fn copies(target: &Path, dir: &Path) -> Result<Vec<Data>, String> {
    let text = fs::read_to_string(target.join("build.make")).map_err(|e| e.to_string())?;
    let commands = text.lines().filter(|l| l.starts_with('\t'));
    let commands = commands.filter_map(|l| words::split(l.split_once("/cmake -E ")?.1));
    Ok(commands.filter_map(|argv| copied(&argv, dir)).collect())
}

/// The file that a command of `cmake -E` puts below `dir`.
fn copied(argv: &[String], dir: &Path) -> Option<Data> {
    let [how, from, to] = argv else {
        return None;
    };
    let how = how.as_str();
    if ![
        "create_symlink",
        "copy",
        "copy_if_different",
        "copy_directory",
    ]
    .contains(&how)
    {
        return None;
    }
    let from = PathBuf::from(from);
    let to = Path::new(to).strip_prefix(dir).ok()?;
    // Into a folder: under its own name.
    let to = match from.file_name() {
        Some(name) if to.as_os_str().is_empty() && from.is_file() => PathBuf::from(name),
        _ => to.to_owned(),
    };
    let inside = to.components().all(|c| matches!(c, Component::Normal(_)));
    let wanted = inside && !to.to_string_lossy().contains("reference_output");
    wanted.then_some(Data {
        from,
        to,
        copied: how != "create_symlink",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_commands_with_an_input() {
        let line =
            "RUN: cd %S ; %S/sqlite3 -init sqlite3rc :memory: < commands\nVERIFY: %b/fpcmp x\n";
        let (args, input) = run_line(line, "sqlite3").unwrap();
        assert_eq!(args, ["-init", "sqlite3rc", ":memory:"]);
        assert_eq!(input.as_deref(), Some("commands"));
        assert!(run_line("RUN: cd %S ; %S/a | sort\n", "a").is_err());
        assert!(run_line("RUN: %S/a\nRUN: %S/a 2\n", "a").is_err());
    }

    #[test]
    fn data_goes_below_the_program() {
        let dir = Path::new("/b/x");
        let argv = |line: &str| words::split(line).unwrap();
        let link = copied(&argv("create_symlink /s/x/in /b/x/in"), dir).unwrap();
        assert!(link.to == Path::new("in") && !link.copied);
        let folder = copied(&argv("copy_directory /s/x/data /b/x/d"), dir).unwrap();
        assert!(folder.to == Path::new("d") && folder.copied);
        assert_eq!(copied(&argv("copy /s/y /b/z"), dir), None);
        assert_eq!(copied(&argv("rm -f /b/x/a"), dir), None);
    }

    #[test]
    fn commands_are_found_by_their_objects() {
        let text = r#"[{"directory": "/b/x", "file": "/s/x/a.cpp",
            "command": "/usr/bin/clang++ -DN=\\\"1\\\" -O3 -I/s -o CMakeFiles/a.dir/a.cpp.o -c /s/x/a.cpp"}]"#;
        let commands = Commands::parse(text).unwrap();
        let (language, options, source) = &commands.0[Path::new("/b/x/CMakeFiles/a.dir/a.cpp.o")];
        assert_eq!(*language, Language::Cxx);
        assert_eq!(options[..], ["-DN=\"1\"", "-I/s"]);
        assert_eq!(source, Path::new("/s/x/a.cpp"));
    }
}
