//! Workers on this machine: processes that get the numbers of points, one at a time. Where a worker is
//! killed, another does its point.
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flick_image::Error;

use crate::Settings;
use crate::result_files::{self, Store};
use crate::sweep_plan::Plan;
use crate::sweep_progress::Progress;
use crate::sweep_worker;

/// How often a point is tried whose worker was killed.
const TRIES: usize = 3;

struct Worker {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Worker {
    fn start(settings: &Settings, plan: &Path) -> io::Result<Self> {
        let mut process = Command::new(&settings.executable)
            .args(["sweep", "--worker"])
            .arg(plan)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(to), Some(from)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        Ok(Self {
            process,
            to,
            from: BufReader::new(from),
        })
    }

    /// Whether the worker has done the point. A worker that was killed has not.
    fn does(&mut self, number: usize) -> bool {
        let mut answer = String::new();
        writeln!(self.to, "{number}").is_ok()
            && self.from.read_line(&mut answer).is_ok()
            && answer.trim_end() == number.to_string()
    }

    /// Lets it end, or waits for the one that has ended.
    fn end(self) -> io::Result<ExitStatus> {
        let Self {
            mut process, to, ..
        } = self;
        drop(to);
        process.wait()
    }
}

/// Does all points of the plan.
pub fn run(
    settings: &Settings,
    file: &Path,
    (plan, store): (&Plan, &Store),
    progress: &Progress,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let keep = |error: Error| {
        failed
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .get_or_insert(error);
        // The others stop, too.
        next.store(plan.points.len(), Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.min(plan.points.len()) {
            scope.spawn(|| {
                let mut worker = None;
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= plan.points.len() {
                        break;
                    }
                    if let Err(error) = point(settings, file, &mut worker, number, (plan, store)) {
                        keep(error);
                        break;
                    }
                    progress.one_more();
                }
                if let Some(worker) = worker {
                    let _ = worker.end();
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
    failed.map_or(Ok(()), Err)
}

fn point(
    settings: &Settings,
    file: &Path,
    worker: &mut Option<Worker>,
    number: usize,
    (plan, store): (&Plan, &Store),
) -> Result<(), Error> {
    let unusable = |error: &io::Error| result_files::unusable(&settings.executable, error);
    let task = &plan.points[number];
    let mut last = None;
    for _ in 0..TRIES {
        let mut this = match worker.take() {
            Some(worker) => worker,
            None => Worker::start(settings, file).map_err(|error| unusable(&error))?,
        };
        if this.does(number) {
            *worker = Some(this);
            return Ok(());
        }
        last = Some(this.end().map_err(|error| unusable(&error))?);
        if store.has_ended(&task.key) {
            return Ok(());
        }
    }
    let status = last.map_or(String::new(), |status| format!(" ({status})"));
    let why = format!("{TRIES} workers have ended while they ran it{status}");
    store.put_failure(&sweep_worker::failure(task, why, String::new()))
}
