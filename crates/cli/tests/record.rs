//! `flick record` and `flick report` as a user meets them. A shell plays the program: it appends to
//! `FLICK_TRACE` what a runtime would.
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use flick_events::timed::{Site, Timed};
use flick_events::trace::{Encoder, How, MIN_BUFFER, Side, prediction_block, process_block};
use flick_support::output::text;

fn flick(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flick"))
        .args(args)
        .current_dir(dir)
        .env_remove("FLICK_PLATFORM")
        .output()
        .expect("flick starts")
}

/// A directory with what the shell appends.
fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut file = process_block(7, b"/bin/prog", b"near");
    let mut buffer = [0; MIN_BUFFER];
    let mut encoder = Encoder::new(&mut buffer, 7, 1);
    assert!(
        encoder.thread_start(0, b"main")
            && encoder.name(1, b"_Z4walkPi", b"w.cpp", 3)
            && encoder.enter(1_000_000, Side::Nxp, (1, 0), 0, &[])
            && encoder.sample(2_000_000, Side::Nxp, 9_000_000_000, 0, &[1])
            && encoder.leave(3_000_000, How::Return, 0, &[])
    );
    encoder.flush(|block| file.extend(block));
    // As of an unrolled loop.
    let site = |offset| Site {
        caller: "main".into(),
        module: "/no/such/file".into(),
        offset,
        callee: "_Z4walkPi".into(),
        calls: 21,
        ..Site::default()
    };
    let prediction = Timed {
        migrating: 2_000_000,
        staying: 3_000_000,
        before: 3_000_000,
        sites: vec![site(8), site(16)],
        ..Timed::default()
    };
    file.extend(prediction_block(7, &prediction));
    fs::write(dir.path().join("events"), file).expect("a file");
    dir
}

const APPEND: &str = "cat events >> \"$FLICK_TRACE\"";

#[test]
fn a_run_becomes_a_page_and_a_trace_for_perfetto() {
    let dir = place();
    let at = |name: &str| dir.path().join(name);
    // The path is absolute: the program goes elsewhere.
    let script =
        format!("{APPEND}; cd /; test -s \"$FLICK_TRACE\" || exit 9; echo $FLICK_PLATFORM; exit 7");
    let record = [
        "record",
        "--platform=near",
        "--perfetto",
        "p.pftrace",
        "sh",
        "-c",
        &script,
    ];
    let output = flick(dir.path(), &record);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(text(&output.stdout), "near\n");
    let said = text(&output.stderr);
    assert!(
        said.contains("to flick.data, 2 crossings, 1 sample;"),
        "{said}"
    );
    let perfetto = fs::read(at("p.pftrace")).expect("--perfetto makes the file");
    assert!(text(&perfetto).contains("walk(int*)"));

    let output = flick(dir.path(), &["report"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), "report.html\n");
    let page = fs::read_to_string(at("report.html")).expect("the page");
    assert!(page.contains("walk(int*)") && page.contains("1.50x as fast"));
    assert_eq!(page.matches("from main").count(), 1, "sites are merged");
    assert!(page.contains("\"Calls\">42<"));
    // How it was started, and when: the test does not stand in front of 2026 or behind 9999.
    assert!(
        page.contains("<code>sh -c &#39;cat events &gt;&gt; "),
        "{page}"
    );
    let day = page.split(" UTC &#183; ").next().expect("a date");
    assert!(
        day.len() > 16 && day.as_bytes()[day.len() - 16..].starts_with(b"2"),
        "{page}"
    );

    let other = [
        "report",
        "-i",
        "flick.data",
        "-o",
        "-",
        "--no-demangle",
        "--perfetto=q",
    ];
    let output = flick(dir.path(), &other);
    assert!(text(&output.stdout).contains("_Z4walkPi"));
    let perfetto = fs::read(at("q")).expect("--perfetto makes the file");
    assert!(text(&perfetto).contains("_Z4walkPi"));

    // The next run keeps the trace of this one.
    fs::rename(at("flick.data"), at("first")).expect("a file");
    fs::copy(at("first"), at("flick.data")).expect("a file");
    let output = flick(dir.path(), &["record", "--platform=near", "true"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        fs::read(at("flick.data.old")).unwrap(),
        fs::read(at("first")).unwrap()
    );
    let said = text(&output.stderr);
    assert!(said.contains("left no trace: "), "{said}");
    assert!(!at("flick.data").exists(), "a file that holds nothing");
}

/// The trace gets its name when it is whole, and an earlier one stays where it is not.
#[test]
fn a_full_disk_leaves_no_half_of_a_trace() {
    let dir = place();
    let names = || {
        let names = fs::read_dir(dir.path()).expect("a directory");
        let mut names: Vec<_> = names
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("text")
            })
            .collect();
        names.sort();
        names
    };
    fs::write(dir.path().join("flick.data"), "earlier").expect("a file");
    // What the program has written is cut, as on a full disk, and its runtime says nothing of it.
    let cut = "head -c 99 events >> \"$FLICK_TRACE\"; test ! -e flick.data.old";
    let output = flick(dir.path(), &["record", "--platform=near", "sh", "-c", cut]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("[FLK0105]"), "{output:?}");
    assert_eq!(names(), ["events", "flick.data"]);
    let earlier = fs::read(dir.path().join("flick.data")).expect("a file");
    assert_eq!(earlier, b"earlier");
    // The limit is on what record itself adds: when and how the run was begun.
    let size = fs::metadata(dir.path().join("events"))
        .expect("a file")
        .len();
    let limited = format!("trap '' XFSZ; exec prlimit --fsize={} \"$@\"", size + 5);
    let output = Command::new("bash")
        .args(["-c", &limited, "limited", env!("CARGO_BIN_EXE_flick")])
        .args(["record", "--platform=near", "sh", "-c", APPEND])
        .current_dir(dir.path())
        .output()
        .expect("bash starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stderr);
    assert!(said.contains("could not be written to its end"), "{said}");
    assert_eq!(names(), ["events", "flick.data"]);
}

