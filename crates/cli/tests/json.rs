//! What commands print with `--json` is what `docs/json.schema.json` says. A shell plays the program of
//! `flick stat`: it leaves the record that a runtime would.
use std::process::{Command, Output};

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
