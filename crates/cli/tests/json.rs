//! What commands print with `--json` is what `docs/json.schema.json` says. A shell plays the program of
//! `flick stat`: it leaves the record that a runtime would.
use std::process::{Command, Output};

use flick_events::profile::{Edge, Function, Profile, Runs};
use flick_events::timed::{NotExact, Share, Site, Timed};
use flick_events::{Calls, Cause, Heap, Migrations, Offload, Summary, Trigger};
use flick_support::output::text;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../docs/json.schema.json");

fn flick(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flick"))
        .args(args)
        .env_remove("FLICK_PLATFORM")
        .output()
        .expect("flick starts")
}

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
}

/// The document, which is of this command and as the schema says.
fn checked(command: &str, document: &[u8]) -> Value {
    let document: Value = serde_json::from_slice(document)
        .unwrap_or_else(|error| panic!("{command}: {error}: {}", text(document)));
    let wrong: Vec<String> = schema()
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{command}: {wrong:?} in {document:#}");
    assert_eq!(document["command"], command);
    document
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let output = flick(&["explain", "--json", "FLK0103"]);
    let right = checked("explain", &output.stdout);
    let schema = schema();
    for (key, value) in [
        ("format", Value::from(2)),
        ("command", "other".into()),
        ("codes", Value::Null),
        ("unknown", 1.into()),
    ] {
        let mut wrong = right.clone();
        wrong[key] = value;
        assert!(!schema.is_valid(&wrong), "{key}");
    }
}

#[test]
fn explanations() {
    let output = flick(&["explain", "--json"]);
    let all = checked("explain", &output.stdout);
    assert!(all["codes"].as_array().expect("a list").len() > 40);
    let output = flick(&["explain", "--json", "103"]);
    let one = checked("explain", &output.stdout);
    assert_eq!(one["codes"][0]["code"], "FLK0103");
    let page = one["codes"][0]["page"].as_str().expect("a page");
    assert!(page.starts_with("# FLK0103"), "{page}");
    let output = flick(&["explain", "--json", "none"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
}

#[test]
fn settings_and_checks() {
    let output = flick(&["config", "--json", "--flick-place=/no/such/file"]);
    let config = checked("config", &output.stdout);
    assert_eq!(output.status.code(), Some(1));
    let settings = config["settings"].as_array().expect("a list");
    assert!(
        settings
            .iter()
            .any(|setting| setting["problem"].is_object())
    );
    // Whether this machine can build programs is not known here.
    let output = flick(&["doctor", "--json"]);
    let doctor = checked("doctor", &output.stdout);
    assert_eq!(doctor["works"], output.status.success());
}

#[test]
fn verified_files() {
    let output = flick(&["verify", "--json", "/no/such/file", "/dev/null"]);
    assert_eq!(output.status.code(), Some(1));
    let verify = checked("verify", &output.stdout);
    assert_eq!(verify["files"][0]["errors"][0]["code"], "FLK0105");
    assert_eq!(verify["files"].as_array().expect("a list").len(), 2);
    assert!(output.stderr.is_empty(), "{output:?}");
}

fn summary() -> Summary {
    let calls = Calls {
        function: "walk".into(),
        module: "prog".into(),
        count: 3,
    };
    Summary {
        program: "./prog".into(),
        pid: 7,
        trigger: Trigger::Fault,
        offload: Offload::Off("no room".into()),
        heap: Heap::Host("another allocator".into()),
        host_to_nxp: vec![calls.clone()],
        on_host: vec![(Cause::Early, calls)],
        migrations: vec![Migrations::default()],
        trace_lost: Some("full".into()),
        timed: Some(Timed {
            platform: "near".into(),
            migrating: 5,
            migrating_shares: vec![Share::default()],
            staying_shares: vec![Share::default()],
            not_exact: vec![NotExact::default()],
            sites: vec![Site {
                calls: 9,
                ..Site::default()
            }],
            ..Timed::default()
        }),
        ..Summary::default()
    }
}

#[test]
fn statistics() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let records = summary().to_record() + &Summary::default().to_record();
    let file = dir.path().join("records");
    std::fs::write(&file, records).expect("a file");
    let script = format!("cat '{}' >> \"$FLICK_STATS\"; exit 7", file.display());
    let output = flick(&["stat", "--json", "sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let stat = checked("stat", &output.stderr);
    assert_eq!(stat["exit_status"], 7);
    let process = &stat["processes"][0];
    assert_eq!(process["crossings"], 6);
    assert_eq!(process["on_host"][0]["cause"], "early");
    assert_eq!(process["prediction"]["sites"][0]["calls"], 9);
    assert_eq!(stat["processes"][1]["prediction"], Value::Null);
    // A program without a record has no processes, and a file takes the document.
    let to = dir.path().join("stat.json");
    let place = to.display().to_string();
    let output = flick(&["stat", "--json", "-o", &place, "sh", "-c", "kill -TERM $$"]);
    assert_eq!(text(&output.stderr), "");
    let stat = checked("stat", &std::fs::read(&to).expect("the document"));
    assert_eq!(stat["processes"], Value::Array(Vec::new()));
    assert_eq!(
        (&stat["exit_status"], &stat["signal"]),
        (&Value::Null, &15.into())
    );
}

#[test]
fn sweeps() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("sweep.toml");
    let text = "[run]\ncommand = [\"false\"]\n[platforms]\nnames = [\"near-memory\"]\n";
    std::fs::write(&file, text).expect("a file");
    let place = file.display().to_string();
    let output = flick(&["sweep", "--json", "--dry-run", &place]);
    let list = checked("sweep", &output.stdout);
    assert_eq!(list["listed"][0]["cached"], false);
    let output = flick(&["sweep", "--json", &place]);
    assert_eq!(output.status.code(), Some(1));
    let sweep = checked("sweep", &output.stdout);
    assert_eq!((&sweep["points"], &sweep["done"]), (&1.into(), &0.into()));
    assert_eq!(sweep["failed"][0]["why"], "exit status 1");
}

/// A record with functions: `work` gains by the move.
fn profiled(nxp: u64) -> String {
    let function = |name: &str, runs, host, nxp| Function {
        name: name.into(),
        runs,
        calls: 1,
        host,
        nxp,
        ..Function::default()
    };
    let timed = Timed {
        platform: "near".into(),
        before: 1_000_000,
        staying: 1_000_000,
        migrating: 1_000_000,
        threads: 1,
        host_counted: true,
        profile: Profile {
            host_nxp_host: 1_000,
            nxp_host_nxp: 1_000,
            functions: vec![
                function("main", Runs::Host, 50_000, 90_000),
                function("printf", Runs::Library, 50_000, 0),
                function("work", Runs::Host, 900_000, nxp),
            ],
            edges: [1, 2]
                .map(|callee| Edge {
                    caller: 0,
                    callee,
                    calls: 1,
                })
                .into(),
        },
        ..Timed::default()
    };
    let summary = Summary {
        timed: Some(timed),
        ..Summary::default()
    };
    summary.to_record()
}

#[test]
fn advice() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let [record, place, build] = ["record", "place", "build"].map(|name| dir.path().join(name));
    // The record is that of the shell.
    let script = format!(
        "sed \"s/^pid .*/pid $$/\" '{}' >> \"$FLICK_STATS\"",
        record.display()
    );
    let place_text = place.display().to_string();
    let advise = |more: &[&str]| {
        let first = [
            "advise",
            "--json",
            "--platform",
            "near-memory",
            "-o",
            &place_text,
        ];
        flick(&[&first, more].concat())
    };
    std::fs::write(&record, profiled(100_000)).expect("a file");
    let output = advise(&["sh", "-c", &script]);
    assert!(output.status.success(), "{output:?}");
    let moves = checked("advise", &output.stderr);
    assert_eq!(moves["outcome"], "moves", "{moves:#}");
    assert_eq!(moves["advised_ps"], 201_000);
    assert_eq!(moves["groups"][0]["moves"][0]["function"], "work");
    assert_eq!(moves["placement_file"], place_text.as_str());
    assert_eq!(moves["verified"], Value::Null);
    assert!(place.is_file());

    // The build has the program take more than was said: what it has moved goes back.
    std::fs::write(&build, profiled(100_000).replace(" 1000000", " 1200000")).expect("a file");
    let copy = format!("cp '{}' '{}'", build.display(), record.display());
    let verify = ["--verify", "sh", "-c", &script, "--", "sh", "-c"];
    let output = advise(&[&verify[..], &[&copy]].concat());
    // The functions are where they were.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("FLK0118"), "{output:?}");
    let there = profiled(100_000).replace(" 1000000", " 1200000");
    let there = there.replace(
        "timed-function host 1 900000",
        "timed-function nxp 1 900000",
    );
    std::fs::write(&build, there).expect("a file");
    std::fs::write(&record, profiled(100_000)).expect("a file");
    std::fs::remove_file(&place).expect("the placement");
    let output = advise(&[&verify[..], &[&copy]].concat());
    let verified = checked("advise", &output.stderr);
    let rounds = &verified["verified"]["rounds"];
    assert_eq!(rounds[0]["obtained_ps"], 1_200_000, "{verified:#}");
    assert_eq!(rounds[0]["dropped"][0], "work");
    assert_eq!(verified["verified"]["best_round"], Value::Null);
    assert_eq!(verified["placement_file"], Value::Null);
    assert!(!place.exists());

    // A build that fails, and what it has said.
    std::fs::write(&record, profiled(100_000)).expect("a file");
    let output = advise(&[&verify[..], &["echo no compiler >&2; exit 3"]].concat());
    let said = text(&output.stderr);
    for part in ["FLK0118", "status 3", "no compiler"] {
        assert!(said.contains(part), "{said}");
    }

    // Nothing to gain, with the reason.
    std::fs::write(&record, profiled(950_000)).expect("a file");
    let output = advise(&["sh", "-c", &script]);
    let nothing = checked("advise", &output.stderr);
    assert_eq!(nothing["outcome"], "nothing");
    let why = nothing["why_nothing"].as_str().expect("a reason");
    assert!(why.contains("that of work"), "{why}");
}