#[test]
fn the_program_learns_how_large_the_trace_may_be() {
    let dir = place();
    for (option, wanted) in [
        (None, "268435456"),
        (Some("--max-size=1M"), "1048576"),
        (Some("--max-size=none"), ""),
    ] {
        let mut words = vec!["record", "--platform=near"];
        words.extend(option);
        let test = format!("test \"$FLICK_TRACE_SIZE\" = '{wanted}'");
        words.extend(["sh", "-c", &test]);
        let output = flick(dir.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{option:?}: {output:?}");
    }
    let output = flick(dir.path(), &["record", "--max-size=1K", "true"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn the_environment_may_name_the_platform() {
    let dir = place();
    let output = Command::new(env!("CARGO_BIN_EXE_flick"))
        .args(["record", "sh", "-c", "test $FLICK_PLATFORM = far"])
        .current_dir(dir.path())
        .env("FLICK_PLATFORM", "far")
        .output()
        .expect("flick starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn record_ends_as_the_program() {
    let dir = place();
    let killed = format!("{APPEND}; kill -TERM $$");
    let output = flick(
        dir.path(),
        &["record", "--platform=near", "-o", "d", "sh", "-c", &killed],
    );
    assert_eq!(output.status.signal(), Some(libc::SIGTERM));
    assert!(dir.path().join("d").exists());
    let output = flick(
        dir.path(),
        &["record", "--platform=near", "no-such-program"],
    );
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("[FLK0105]"));
    assert!(!dir.path().join("flick.data").exists());
}

#[test]
fn what_is_missing_is_named() {
    let dir = place();
    let output = flick(dir.path(), &["record", "true"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("[FLK0104] no platform is named"), "{said}");
    let output = flick(dir.path(), &["report"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("[FLK0105]") && said.contains("flick.data") && said.contains("flick record"),
        "{said}"
    );
    let mut damaged = fs::read(dir.path().join("events")).unwrap();
    damaged.pop();
    fs::write(dir.path().join("damaged"), damaged).unwrap();
    let output = flick(dir.path(), &["report", "-i", "damaged"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("[FLK0105]") && said.contains("byte "),
        "{said}"
    );
    assert!(!dir.path().join("report.html").exists());
}
