//! `flick config`: every setting, where it comes from, and what is wrong with it.
use std::env;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use flick_abi::settings::{
    CHOICES, INJECT, MACHINE, PLACE, PLATFORM, STATISTICS, STATISTICS_HELP, Statistics, TRACE,
    TRACE_SIZE,
};
use flick_abi::{ABI_VERSION, NXP_MARCH};
use flick_diagnostics::Code;
use flick_driver::{Error, Root, TOOLS, Tool};
use serde_json::json;

use crate::print;

/// Variables of Flick that no part of [`flick_abi::settings`] describes.
const OTHER_VARIABLES: [&str; 3] = ["FLICK_ROOT", SAVE_DIR, PLACE];
/// How all of them begin.
const PREFIX: &str = "FLICK_";
/// Where `flick-cc` leaves reproductions of its commands (`docs/driver.md`).
const SAVE_DIR: &str = "FLICK_SAVE_DIR";

/// One line of the answer.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    value: String,
    /// `default`, `environment`, `command line`, `built in`, or where it was found.
    origin: String,
    /// Code, what is wrong, and what to do.
    problem: Option<(Code, String, String)>,
}

impl Setting {
    fn new(name: impl Into<String>, value: impl Into<String>, origin: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            origin: origin.into(),
            problem: None,
        }
    }

    fn bad(mut self, code: Code, what: impl Into<String>, help: impl Into<String>) -> Self {
        self.problem = Some((code, what.into(), help.into()));
        self
    }
}

