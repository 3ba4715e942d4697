//! `flick sweep` as a user meets it. A shell plays the program: it leaves the record that a runtime
//! would. Another one plays `sbatch`: it runs the tasks of the array.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use flick_support::output::text;

const PROGRAM: &str = r#"#!/bin/sh
# WORK COST: predicts WORK ms with nothing placed, and COST ms and a tenth of that with migration.
echo "$1 $2" >> "$RUNS"
[ "$1" != 13 ] || { echo "unlucky $1" >&2; exit 3; }
while [ -e hold ] && [ "$1" -ge 40 ]; do sleep 0.05; done
printf 'flick-stats 1\nprogram ./prog\npid %s\ntimed-platform %s\ntimed-threads 1\ntimed-ordered 1\n' $$ "$FLICK_PLATFORM" > "$FLICK_STATS"
printf 'timed-before-ps %s\ntimed-staying-ps %s\ntimed-migrating-ps %s\ntimed-host-counted 1\nend\n' \
  "$1"000000000 "$1"000000000 $(($2 * 1000000000 + $1 * 100000000)) >> "$FLICK_STATS"
"#;

const SWEEP: &str = r#"
[run]
command = ["./prog", "{work}", "{input}"]
environment = { RUNS = "runs" }

[platforms]
names = ["near-memory", "./mine.toml"]
[platforms.axes]
"nxp.clock" = ["1 GHz", "2 GHz"]

[inputs]
cheap = ["1"]
dear = ["5"]
[inputs.axes]
work = [1, 10, 40, 100]

[metrics]
pareto = ["migrating_s", "nxp.clock"]
"#;

/// A folder with the program and a sweep of 32 points.
fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("sweep.toml"), SWEEP).expect("a file");
    script(&dir.path().join("prog"), PROGRAM);
    fs::write(
        dir.path().join("mine.toml"),
        "include = [\"near-memory\"]\nname = \"mine\"\ndescription = \"another\"\n",
    )
    .expect("a file");
    dir
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flick"));
    command
        .args(["sweep", "sweep.toml"])
        .args(args)
        .current_dir(dir)
        .env_remove("FLICK_PLATFORM");
    command
}

fn sweep(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().expect("flick starts")
}

fn csv(dir: &Path) -> String {
    fs::read_to_string(dir.join("sweep.results/results.csv")).expect("the table")
}

fn runs(dir: &Path) -> usize {
    fs::read_to_string(dir.join("runs")).map_or(0, |runs| runs.lines().count())
}

fn results(dir: &Path) -> usize {
    let files = fs::read_dir(dir.join("sweep.results/points"));
    let files = files.into_iter().flatten().flatten();
    files
        .filter(|file| !file.file_name().to_string_lossy().starts_with('.'))
        .count()
}

#[test]
fn all_points_and_then_none() {
    let dir = place();
    let output = sweep(dir.path(), &["--jobs", "2"]);
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stdout);
    assert_eq!(
        said,
        "32 points: 32 done, 0 with results of before, 0 failed\nsweep.results/results.csv\n\
         sweep.results/results.parquet\nsweep.results/sweep.html\n"
    );
    assert_eq!(runs(dir.path()), 32);
    let table = csv(dir.path());
    assert_eq!(table.lines().count(), 33);
    let row = "./mine.toml,2 GHz,2000000000,marks,dear,100,0.1,0.1,0.015,6.666666666666667,";
    assert!(table.contains(row), "{table}");
    let page = fs::read_to_string(dir.path().join("sweep.results/sweep.html")).expect("the page");
    assert_eq!(page.matches("<svg").count(), 2 + 4, "{page}");
    let parquet = fs::read(dir.path().join("sweep.results/results.parquet")).expect("the file");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));

    let output = sweep(dir.path(), &["--dry-run"]);
    let said = text(&output.stdout);
    assert!(said.ends_with("32 points, 32 with results\n"), "{said}");
    let output = sweep(dir.path(), &[]);
    assert!(text(&output.stdout).contains("0 done, 32 with results of before"));
    assert_eq!((runs(dir.path()), csv(dir.path())), (32, table));

    // Remarks and other ways to write a figure change nothing; a figure does.
    let mine = dir.path().join("mine.toml");
    let old = fs::read_to_string(&mine).expect("a file");
    fs::write(&mine, format!("# a remark\n{old}")).expect("a file");
    sweep(dir.path(), &[]);
    assert_eq!(runs(dir.path()), 32);
    fs::write(&mine, format!("{old}[nxp]\ncores = 7\n")).expect("a file");
    sweep(dir.path(), &[]);
    assert_eq!(runs(dir.path()), 48);
    // So does the program, also where its name stays.
    script(&dir.path().join("prog"), &format!("{PROGRAM}# other\n"));
    sweep(dir.path(), &[]);
    assert_eq!(runs(dir.path()), 80);
}

