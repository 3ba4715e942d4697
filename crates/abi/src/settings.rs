//! The environment variables that decide how a Flick program runs. The runtime reads them, and
//! `flick config` shows and checks them.
use core::ffi::CStr;

/// A variable that takes one of some words. An empty variable is the same as an unset variable.
///
/// ```
/// use flick_abi::settings::OFFLOAD;
///
/// assert_eq!(OFFLOAD.parse(b"off").map(|n| OFFLOAD.values[n]), Some("off"));
/// assert_eq!(OFFLOAD.parse(b"never"), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The variable's name.
    pub variable: &'static CStr,
    /// The first is the default.
    pub values: &'static [&'static str],
    /// A fragment for people: what the variable decides.
    pub meaning: &'static str,
}

/// With `require`, the program ends where its functions would stay on the host (FLK0403).
pub const OFFLOAD: Choice = Choice {
    variable: c"FLICK_OFFLOAD",
    values: &["auto", "require", "off"],
    meaning: "whether placed functions run on the NxP",
};
/// With `fault`, each call takes an instruction-fetch fault, as in the paper (section IV.B).
pub const TRIGGER: Choice = Choice {
    variable: c"FLICK_TRIGGER",
    values: &["gate", "fault"],
    meaning: "how a call from the host enters the NxP",
};
/// `docs/engine.md` compares the values.
pub const ENGINE: Choice = Choice {
    variable: c"FLICK_ENGINE",
    values: &["auto", "ahead", "translate", "interp"],
    meaning: "what executes NxP code",
};
/// With `device`, the runtime reports accesses that rely on what no device gives (FLK0508). With `units`,
/// `flick machine` looks at what the units of tiles promise (FLK0640).
pub const CHECK: Choice = Choice {
    variable: c"FLICK_CHECK",
    values: &["off", "device", "units"],
    meaning: "whether what no device gives, or broken promises of units, are reported",
};
/// `docs/debugging.md` says how perf reads the two files.
pub const PERF: Choice = Choice {
    variable: c"FLICK_PERF",
    values: &["off", "map", "jitdump"],
    meaning: "what is recorded of translated code for perf",
};
/// `docs/records.md` has the lines that the record gets.
pub const PROFILE: Choice = Choice {
    variable: c"FLICK_PROFILE",
    values: &["off", "functions"],
    meaning: "whether a timed run records each function (flick advise)",
};
/// With `real`, `clock_gettime` and `usleep` are the machine's (`docs/virtual-threads.md`).
pub const CLOCK: Choice = Choice {
    variable: c"FLICK_CLOCK",
    values: &["virtual", "real"],
    meaning: "whose clock a timed run reads",
};
/// With `auto`, that is so if a debugger is there when a program or library is loaded; with `on`,
/// one may come later (`docs/debugging.md`).
pub const GDB: Choice = Choice {
    variable: c"FLICK_GDB",
    values: &["auto", "on", "off"],
    meaning: "whether code that is made at run time is made for gdb",
};
/// With `auto`, as many as the code of the program and its libraries needs, and 128 at least.
pub const VLEN: Choice = Choice {
    variable: c"FLICK_VLEN",
    values: &["auto", "128", "256", "512", "1024", "2048", "4096"],
    meaning: "bits of a vector register of the NxP",
};
/// `docs/card.md` says how the second works.
pub const BACKEND: Choice = Choice {
    variable: c"FLICK_BACKEND",
    values: &["inline", "card"],
    meaning: "where NxP code runs: in the calling thread, or on a simulated machine",
};
/// All variables that take words.
pub const CHOICES: [Choice; 10] = [
    OFFLOAD, BACKEND, TRIGGER, ENGINE, VLEN, CHECK, PERF, PROFILE, CLOCK, GDB,
];

impl Choice {
    /// The index of `text` in the values; `None` for a bad value.
    pub fn parse(&self, text: &[u8]) -> Option<usize> {
        if text.is_empty() {
            return Some(0);
        }
        self.values
            .iter()
            .position(|known| known.as_bytes() == text)
    }
}

/// `FLICK_STATS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics<'a> {
    /// Neither a summary nor a record.
    Off,
    /// A summary on stderr.
    Stderr,
    /// A record in the file of this path.
    File(&'a [u8]),
}

/// A placement file for all commands of a build: `flick cc` reads it behind those of `--flick-place`
/// (`docs/driver.md`).
pub const PLACE: &str = "FLICK_PLACE";
/// A platform's name or file: the run is timed (`docs/timing.md`).
pub const PLATFORM: &CStr = c"FLICK_PLATFORM";
/// What is left of an alarm of a timed program when it gives its process to another: picoseconds, and
/// the interval. The runtime sets it (`docs/virtual-threads.md`).
pub const ALARM: &CStr = c"FLICK_ALARM";
/// The same for open files of timers: the process, and for each file `FILE:CLOCK:LEFT:INTERVAL:COUNT`,
/// with the expirations that nobody has read.
pub const TIMER_FILES: &CStr = c"FLICK_TIMER_FILES";
/// The name or file of the machine of `FLICK_BACKEND=card`; `card` by default.
pub const MACHINE: &CStr = c"FLICK_MACHINE";
/// A file of faults for that machine (`docs/faults.md`).
pub const INJECT: &CStr = c"FLICK_INJECT";
/// An archive of `tar` or `cpio` with the first files of that machine's servers, or [`NO_FILES`]; unset: it has no servers
/// (`docs/host-files.md`).
pub const CARD_FILES: &CStr = c"FLICK_CARD_FILES";
/// Servers without first files.
pub const NO_FILES: &str = "-";
/// Where a timed run writes its trace (`docs/records.md`).
pub const TRACE: &CStr = c"FLICK_TRACE";
/// Bytes that the trace may have; empty: as many as it takes.
pub const TRACE_SIZE: &CStr = c"FLICK_TRACE_SIZE";
/// The variable that [`Statistics`] is the value of.
pub const STATISTICS: &CStr = c"FLICK_STATS";
/// The help for a bad value.
pub const STATISTICS_HELP: &str =
    "use 1 for a summary on stderr, or a path with a `/` for a record";

impl<'a> Statistics<'a> {
    /// `None` for a bad value.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        match text {
            b"" | b"0" => Some(Self::Off),
            b"1" => Some(Self::Stderr),
            path if path.contains(&b'/') => Some(Self::File(path)),
            _ => None,
        }
    }
}
