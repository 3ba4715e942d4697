//! The `flick` command as a user meets it, where no built tree is needed.
use std::fs::Permissions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use flick_abi::settings::ENGINE;
use flick_support::output::text;

const FLICK: &str = env!("CARGO_BIN_EXE_flick");

fn flick(args: &[&str]) -> Output {
    Command::new(FLICK)
        .args(args)
        .output()
        .expect("flick starts")
}

#[test]
fn stat_passes_the_exit_status_on() {
    let output = flick(&["stat", "sh", "-c", "echo out; exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "out\n");
    let report = text(&output.stderr);
    for part in [
        "no record of crossings",
        "seconds elapsed",
        "seconds user",
        "seconds sys",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn stat_dies_of_the_signal() {
    for (name, number) in [
        ("KILL", libc::SIGKILL),
        ("TERM", libc::SIGTERM),
        ("SEGV", libc::SIGSEGV),
    ] {
        let output = flick(&["stat", "sh", "-c", &format!("kill -{name} $$")]);
        assert_eq!(output.status.signal(), Some(number), "{name}");
        let report = text(&output.stderr);
        assert!(
            report.contains(&format!("killed by signal {number}")),
            "{report}"
        );
    }
}

#[test]
fn stat_prints_the_record_and_its_own_times() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let report = dir.path().join("report");
    // The shell plays the runtime: one record for itself.
    let script = "test \"${FLICK_STATS#*/}\" != \"$FLICK_STATS\" || exit 9\n\
                  printf 'flick-stats 1\\nprogram ./prog\\npid %s\\ncall host-to-nxp 12 work\\tprog\\nend\\n' \
                  $$ > \"$FLICK_STATS\"";
    let output = flick(&[
        "stat",
        "-o",
        report.to_str().expect("UTF-8"),
        "--",
        "sh",
        "-c",
        script,
    ]);
    assert!(output.status.success(), "{output:?}");
    let report = std::fs::read_to_string(report).expect("-o makes the file");
    for part in [
        "Flick summary of ./prog",
        "24  crossings",
        "12  work",
        "seconds elapsed",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(
        !report.contains(" 0.000000000  seconds elapsed"),
        "{report}"
    );
}

#[test]
fn stat_of_nothing_to_run() {
    for (program, code) in [("./no-such-program", 127), ("/", 126)] {
        let output = flick(&["stat", program]);
        assert_eq!(output.status.code(), Some(code), "{program}");
        assert!(
            text(&output.stderr).starts_with("flick: error: [FLK0105] "),
            "{output:?}"
        );
    }
    assert_eq!(flick(&["stat"]).status.code(), Some(2));
}

#[test]
fn threads_move_between_harts_of_risc_v_alone() {
    let output = flick(&["run", "--extensions", "./prog", "--of-its-own"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    for part in ["[FLK0113]", "not RISC-V", "--extensions", "help: "] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(flick(&["run", "./prog"]).status.code(), Some(2));
}

#[test]
fn explain_prints_pages() {
    let all = text(&flick(&["explain"]).stdout);
    assert!(
        all.lines().count() > 30 && all.starts_with("FLK0101  "),
        "{all}"
    );
    let one = flick(&["explain", "FLK0301"]);
    assert!(one.status.success() && text(&one.stdout).contains("## What to do"));
    // Debian's valgrind does not read what clang 19 writes by default.
    assert!(text(&flick(&["explain", "FLK0505"]).stdout).contains("-gdwarf-4"));
    let none = flick(&["explain", "FLK9999"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(
        text(&none.stderr).starts_with("flick: error: [FLK0104] "),
        "{none:?}"
    );
    assert!(text(&none.stderr).contains("\nhelp: "), "{none:?}");
}

/// A reader that ends early ends us as it ends any filter, without a complaint.
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
    drop(reader);
    let output = Command::new(FLICK)
        .args(["explain", "FLK0501"])
        .stdout(OwnedFd::from(writer))
        .output()
        .expect("flick starts");
    assert_eq!(output.status.signal(), Some(libc::SIGPIPE), "{output:?}");
    assert_eq!(text(&output.stderr), "");
}

/// Under its other name every argument is clang's, also those that clap would take.
#[test]
fn flick_cc_is_flick_cc() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let name = dir.path().join("flick-cc");
    symlink(FLICK, &name).expect("a link");
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program)
            .args(args)
            .output()
            .expect("it starts");
        (output.status.code(), text(&output.stdout))
    };
    let help = run(&name, &["--help"]).1;
    assert!(help.contains("--flick-place=<file>") && help.contains("OPTIONS:\n  -###"));
    for arg in ["--version", "--help", "-dumpmachine", "-print-prog-name=ld"] {
        let got = run(&name, &[arg]);
        assert_eq!(got, run(Path::new(FLICK), &["cc", arg]), "{arg}");
        assert!(!got.1.contains("Usage: flick"), "{arg}: {}", got.1);
    }
    assert!(run(&name, &["--version"]).1.contains("clang version 19"));
}

#[test]
fn wrong_use_is_exit_status_two() {
    for args in [
        &["place", "a.out"][..],
        &["objdump", "a.out"],
        &["verify"],
        &["bench"],
        &["nonsense"],
        &[],
    ] {
        assert_eq!(flick(args).status.code(), Some(2), "{args:?}");
    }
    for args in [
        &["place", "--explain", "/no/such/file"][..],
        &["objdump", "-d", "/no/such/file"],
        &["verify", "/no/such/file"],
    ] {
        let output = flick(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(
            text(&output.stderr).starts_with("flick: error: [FLK"),
            "{output:?}"
        );
    }
}

#[test]
fn kernels_compute_the_same_under_every_engine() {
    let output = flick(&[
        "bench",
        "engine",
        "--csv",
        "--rounds=1",
        "--runs=1",
        "--peer=broken=/bin/false",
        "nbody",
        "indirect",
    ]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|l| l.split(',').collect())
        .collect();
    for kernel in ["nbody", "indirect"] {
        let of: Vec<_> = rows.iter().filter(|row| row[0] == kernel).collect();
        let engines: Vec<&str> = of.iter().map(|row| row[1]).collect();
        for engine in ["native", "vectorised"].iter().chain(ENGINE.values) {
            assert!(engines.contains(engine), "{table}");
        }
        assert!(of.iter().all(|row| row[5] == of[0][5]), "{table}");
        assert!(!engines.contains(&"broken"), "{table}");
    }
    assert!(
        text(&output.stderr).contains("flick: warning: [FLK0103]"),
        "{output:?}"
    );
    // Of the engines only the translator makes code.
    let output = flick(&["bench", "engine", "--rounds=1", "--runs=1", "indirect"]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("`bar`: what Flick asks of itself"),
        "{shown}"
    );
    // It says where it is to whoever waits.
    assert!(
        text(&output.stderr).contains("[1/1] indirect\n"),
        "{output:?}"
    );
    let bar = shown
        .lines()
        .find(|line| line.starts_with("| translated code / RV64 code"))
        .unwrap_or_else(|| panic!("{output:?}"));
    let figures: Vec<&str> = bar.split('|').map(str::trim).collect();
    let at = |engine| {
        2 + ENGINE
            .values
            .iter()
            .position(|&name| name == engine)
            .unwrap()
    };
    assert_eq!(figures[at("interp")], "-", "{bar}");
    let ratio: f64 = figures[at("translate")].trim_matches('*').parse().unwrap();
    assert!(ratio > 0.5 && ratio < 20.0, "{bar}");
    let unknown = flick(&["bench", "engine", "nothing"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        text(&unknown.stderr).contains("the kernels are bfs, bytecode, "),
        "{unknown:?}"
    );
}

#[test]
fn an_unusable_platform_is_refused_before_the_run() {
    let output = flick(&["stat", "--platform", "no-such-platform", "/bin/true"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stderr);
    assert!(said.starts_with("flick: error: [FLK0111] "), "{said}");
}

/// Each figure of a platform is shown with its place and source, and a part is shown before it is refused.
#[test]
fn platforms_are_shown() {
    let list = flick(&["platform", "list"]);
    assert!(list.status.success() && text(&list.stdout).contains("near-memory "));
    let shown = flick(&["platform", "show", "near-memory", "--set", "nxp.cores=2"]);
    let figures = text(&shown.stdout);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let line = |key: &str| figures.lines().find(|line| line.starts_with(key)).unwrap();
    assert!(line("nxp.cores ").ends_with("--set nxp.cores=2"));
    assert!(line("host.tlb.entries ").contains("# second level, 12 ways"));
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("host.toml");
    std::fs::write(&part, "[host]\nclock = \"2 GHz\" # measured\n").unwrap();
    let shown = flick(&["platform", "show", part.to_str().unwrap()]);
    assert!(!shown.status.success() && text(&shown.stdout).contains("# measured"));
    assert!(text(&shown.stderr).contains("FLK0111") && text(&shown.stderr).contains("isa: a text"));
}

/// A quick calibration writes a host that makes a platform together with others.
#[test]
fn this_machine_becomes_a_host() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let run = flick(&[
        "platform",
        "calibrate",
        "--quick",
        "--cached-nxp",
        "-o",
        &path("host.toml"),
        "--plots",
        &path("plots"),
    ]);
    let said = text(&run.stderr);
    assert!(
        run.status.success() && said.contains("misses at a time"),
        "{said}"
    );
    let host = std::fs::read_to_string(dir.path().join("host.toml")).unwrap();
    assert!(
        host.contains("clock = ") && host.contains("# measured: "),
        "{host}"
    );
    for plot in [
        "sizes.svg",
        "pages.png",
        "window.svg",
        "misses.svg",
        "streams.png",
    ] {
        assert!(dir.path().join("plots").join(plot).is_file(), "{plot}");
    }
    let mine =
        "include = [\"near-memory\", \"host.toml\"]\nname = \"mine\"\ndescription = \"here\"\n";
    std::fs::write(dir.path().join("mine.toml"), mine).unwrap();
    let shown = flick(&["platform", "show", &path("mine.toml")]);
    assert!(shown.status.success(), "{host}\n{}", text(&shown.stderr));
    let figures = text(&shown.stdout);
    let measured = figures.lines().filter(|line| line.contains("host.toml:"));
    assert!(measured.count() >= 20, "{figures}");
    // Nothing is measured for a file that cannot be written.
    let refused = flick(&[
        "platform",
        "calibrate",
        "--quick",
        "--plots",
        "/dev/null/plots",
    ]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("/dev/null/plots"));
}

#[test]
fn programs_built_elsewhere_are_compared() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, line: &str| {
        let path = dir.path().join(name);
        let script = format!("#!/bin/sh\n[ $# = 0 ] && echo one && exit\necho {line}\n");
        std::fs::write(&path, script).expect("a script");
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a mode");
    };
    let programs = format!("--programs={}", dir.path().display());
    let table = || flick(&["bench", "engine", "--csv", "--rounds=1", &programs]);
    write("native", "100 7");
    write("nxp", "300 7");
    write("rv64", "200 7");
    let output = table();
    let engine = ENGINE.values[0];
    let line = format!("one,{engine},1,300,3.000,7\n");
    assert!(text(&output.stdout).contains(&line), "{output:?}");
    assert!(!text(&output.stdout).contains("vectorised"), "{output:?}");
    write("nxp", "300 8");
    let output = table();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        text(&output.stderr).contains("computes another checksum than native"),
        "{output:?}"
    );
}

#[test]
fn crossings_of_every_kind_are_measured() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let peer = dir.path().join("peer.sh");
    std::fs::write(&peer, "echo direct,host_nxp_host; echo $1,$2").expect("a script");
    let peer = format!("--peer=fixed=sh {}", peer.display());
    let output = flick(&[
        "bench",
        "crossing",
        "--csv",
        "--calls=20",
        "--rounds=3",
        &peer,
    ]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for engine in ENGINE.values {
        for (trigger, call) in [
            ("gate", "host_nxp_host"),
            ("gate", "host_nxp_host_pointer"),
            ("gate", "nxp_host_nxp"),
            ("gate", "nxp_host_nxp_pointer"),
            ("gate", "reentry_first"),
            ("gate", "reentry_further"),
            ("fault", "host_nxp_host"),
            ("fault", "redirect"),
        ] {
            let begin = format!("{trigger},{engine},{call},20,3,");
            let line = table.lines().find(|line| line.starts_with(&begin));
            assert!(line.is_some(), "{begin} is not in\n{table}");
        }
    }
    let peer = "gate,fixed,host_nxp_host,20,1,3.000,3.000,3.000,0.150\n";
    assert!(table.contains(peer), "{table}");
}

/// On a graph that is made up and on one in SNAP's format; twice, for virtual time is the same
/// every time.
#[test]
fn the_paper_is_predicted() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let snap = dir.path().join("snap");
    std::fs::create_dir(&snap).expect("a directory");
    let edges = "# Directed graph\n# FromNodeId\tToNodeId\n0\t4\n0\t5\n4\t0\n\n5\t5\n9\t5\n";
    std::fs::write(snap.join("soc-Epinions1.txt"), edges).expect("a graph");
    let run = |name: &str, more: &[&str]| {
        let to = dir.path().join(name);
        let to = to.to_str().expect("a name in UTF-8");
        let output = flick(&[&["bench", "paper", "--quick", "-o", to], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        text(&output.stdout).to_owned()
    };
    let page = run("first", &[]);
    let bars: Vec<_> = page
        .lines()
        .filter(|line| line.starts_with("| Fig. 5") || line.starts_with("| Table IV: "))
        .collect();
    assert_eq!(bars.len(), 7, "{page}");
    assert!(bars.iter().all(|bar| bar.ends_with(" held |")), "{page}");
    assert_eq!(run("second", &[]), page);
    assert_eq!(run("second", &["--only-report"]), page);
    for name in [
        "raw/bfs-flick-isca20-epinions.csv",
        "fig5b.csv",
        "fig5b.svg",
        "table4.png",
    ] {
        let read = |run: &str| std::fs::read(dir.path().join(run).join(name)).expect("a file");
        assert!(read("first") == read("second"), "{name}");
    }
    let page = run("snap", &["--snap", snap.to_str().expect("a name in UTF-8")]);
    let graph = page.lines().find(|line| line.starts_with("| Epinions1 | "));
    let cells: Vec<_> = graph
        .unwrap_or_else(|| panic!("{page}"))
        .split('|')
        .map(str::trim)
        .collect();
    assert_eq!(
        cells[2..7],
        ["SNAP's file", "4 (76k)", "5 (509k)", "8", "4 (100.00 %)"]
    );
}

#[test]
fn scaling_and_start_up_are_measured() {
    let output = flick(&[
        "bench",
        "scale",
        "--csv",
        "--rounds=3",
        "--milliseconds=1",
        "--image=16",
    ]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        text(&output.stderr).contains("starting it, 3 rounds\n"),
        "{output:?}"
    );
    let mut wanted = vec!["plain,startup,3,".to_owned()];
    for engine in ENGINE.values {
        wanted.push(format!("{engine},startup,3,"));
        if std::thread::available_parallelism().is_ok_and(|n| n.get() > 1) {
            wanted.push(format!("{engine},host_nxp_host,3,"));
            wanted.push(format!("{engine},nxp_host_nxp,3,"));
        }
    }
    for begin in wanted {
        assert!(
            table.lines().any(|line| line.starts_with(&begin)),
            "{begin} is not in\n{table}"
        );
    }
    let code = table
        .lines()
        .find_map(|line| line.strip_prefix("plain,startup,3,"));
    let code: u64 = code
        .and_then(|rest| rest.split(',').next()?.parse().ok())
        .expect("a size");
    assert!(code >= 16 << 10, "{table}");
}

#[test]
fn no_execute_probe_dies_of_a_fault() {
    assert_eq!(
        flick(&["doctor", "--probe-nx"]).status.signal(),
        Some(libc::SIGSEGV)
    );
}

/// Away from a built tree doctor must say so, and must not try to compile.
#[test]
fn doctor_says_what_is_missing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let copy = dir.path().join("flick");
    std::fs::copy(FLICK, &copy).expect("a copy");
    let output = Command::new(&copy)
        .arg("doctor")
        .env_remove("FLICK_ROOT")
        .env("PATH", dir.path())
        .output()
        .expect("flick starts");
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    for part in [
        "MISSING  clang-19",
        "-> sudo apt-get install clang-19",
        "MISSING  lib/flick/libflick.so",
        "note     llvm-objdump-19",
        "not tried",
        "Flick does not work here",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}
