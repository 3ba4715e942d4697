//! Programs under the watcher, on the host of the tests.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

struct Work {
    dir: TempDir,
}

impl Work {
    /// With the program `watched.c`, and a description that makes the host's CPUs two kinds.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watched.c");
        let compiled = Command::new("cc")
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
            .arg(dir.path().join("watched"))
            .arg(source)
            .status();
        assert!(compiled.unwrap().success());
        fs::write(
            dir.path().join("cpus.toml"),
            "[[cpus]]\nlist = \"0\"\nopcodes = [\"custom-0\"]\n",
        )
        .unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `flick run --extensions` with these words.
    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flick-extensions"));
        command
            .args(["run", "--extensions", "--any-host"])
            .args(words);
        command.current_dir(self.dir.path()).output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Has the machine, and the mask of this test, CPU 0 and another one?
fn has_two_kinds() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list: flick_extensions::cpu_set::CpuSet = list.unwrap().trim().parse().unwrap();
    list.has(0) && list.iter().count() > 1
}

#[test]
fn a_program_sees_itself_as_without_the_watcher() {
    if !has_two_kinds() {
        eprintln!("skipped: the test has one CPU");
        return;
    }
    let work = Work::new();
    let plain = Command::new(work.path("watched")).output().unwrap();
    let run = |hold, words: &[&str]| {
        let first = ["--cpus", "cpus.toml", "--hold", hold, "--stat", "./watched"];
        work.run(&[&first, words].concat())
    };
    let watched = run("3600s", &[]);
    // That the thread is held is the one difference, and only the kernel's files show it.
    let (want, have) = (text(&plain.stdout), text(&watched.stdout));
    assert_eq!(
        have.replace("held 1", "held 0"),
        want,
        "{}",
        text(&watched.stderr)
    );
    let held: Vec<&str> = have
        .lines()
        .filter(|line| line.ends_with("held 1"))
        .collect();
    let places = [
        "in the handler",
        "later",
        "in the handler",
        "in the handler",
        "no mask",
    ];
    assert_eq!(held.len(), places.len(), "{have}");
    assert!(
        held.iter()
            .zip(places)
            .all(|(line, place)| line.starts_with(place)),
        "{have}"
    );
    assert_eq!(
        (watched.status.code(), plain.status.code()),
        (Some(6), Some(6))
    );
    let freed = text(&run("1ms", &["free"]).stdout);
    assert_eq!(freed.replace("held 1", "held 0"), want);
    assert!(
        freed.contains("\nlater: status 0, own 1, held 0\n"),
        "{freed}"
    );
    let report = text(&watched.stderr);
    assert!(
        report.contains("watched.c:") || report.contains("watched+0x"),
        "{report}"
    );
    assert!(
        report.contains("SIGILL: no CPU that the thread may use executes it"),
        "{report}"
    );
    assert_eq!(
        report.matches("FLK0511").count(),
        1,
        "of the child without a handler: {report}"
    );
}

#[test]
fn exit_status_signal_and_output_are_the_programs() {
    let work = Work::new();
    let shell = |script| work.run(&["sh", "-c", script]);
    let output = shell("echo out; echo err >&2; exit 3");
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        ("out\n".into(), "err\n".into())
    );
    assert_eq!(output.status.code(), Some(3));
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(shell("kill -9 $$").status.signal(), Some(libc::SIGKILL));
    assert_eq!(shell("kill -TERM $$").status.signal(), Some(libc::SIGTERM));
    // Nothing waits for a program that lives on behind the first one.
    assert_eq!(
        text(&shell("sleep 0.2 >&- 2>&- & echo $PPID").stdout).trim(),
        std::process::id().to_string()
    );
}

#[test]
fn errors_say_what_where_why_and_what_next() {
    let work = Work::new();
    let fails = |words: &[&str], parts: &[&str]| {
        let output = work.run(words);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    fails(
        &["./missing"],
        &["[FLK0103]", "./missing", "No such file", "help: "],
    );
    fails(
        &["--cpus", "none.toml", "./watched"],
        &["[FLK0115]", "none.toml", "help: "],
    );
    fs::write(
        work.path("bad.toml"),
        "[[cpus]]\nlist = \"0\"\nopcodes = [\"custom-7\"]\n",
    )
    .unwrap();
    fails(
        &["--cpus", "bad.toml", "./watched"],
        &["[FLK0115]", "bad.toml:3", "custom-7"],
    );
    // A process is watched once.
    fails(
        &[
            env!("CARGO_BIN_EXE_flick-extensions"),
            "run",
            "--extensions",
            "--any-host",
            "./watched",
        ],
        &["[FLK0114]", "ptrace"],
    );
    let refused = Command::new(env!("CARGO_BIN_EXE_flick-extensions"))
        .args(["run", "--extensions", "true"])
        .output()
        .unwrap();
    assert!(text(&refused.stderr).contains("[FLK0113]"), "{refused:?}");
}