/// A heading and what stands below it.
type Group = (&'static str, Vec<Setting>);

/// Prints all settings. Exit status 1 if one is bad. FLK0105.
pub fn run(place: &[String], as_json: bool) -> Result<ExitCode, Error> {
    let groups = [
        ("Flick", flick()),
        ("programs at run time", run_time(|name| env::var_os(name))),
        ("placement", placement(place)),
        ("tools", tools()),
        ("files", files()),
        ("build platform", platform()),
    ];
    if as_json {
        print(&flick_report::json::document("config", json(&groups)))?;
    } else {
        print(&text(&groups))?;
    }
    let mut all = groups.iter().flat_map(|(_, all)| all);
    Ok(if all.any(|setting| setting.problem.is_some()) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn text(groups: &[Group]) -> String {
    let all = || groups.iter().flat_map(|(_, all)| all);
    let width = |of: fn(&Setting) -> &str, most: usize| {
        let widest = all().map(|setting| of(setting).chars().count()).max();
        widest.unwrap_or(0).min(most)
    };
    let (names, values) = (width(|s| &s.name, 30), width(|s| &s.value, 48));
    let mut text = String::new();
    for (title, settings) in groups {
        text += &format!("{title}:\n");
        for s in settings {
            let (name, value) = (&s.name, &s.value);
            text += &format!("  {name:<names$}  {value:<values$}  ({})\n", s.origin);
            if let Some((code, what, help)) = &s.problem {
                text += &format!("    error: [{code}] {what}\n    help: {help}\n");
            }
        }
    }
    text
}

fn json(groups: &[Group]) -> serde_json::Value {
    let settings = groups.iter().flat_map(|(group, all)| {
        all.iter().map(move |s| {
            let problem = s.problem.as_ref().map(
                |(code, what, help)| json!({ "code": code.text(), "what": what, "help": help }),
            );
            json!({
                "group": group,
                "name": s.name,
                "value": s.value,
                "origin": s.origin,
                "problem": problem,
            })
        })
    });
    json!({ "settings": settings.collect::<Vec<_>>() })
}

fn flick() -> Vec<Setting> {
    let built_in = |name: &str, value: String| Setting::new(name, value, "built in");
    let mut all = vec![
        built_in("version", env!("CARGO_PKG_VERSION").into()),
        built_in("ABI version", ABI_VERSION.to_string()),
        built_in("NxP instruction set", NXP_MARCH.into()),
        built_in("NxP backend", "inline".into()),
    ];
    let own = env::current_exe().and_then(|exe| exe.canonicalize());
    let variable = env::var_os("FLICK_ROOT");
    all.push(match Root::find() {
        Ok(root) => {
            let beside = own.is_ok_and(|exe| exe.starts_with(root.dir()));
            let origin = match (beside, &variable) {
                (true, Some(_)) => "found beside this command; FLICK_ROOT is not used",
                (true, None) => "found beside this command",
                (false, _) => "environment, FLICK_ROOT",
            };
            Setting::new("root", root.dir().display().to_string(), origin)
        }
        Err(error) => {
            let origin = if variable.is_some() {
                "environment, FLICK_ROOT"
            } else {
                "default"
            };
            Setting::new("root", "none", origin).bad(
                error.code,
                format!("{}: {}: {}", error.what, error.place, error.why),
                error.help,
            )
        }
    });
    all.push(match env::var_os(SAVE_DIR).filter(|dir| !dir.is_empty()) {
        None => Setting::new(SAVE_DIR, "off", "default"),
        Some(dir) => Setting::new(SAVE_DIR, dir.to_string_lossy(), "environment"),
    });
    all.push(match env::var_os(PLACE).filter(|file| !file.is_empty()) {
        None => Setting::new(PLACE, "none", "default"),
        Some(file) => {
            let shown = file.to_string_lossy().into_owned();
            let setting = Setting::new(PLACE, &shown, "environment");
            match flick_driver::check_place_option(&shown) {
                Ok(()) => setting,
                Err(error) => setting.bad(error.code, error.why, error.help),
            }
        }
    });
    all
}

fn name_of(variable: &CStr) -> String {
    variable.to_string_lossy().into_owned()
}

/// What a program started from here would see in `variable`.
fn run_time(variable: impl Fn(&OsStr) -> Option<std::ffi::OsString>) -> Vec<Setting> {
    let get = |name: &CStr| variable(OsStr::from_bytes(name.to_bytes()));
    let mut all = Vec::new();
    for choice in CHOICES {
        let name = name_of(choice.variable);
        let Some(value) = get(choice.variable).filter(|value| !value.is_empty()) else {
            all.push(Setting::new(name, choice.values[0], "default"));
            continue;
        };
        let shown = value.to_string_lossy().into_owned();
        let setting = Setting::new(&name, &shown, "environment");
        all.push(match choice.parse(value.as_bytes()) {
            Some(_) => setting,
            None => setting.bad(
                Code::BadEnvironment,
                format!("{name}={shown} is not understood ({})", choice.meaning),
                flick_names::use_one_of(&shown, choice.values),
            ),
        });
    }
    let name = name_of(STATISTICS);
    all.push(match get(STATISTICS).filter(|value| !value.is_empty()) {
        None => Setting::new(name, "off", "default"),
        Some(value) => {
            let shown = value.to_string_lossy().into_owned();
            let meaning = match Statistics::parse(value.as_bytes()) {
                Some(Statistics::Off) => "off".into(),
                Some(Statistics::Stderr) => "summary on stderr".into(),
                Some(Statistics::File(_)) => format!("record in {shown}"),
                None => shown.clone(),
            };
            let setting = Setting::new(&name, meaning, "environment");
            match Statistics::parse(value.as_bytes()) {
                Some(_) => setting,
                None => setting.bad(
                    Code::BadEnvironment,
                    format!("{name}={shown} is not understood"),
                    STATISTICS_HELP,
                ),
            }
        }
    });
    let name = name_of(PLATFORM);
    all.push(match get(PLATFORM).filter(|value| !value.is_empty()) {
        None => Setting::new(name, "none", "default"),
        Some(value) => {
            let shown = value.to_string_lossy().into_owned();
            let setting = Setting::new(&name, &shown, "environment");
            match flick_timing::Platform::load(&shown) {
                Ok(_) => setting,
                Err(error) => setting.bad(Code::UnusablePlatform, error.to_string(), error.help),
            }
        }
    });
    let name = name_of(MACHINE);
    all.push(match get(MACHINE).filter(|value| !value.is_empty()) {
        None => Setting::new(name, "card", "default"),
        Some(value) => {
            let shown = value.to_string_lossy().into_owned();
            let setting = Setting::new(&name, &shown, "environment");
            match flick_timing::machine::Machine::load(&shown, &[]) {
                Ok(_) => setting,
                Err(error) => setting.bad(Code::NoCard, error.to_string(), error.help),
            }
        }
    });
    all.extend(strangers(env::vars_os().filter_map(|(name, value)| {
        Some((
            name.into_string().ok()?,
            value.to_string_lossy().into_owned(),
        ))
    })));
    all
}

/// Variables that look like Flick's and are not: a misspelt one changes nothing, in silence.
fn strangers(variables: impl Iterator<Item = (String, String)>) -> Vec<Setting> {
    let known: Vec<String> = CHOICES
        .iter()
        .map(|choice| name_of(choice.variable))
        .chain([STATISTICS, PLATFORM, MACHINE, INJECT, TRACE, TRACE_SIZE].map(name_of))
        .chain(OTHER_VARIABLES.map(String::from))
        .collect();
    let mut found: Vec<Setting> = variables
        .filter(|(name, _)| name.starts_with(PREFIX) && !known.contains(name))
        .map(|(name, value)| {
            let word = |name: &str| name.trim_start_matches(PREFIX).to_owned();
            let words: Vec<String> = known.iter().map(|name| word(name)).collect();
            let names = words.iter().map(String::as_str);
            let meant = flick_names::did_you_mean(&word(&name), PREFIX, names);
            let help = format!("{meant}Flick reads {}", known.join(", "));
            let what = format!("{name} is no variable of Flick's, and has no effect");
            Setting::new(name, value, "environment").bad(Code::BadEnvironment, what, help)
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn placement(place: &[String]) -> Vec<Setting> {
    if place.is_empty() {
        return vec![Setting::new("--flick-place", "marks only", "default")];
    }
    place
        .iter()
        .map(|value| {
            let setting = Setting::new("--flick-place", value, "command line");
            match flick_driver::check_place_option(value) {
                Ok(()) => setting,
                Err(error) => {
                    let what = format!("{}: {}: {}", error.what, error.place, error.why);
                    setting.bad(error.code, what, error.help)
                }
            }
        })
        .collect()
}

fn tools() -> Vec<Setting> {
    let missing = |tool: &Tool| {
        Setting::new(tool.name, "missing", "searched in PATH").bad(
            Code::MissingTool,
            format!(
                "a required tool is missing: {} ({})",
                tool.name, tool.purpose
            ),
            format!("sudo apt-get install {}", tool.package),
        )
    };
    TOOLS
        .iter()
        .map(|tool| match tool.locate() {
            None => missing(tool),
            Some(path) => {
                let version = version(&path);
                let origin = format!("found in PATH, {}", path.display());
                Setting::new(tool.name, version, origin)
            }
        })
        .collect()
}

/// What the tool says of itself.
fn version(tool: &Path) -> String {
    let text = said(tool, &["--version"]);
    // LLVM's tools name themselves in front of the line that has the version.
    let line = text
        .lines()
        .find(|line| line.contains(|c: char| c.is_ascii_digit()))
        .unwrap_or("unknown version");
    line.trim().to_owned()
}

fn said(tool: &Path, words: &[&str]) -> String {
    let output = Command::new(tool).args(words).stdin(Stdio::null()).output();
    output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}

/// Flick's own files, and the host libraries that clang finds.
fn files() -> Vec<Setting> {
    let tool_names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let mut all: Vec<Setting> = flick_driver::tools()
        .into_iter()
        .filter(|check| !tool_names.contains(&check.name.as_str()))
        .map(|check| match check.found {
            Some(path) => Setting::new(check.name, path.display().to_string(), "found in root"),
            None => Setting::new(&check.name, "missing", "searched in root").bad(
                Code::MissingTool,
                format!("one of Flick's own files is missing: {}", check.name),
                check.help,
            ),
        })
        .collect();
    let Some(clang) = flick_driver::root::CLANG.locate() else {
        return all;
    };
    for (name, package) in [
        ("libc.so", "libc6-dev"),
        ("libc.a", "libc6-dev"),
        ("libstdc++.so", "g++"),
        ("crtbeginS.o", "libgcc-12-dev or another gcc"),
    ] {
        let path = said(&clang, &[&format!("-print-file-name={name}")]);
        // clang repeats the name of what it does not find.
        all.push(if Path::new(&path).is_absolute() {
            Setting::new(name, path, "found by clang-19")
        } else {
            Setting::new(
                name,
                "not found",
                format!("searched by clang-19; package {package}"),
            )
        });
    }
    all
}

fn platform() -> Vec<Setting> {
    let clang = flick_driver::root::CLANG.locate();
    let target = clang.map(|clang| said(&clang, &["-dumpmachine"]));
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut all = vec![Setting::new(
        "system",
        format!(
            "{} {} {}",
            env::consts::OS,
            release.trim(),
            env::consts::ARCH
        ),
        "this machine",
    )];
    let target = target.unwrap_or_default();
    let setting = Setting::new("host target", &target, "clang-19 -dumpmachine");
    all.push(
        if target.starts_with("x86_64") && target.contains("linux") {
            setting
        } else {
            setting.bad(
                Code::MissingTool,
                "clang-19 does not compile for x86-64 Linux",
                "install clang-19 of this machine's own architecture",
            )
        },
    );
    all.push(Setting::new(
        "temporary files",
        env::temp_dir().display().to_string(),
        if env::var_os("TMPDIR").is_some() {
            "environment, TMPDIR"
        } else {
            "default"
        },
    ));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &'static [(&str, &str)]) -> Vec<Setting> {
        run_time(move |name| {
            let found = pairs.iter().find(|(known, _)| OsStr::new(known) == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn defaults_and_the_environment() {
        let all = with(&[("FLICK_TRIGGER", "fault"), ("FLICK_ENGINE", "")]);
        let of = |name: &str| all.iter().find(|s| s.name == name).unwrap();
        assert_eq!(
            of("FLICK_OFFLOAD"),
            &Setting::new("FLICK_OFFLOAD", "auto", "default")
        );
        assert_eq!(
            of("FLICK_TRIGGER"),
            &Setting::new("FLICK_TRIGGER", "fault", "environment")
        );
        assert_eq!(of("FLICK_ENGINE").origin, "default");
        assert_eq!(of("FLICK_STATS").value, "off");
    }

    #[test]
    fn bad_values_have_a_code() {
        let all = with(&[("FLICK_OFFLOAD", "maybe"), ("FLICK_STATS", "yes")]);
        let bad: Vec<_> = all.iter().filter_map(|s| s.problem.as_ref()).collect();
        assert_eq!(bad.len(), 2, "{all:?}");
        assert_eq!(bad[0].0, Code::BadEnvironment);
        assert_eq!(bad[0].2, "use one of: auto, require, off");
        assert!(bad[1].1.contains("FLICK_STATS=yes"), "{bad:?}");
        let text = text(&[("x", all)]);
        assert!(
            text.contains("error: [FLK0404] FLICK_OFFLOAD=maybe"),
            "{text}"
        );
    }

    #[test]
    fn misspelt_variables_are_named() {
        let pair = |name: &str| (name.to_owned(), "1".to_owned());
        let found = strangers(["FLICK_STAT", "FLICK_STATS", "HOME"].map(pair).into_iter());
        assert_eq!(found.len(), 1);
        let help = &found[0].problem.as_ref().unwrap().2;
        assert!(help.starts_with("did you mean 'FLICK_STATS'? "), "{help}");
    }

    #[test]
    fn placement_from_the_command_line() {
        assert_eq!(placement(&[])[0].origin, "default");
        let all = placement(&["random:1:50".into(), "random:1:500".into()]);
        assert_eq!(
            (all[0].origin.as_str(), &all[0].problem),
            ("command line", &None)
        );
        assert_eq!(all[1].problem.as_ref().unwrap().0, Code::BadOption);
    }

    #[test]
    fn json_has_every_setting() {
        let groups = [(
            "a",
            vec![Setting::new("n", "v\"", "default").bad(Code::BadEnvironment, "w", "h")],
        )];
        let text = json(&groups).to_string();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["settings"][0]["value"], "v\"");
        assert_eq!(value["settings"][0]["problem"]["code"], "FLK0404");
    }
}
