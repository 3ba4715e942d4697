//! Says on standard error how far a sweep is.
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often a terminal gets a new line in place of the last.
const OFTEN: Duration = Duration::from_millis(500);
/// How often a file does.
const SELDOM: Duration = Duration::from_secs(30);

pub struct Progress {
    all: usize,
    begin: Instant,
    terminal: bool,
    state: Mutex<State>,
}

struct State {
    done: usize,
    said: Instant,
    open: bool,
}

impl Progress {
    /// Of so many points that are to be done.
    pub fn of(all: usize) -> Self {
        let now = Instant::now();
        Self {
            all,
            begin: now,
            terminal: io::stderr().is_terminal(),
            state: Mutex::new(State {
                done: 0,
                said: now,
                open: false,
            }),
        }
    }

    /// One more is done.
    pub fn one_more(&self) {
        self.add(|done| done + 1);
    }

    /// So many are done now.
    pub fn reached(&self, done: usize) {
        self.add(|before| before.max(done));
    }

    fn add(&self, to: impl FnOnce(usize) -> usize) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.done = to(state.done);
        let pause = if self.terminal { OFTEN } else { SELDOM };
        if state.said.elapsed() < pause {
            return;
        }
        state.said = Instant::now();
        let text = line(state.done, self.all, self.begin.elapsed());
        let mut out = io::stderr().lock();
        let _ = match self.terminal {
            true => write!(out, "\r{text}\x1b[K"),
            false => writeln!(out, "{text}"),
        };
        let _ = out.flush();
        state.open = self.terminal;
    }

    /// Behind this, other lines may follow.
    pub fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        if state.open {
            let _ = write!(io::stderr(), "\r\x1b[K");
            state.open = false;
        }
    }
}

fn line(done: usize, all: usize, elapsed: Duration) -> String {
    let mut text = format!("sweep: {done} of {all} points");
    if done > 0 && done < all {
        let left = elapsed.as_secs_f64() / done as f64 * (all - done) as f64;
        text += &format!(", {} left", duration(left));
    }
    text
}

/// A time for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_of_the_points_left() {
        let ten = Duration::from_secs(10);
        assert_eq!(line(0, 4, ten), "sweep: 0 of 4 points");
        assert_eq!(line(1, 4, ten), "sweep: 1 of 4 points, 30 s left");
        assert_eq!(line(4, 4, ten), "sweep: 4 of 4 points");
        assert_eq!(duration(600.0), "10 min");
    }
}
