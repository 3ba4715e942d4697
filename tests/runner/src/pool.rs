//! Runs jobs on all cores and shows how far they are.
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub enum Outcome {
    Passed,
    /// A report for a person, with the commands that repeat it.
    Failed(String),
    Skipped(String),
}

/// The result of a test that passed, for docs/transparency.md.
pub struct Shown {
    pub kind: Kind,
    /// The output of the program or the tool.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program that crossed, and did what its native build does.
    Works,
    /// A compile or link that failed with a code.
    Refused,
    /// A run that ended with a code.
    Reported,
}

/// One result of a job; a job that builds once and runs twice has two.
pub struct Verdict {
    /// The test, and behind a blank the way in which it ran.
    pub name: String,
    pub outcome: Outcome,
    pub shown: Option<Shown>,
}

impl Verdict {
    pub fn new(name: String, result: Result<(), String>) -> Self {
        let outcome = match result {
            Ok(()) => Outcome::Passed,
            Err(report) => Outcome::Failed(report),
        };
        Self {
            name,
            outcome,
            shown: None,
        }
    }

    /// The verdict of a test that prints something, or fails with a report.
    pub fn of(name: String, kind: Kind, result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self {
                shown: Some(Shown { kind, text }),
                ..Self::new(name, Ok(()))
            },
            Err(report) => Self::new(name, Err(report)),
        }
    }

    pub fn skipped(name: String, reason: &str) -> Self {
        Self {
            name,
            outcome: Outcome::Skipped(reason.into()),
            shown: None,
        }
    }

    /// The test that this is a verdict on.
    pub fn test(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

pub type Job<'a> = Box<dyn Fn() -> Vec<Verdict> + Send + Sync + 'a>;

/// Runs all of `jobs` on `threads` threads, with `stop` only up to the first failure. Verdicts come
/// in the order of the jobs.
pub fn run(jobs: &[Job], threads: usize, stop: bool, title: &str) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Vec<Verdict>>> = jobs.iter().map(|_| Mutex::new(Vec::new())).collect();
    let progress = Mutex::new(Progress::new(title, jobs.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()).max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let began = Instant::now();
                    let verdicts = job();
                    if lock(&progress).advance(&verdicts, began.elapsed()) && stop {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                    *lock(&slots[index]) = verdicts;
                }
            });
        }
    });
    lock(&progress).close();
    slots
        .into_iter()
        .flat_map(|s| s.into_inner().unwrap_or_default())
        .collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

struct Progress {
    title: String,
    total: usize,
    done: usize,
    failed: usize,
    began: Instant,
    shown: Instant,
    terminal: bool,
    /// The time that the jobs of each test took.
    took: BTreeMap<String, Duration>,
}

/// Tests that [`Progress::close`] names.
const SLOWEST: usize = 8;

impl Progress {
    fn new(title: &str, total: usize) -> Self {
        let terminal = stderr().is_terminal();
        Self {
            title: title.into(),
            total,
            done: 0,
            failed: 0,
            began: Instant::now(),
            shown: Instant::now(),
            terminal,
            took: BTreeMap::new(),
        }
    }

    /// Whether anything has failed.
    fn advance(&mut self, verdicts: &[Verdict], took: Duration) -> bool {
        self.done += 1;
        if let Some(verdict) = verdicts.first() {
            *self.took.entry(verdict.test().to_owned()).or_default() += took;
        }
        for v in verdicts {
            if let Outcome::Failed(_) = v.outcome {
                self.failed += 1;
            }
        }
        let pause = Duration::from_millis(if self.terminal { 100 } else { 20_000 });
        if self.shown.elapsed() >= pause {
            self.show();
        }
        self.failed > 0
    }

    fn show(&mut self) {
        self.shown = Instant::now();
        let line = format!(
            "{}: {} of {}, {} failed{}",
            self.title,
            self.done,
            self.total,
            self.failed,
            self.left()
        );
        // A closed stderr must not end the run.
        let _ = if self.terminal {
            write!(stderr(), "\r\x1b[K{line}")
        } else {
            writeln!(stderr(), "{line}")
        };
    }

    /// An estimate of the time that the remaining jobs will take.
    fn left(&self) -> String {
        let took = self.began.elapsed();
        let open = self.total - self.done;
        if open == 0 || self.done == 0 || took < Duration::from_secs(10) {
            return String::new();
        }
        let left = took.as_secs_f64() / self.done as f64 * open as f64;
        format!(", about {} min left", (left / 60.0).ceil())
    }

    /// The tests that took most of the time.
    fn slowest(&self) -> String {
        let all: Duration = self.took.values().sum();
        let mut tests: Vec<_> = self.took.iter().collect();
        tests.sort_by_key(|(name, took)| (Reverse(**took), *name));
        let seconds: Vec<String> = tests[..tests.len().min(SLOWEST)]
            .iter()
            .map(|(name, took)| format!("{name} {:.0} s", took.as_secs_f64()))
            .collect();
        format!(
            "slowest of {:.0} s: {}",
            all.as_secs_f64(),
            seconds.join(", ")
        )
    }

    fn close(&mut self) {
        self.show();
        if self.terminal {
            let _ = writeln!(stderr());
        }
        if self.took.len() > SLOWEST {
            let _ = writeln!(stderr(), "{}: {}", self.title, self.slowest());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_the_jobs() {
        let jobs: Vec<Job> = (0..50)
            .map(|n: usize| -> Job {
                Box::new(move || {
                    let result = if n == 7 { Err("seven".into()) } else { Ok(()) };
                    vec![Verdict::new(n.to_string(), result)]
                })
            })
            .collect();
        let verdicts = run(&jobs, 4, false, "test");
        let names: Vec<String> = verdicts.iter().map(|v| v.name.clone()).collect();
        assert_eq!(names, (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
        assert!(matches!(&verdicts[7].outcome, Outcome::Failed(why) if why == "seven"));
        assert_eq!(run(&jobs, 1, true, "test").len(), 8);
    }

    #[test]
    fn names_the_slowest_tests() {
        let mut progress = Progress::new("test", 4);
        for (name, seconds) in [("a O0", 1), ("b O0", 5), ("a O2", 3), ("c O2", 2)] {
            let verdict = Verdict::new(name.into(), Ok(()));
            progress.advance(&[verdict], Duration::from_secs(seconds));
        }
        assert_eq!(progress.slowest(), "slowest of 11 s: b 5 s, a 4 s, c 2 s");
    }
}
