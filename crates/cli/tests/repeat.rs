//! `flick stat --repeat` as a user meets it. A shell plays the program: it leaves the record that a
//! runtime would.
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use flick_support::output::text;

/// Run n predicts 60 + n ms with migration, and 15 ms without.
const RUN: &str = "echo run; cat; echo >> runs; n=$(wc -l < runs)
printf 'flick-stats 1\\nprogram ./prog\\npid %s\\ntimed-platform %s\\ntimed-threads 4\\n' $$ $FLICK_PLATFORM > \"$FLICK_STATS\"
printf 'timed-migrating-ps %s\\ntimed-staying-ps 15000000000\\nend\\n' $(((60 + n) * 1000000000)) >> \"$FLICK_STATS\"
";

fn stat(dir: &Path, platform: &str, args: &[&str], script: &str) -> Output {
    fs::write(dir.join("input"), "input\n").expect("a file");
    Command::new(env!("CARGO_BIN_EXE_flick"))
        .arg("stat")
        .args(args)
        .args(["--", "sh", "-c", script])
        .current_dir(dir)
        .env("FLICK_PLATFORM", platform)
        .stdin(fs::File::open(dir.join("input")).expect("a file"))
        .output()
        .expect("flick starts")
}

fn lines(dir: &Path) -> usize {
    fs::read(dir.join("runs")).map_or(0, |runs| runs.len())
}

#[test]
fn several_runs_have_a_spread() {
    for option in ["-r5", "--repeat=5"] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let output = stat(dir.path(), "near", &[option], RUN);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        // Of the first run only.
        assert_eq!(text(&output.stdout), "run\ninput\n");
        assert_eq!(lines(dir.path()), 5);
        let report = text(&output.stderr);
        let spread = "15.00 ms  without migration\n Spread over 5 runs: 61.00 to 65.00 ms with migration (6.6 %), \
                      15.00 ms without (0.0 %)\n";
        assert!(report.contains(spread), "{report}");
        assert!(!report.contains("-r 5"), "{report}");
    }
}

#[test]
fn one_run_that_is_not_exact_says_how_to_get_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = stat(dir.path(), "near", &[], RUN);
    let report = text(&output.stderr);
    assert!(
        report.contains("flick stat -r 5 measures the spread"),
        "{report}"
    );
    assert_eq!(lines(dir.path()), 1);
    for exact in ["timed-threads 1", "timed-threads 4\\ntimed-ordered 1"] {
        let exact = RUN.replace("timed-threads 4", exact);
        let report = text(&stat(dir.path(), "near", &[], &exact).stderr);
        assert!(
            report.contains("Exact: another run") && !report.contains("-r 5"),
            "{report}"
        );
    }
}

/// They end as the first run did; further ones are reported.
#[test]
fn runs_that_end_otherwise() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = stat(dir.path(), "near", &["-r", "3"], &format!("{RUN}exit $n"));
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stderr);
    assert!(
        report.contains(" 2 further runs ended otherwise"),
        "{report}"
    );
    // As from a terminal: nothing is run after it.
    let dir = tempfile::tempdir().expect("a temporary directory");
    let script = format!("{RUN}test $n = 1 || kill -INT $$");
    let output = stat(dir.path(), "near", &["-r", "9"], &script);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(lines(dir.path()), 2);
    let output = stat(dir.path(), "near", &["-r", "9"], "kill -INT $$");
    assert_eq!(output.status.signal(), Some(libc::SIGINT));
}

#[test]
fn a_run_without_a_prediction_is_not_repeated() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = stat(dir.path(), "near", &["-r", "3"], "echo >> runs");
    assert_eq!(lines(dir.path()), 1);
    let report = text(&output.stderr);
    assert!(
        report.contains("Spread: the run has left no prediction"),
        "{report}"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = stat(dir.path(), "", &["-r", "5"], RUN);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for part in [
        "[FLK0104] no platform is named",
        "\nhelp: ",
        "flick stat --platform=flick-isca20 -r 5",
    ] {
        assert!(said.contains(part), "{said}");
    }
    for count in ["1", "101", "many"] {
        let output = stat(dir.path(), "near", &["-r", count], RUN);
        assert_eq!(output.status.code(), Some(2), "{count}");
    }
    assert_eq!(lines(dir.path()), 0);
}