/// Processes whose parent is this one.
fn children(pid: u32) -> Vec<i32> {
    let file = format!("/proc/{pid}/task");
    let tasks = fs::read_dir(file).into_iter().flatten().flatten();
    let children = tasks.flat_map(|task| {
        let all = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.split_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect::<Vec<_>>()
    });
    children.collect()
}

/// Whether the process is there, and has not ended.
fn runs_on(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// A sweep that holds at points of much work, when the others of its jobs are there.
fn held(dir: &Path) -> Child {
    fs::write(dir.join("hold"), "").expect("a file");
    let child = command(dir, &["--jobs", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("flick starts");
    wait_for(|| runs(dir) >= 4 && results(dir) >= 2);
    child
}

fn wait_for(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "it does not come"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(pid: i32) {
    // SAFETY: the call takes numbers; the process is this test's.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
}

#[test]
fn a_killed_worker_loses_nothing() {
    let whole = place();
    assert!(sweep(whole.path(), &[]).status.success());
    let dir = place();
    let child = held(dir.path());
    let workers = children(child.id());
    assert_eq!(workers.len(), 2, "{workers:?}");
    let programs = children(workers[0].try_into().expect("a process"));
    assert_eq!(programs.len(), 1, "{programs:?}");
    kill(workers[0]);
    // Its program ends with it.
    wait_for(|| !runs_on(programs[0]));
    // Another one takes its point.
    wait_for(|| {
        let now = children(child.id());
        now.len() == 2 && !now.contains(&workers[0])
    });
    fs::remove_file(dir.path().join("hold")).expect("a file");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(csv(dir.path()), csv(whole.path()));
    assert_eq!(runs(dir.path()), 33, "one point was begun twice");
}

#[test]
fn a_killed_sweep_goes_on() {
    let whole = place();
    assert!(sweep(whole.path(), &[]).status.success());
    let dir = place();
    let mut child = held(dir.path());
    // Its results are not another sweep's meanwhile.
    let second = sweep(dir.path(), &[]);
    assert!(text(&second.stderr).contains("[FLK0105] the results are in use"));
    let workers = children(child.id());
    kill(child.id().try_into().expect("a process"));
    child.wait().expect("it ends");
    workers.into_iter().for_each(kill);
    let before = results(dir.path());
    fs::remove_file(dir.path().join("hold")).expect("a file");
    let output = sweep(dir.path(), &[]);
    let said = text(&output.stdout);
    let want = format!(
        "{} done, {before} with results of before, 0 failed",
        32 - before
    );
    assert!((2..32).contains(&before) && said.contains(&want), "{said}");
    assert_eq!(csv(dir.path()), csv(whole.path()));
}

#[test]
fn a_point_that_fails_does_not_end_the_others() {
    let dir = place();
    let file = dir.path().join("sweep.toml");
    fs::write(&file, SWEEP.replace("[1, 10, 40, 100]", "[1, 13]")).expect("a file");
    let output = sweep(dir.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("16 points: 8 done, 0 with results of before, 8 failed"));
    let said = text(&output.stderr);
    for part in [
        "sweep: platform near-memory, nxp.clock 1 GHz, input cheap, work 13: exit status 3\n    unlucky 13\n",
        "[FLK0117] points of a sweep have failed: sweep.results/sweep.html: 8 of 16",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(csv(dir.path()).matches(",failed\n").count(), 8);
    // They are tried again, and not the others.
    sweep(dir.path(), &[]);
    assert_eq!(runs(dir.path()), 16 + 8);
}

#[test]
fn a_build_for_each_placement() {
    let dir = place();
    let at = |name: &str| dir.path().join(name);
    let text_of = SWEEP.replace("\"./prog\"", "\"{out}/prog\"")
        + "[placements]\nmarks = []\nmoved = \"moved.place\"\n[build]\n\
           command = [\"./build\", \"{out}/prog\", \"{placement}\"]\ninputs = [\"prog\", \"build\"]\n";
    fs::write(at("sweep.toml"), text_of).expect("a file");
    fs::write(at("moved.place"), "nxp walk\n").expect("a file");
    let build = "#!/bin/sh\necho \"$2\" >> builds; echo no room >&2; cp prog \"$1\"; echo \"# $2\" >> \"$1\"\n";
    script(&at("build"), build);
    let output = sweep(dir.path(), &["--dry-run"]);
    assert!(text(&output.stdout).contains("to build      platform near-memory"));
    let output = sweep(dir.path(), &[]);
    assert!(output.status.success(), "{output:?}");
    let builds = || {
        let text = fs::read_to_string(at("builds")).unwrap_or_default();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(builds(), ["", "--flick-place=moved.place"]);
    assert_eq!(runs(dir.path()), 64);
    // The file of one placement changes: that one is built and run again.
    fs::write(at("moved.place"), "nxp other\n").expect("a file");
    sweep(dir.path(), &[]);
    assert_eq!((builds().len(), runs(dir.path())), (3, 64 + 32));
    // A build that fails is its placement's.
    script(&at("build"), &format!("{build}[ -z \"$2\" ]\n"));
    let output = sweep(dir.path(), &[]);
    let said = text(&output.stderr);
    assert!(
        said.contains("the build of moved: exit status 1\n    no room"),
        "{said}"
    );
    assert!(said.contains("32 of 64"), "{said}");
}

#[test]
fn an_array_of_slurm_has_the_same_table() {
    let whole = place();
    assert!(sweep(whole.path(), &[]).status.success());
    let dir = place();
    let file = dir.path().join("sweep.toml");
    let options = "[slurm]\noptions = [\"--partition=long\"]\n";
    fs::write(&file, format!("{SWEEP}{options}")).expect("a file");
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    // The first time a node is lost: one of the three tasks does not run.
    script(
        &bin.join("sbatch"),
        "#!/bin/sh\n[ \"$1 $2\" = \"--wait --parsable\" ] || exit 9\n\
         grep -q '^#SBATCH --partition=long$' \"$3\" || exit 9\n\
         grep -q '^#SBATCH --array=0-2$' \"$3\" || exit 9\n\
         for task in 0 1 2; do\n\
           [ $task = 1 ] && [ ! -e lost ] && { touch lost; continue; }\n\
           SLURM_ARRAY_TASK_ID=$task sh \"$3\" || exit 1\n\
         done\n",
    );
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("PATH"));
    let engine = ["--engine", "slurm", "--tasks", "3"];
    let output = command(dir.path(), &engine)
        .env("PATH", &path)
        .output()
        .expect("flick starts");
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stderr);
    assert!(
        said.contains("sweep: 11 points are lost, and done again"),
        "{said}"
    );
    assert_eq!(csv(dir.path()), csv(whole.path()));
    assert_eq!(runs(dir.path()), 32);
}

#[test]
fn engines_that_are_not_there_are_named() {
    let dir = place();
    let file = dir.path().join("sweep.toml");
    fs::write(&file, format!("{SWEEP}[ray]\npython = \"./no-python\"\n")).expect("a file");
    for (engine, tool) in [("slurm", "sbatch"), ("ray", "ray")] {
        let output = command(dir.path(), &["--engine", engine])
            .env("PATH", dir.path())
            .output()
            .expect("flick starts");
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        assert!(
            said.contains(&format!("[FLK0102] a required tool is missing: {tool}:")),
            "{said}"
        );
    }
}

#[test]
fn all_mistakes_at_once() {
    let dir = place();
    let wrong = r#"
color = "red"
[run]
command = ["./prog", "{wrok}", "{input}"]
directory = "nowhere"
limit = "soon"
[platforms]
names = ["near-memroy"]
[platforms.axes]
"nxp.clock" = []
"nxp.cores" = [1, 0]
[placements]
moved = "moved.place"
[inputs]
small = { stdin = "no.txt", arg = [] }
[inputs.axes]
work = [1, 1]
[metrics]
sensitivity = "speed"
map = ["work", "input"]
"#;
    fs::write(dir.path().join("sweep.toml"), wrong).expect("a file");
    let output = sweep(dir.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for part in [
        "sweep.toml:2: `color` is not known\nhelp: ",
        "sweep.toml:4: {wrok} has no value here\nhelp: did you mean 'work'?",
        "sweep.toml:5: there is no folder",
        "sweep.toml:6: `run.limit`: \"soon\" is no time",
        "sweep.toml:10: `platforms.axes.nxp.clock` is empty",
        "sweep.toml:13: there is no file",
        "there are placement files, and no build",
        "sweep.toml:15: there is no file",
        "sweep.toml:15: `inputs.small.arg` is not known\nhelp: did you mean 'args'?",
        "sweep.toml:17: `work` has \"1\" twice",
        "sweep.toml:17: no command uses the axis work",
        "sweep.toml:19: speed is no metric",
        "sweep.toml:20: input is no axis of numbers",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for line in said.lines().filter(|line| !line.starts_with("help: ")) {
        assert!(line.starts_with("flick: error: [FLK0116] "), "{line}");
    }
    assert_eq!(results(dir.path()) + runs(dir.path()), 0);

    // Platforms are loaded with all settings.
    for (from, to, want) in [
        ("near-memory\"", "near-memroy\"", "no platform of this name"),
        (
            "2 GHz",
            "2 GH",
            "sweep.toml:9: near-memory with --set nxp.clock=2 GH",
        ),
        ("nxp.clock\" =", "nxp.clok\" =", "`nxp.clok` is not known"),
        ("[run]", "run", "it is not TOML"),
        ("\"{work}\", ", "", "no command uses the axis work"),
        (
            "[inputs]",
            "[inputs]\nnone = [\"{wrk}\"]",
            "did you mean 'work'?",
        ),
    ] {
        fs::write(dir.path().join("sweep.toml"), SWEEP.replace(from, to)).expect("a file");
        let said = text(&sweep(dir.path(), &[]).stderr);
        assert!(said.contains(want), "{want}: {said}");
    }
}

#[test]
fn workers_refuse_what_is_no_plan() {
    let dir = place();
    let plan: PathBuf = dir.path().join("plan.json");
    let worker = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_flick"))
            .args(["sweep", "--worker"])
            .arg(&plan)
            .args(args)
            .stdin(Stdio::null())
            .output()
            .expect("flick starts");
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = worker(&[]);
    assert!(code == Some(1) && said.contains("[FLK0105]"), "{said}");
    fs::write(&plan, "{}").expect("a file");
    let (_, said) = worker(&[]);
    assert!(
        said.contains("[FLK0116] the plan of a sweep cannot be used"),
        "{said}"
    );
    let other = r#"{"flick":"0.0.1","results":"/","directory":"/","limit_s":1.0,"points":[]}"#;
    fs::write(&plan, other).expect("a file");
    let (_, said) = worker(&[]);
    assert!(said.contains("[FLK0303]"), "{said}");
    let same = other.replace("0.0.1", env!("CARGO_PKG_VERSION"));
    fs::write(&plan, same).expect("a file");
    let (_, said) = worker(&["--points", "0"]);
    assert!(said.contains("[FLK0104]"), "{said}");
}
