//! What the environment decides, once, when the first module is registered.
use std::ffi::{CStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

use flick_abi::settings;

use crate::os::fatal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// NxP code runs on the NxP; if that is impossible, on the host.
    Auto,
    /// NxP code runs on the NxP, or the program does not start.
    Require,
    /// Everything runs on the host.
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Gates enter the crossing.
    Gate,
    /// Gates jump to the image, and the host's instruction fetch faults (paper section III.B).
    Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// In the calling thread.
    Inline,
    /// On harts of a simulated machine.
    Card,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// What the link has translated; the translator for what else runs often, the interpreter for
    /// the rest, and for all of it where nothing can be translated.
    Auto,
    /// What the link has translated, and the interpreter for the rest.
    Ahead,
    /// The translator from the first call on, or the program does not start.
    Translate,
    Interpret,
}

/// What is recorded of translated code for perf(1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perf {
    Off,
    /// Names.
    Map,
    /// Names, source lines, the code itself.
    Jitdump,
}

/// Whether what would be translated at run time is made for a debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gdb {
    /// If one is there when the module is registered.
    Auto,
    On,
    Off,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statistics {
    Off,
    Stderr,
    File(OsString),
}

#[derive(Clone, Debug)]
pub struct Config {
    pub offload: Offload,
    pub backend: Backend,
    /// The name or file of the machine of [`Backend::Card`].
    pub machine: String,
    /// The file of its faults; empty: it has none.
    pub inject: String,
    /// The first files of its servers; empty: it has none.
    pub card_files: String,
    pub trigger: Trigger,
    pub engine: Engine,
    pub statistics: Statistics,
    /// Whether accesses are compared with what a device gives.
    pub check_device: bool,
    /// What is recorded of translated code for perf(1).
    pub perf: Perf,
    /// Whether code is made for a debugger.
    pub gdb: Gdb,
    /// The platform in whose time the program runs.
    pub platform: Option<String>,
    /// Whether clocks and sleeping of a timed run are the machine's.
    pub real_time: bool,
    /// Bits of a vector register; `None`: as many as the code needs.
    pub vlen: Option<u32>,
    /// Whether a timed run records each function.
    pub profile: bool,
    /// Where the trace of a timed run goes.
    pub trace: Option<OsString>,
    /// Bytes that it may have; `None`: as many as it takes.
    pub trace_size: Option<u64>,
}

/// The process's configuration.
pub fn get() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| read(variable))
}

/// A `FLICK_*` variable; none in a set-uid or otherwise privileged program.
fn variable(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: `name` is NUL-terminated; the result is a C string that lives while nobody changes
    // the environment, and is copied at once.
    unsafe {
        if libc::getauxval(libc::AT_SECURE) != 0 {
            return None;
        }
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            None
        } else {
            Some(CStr::from_ptr(value).to_bytes().to_vec())
        }
    }
}

fn read(variable: impl Fn(&CStr) -> Option<Vec<u8>>) -> Config {
    let refuse = |name: &CStr, value: &[u8], help: &str| -> ! {
        fatal::exit(
            "FLK0404",
            &format!(
                "{}={} is not understood",
                name.to_string_lossy(),
                String::from_utf8_lossy(value)
            ),
            help,
        )
    };
    let choose = |choice: settings::Choice| -> usize {
        let value = variable(choice.variable).unwrap_or_default();
        choice.parse(&value).unwrap_or_else(|| {
            let help = flick_names::use_one_of(&String::from_utf8_lossy(&value), choice.values);
            refuse(choice.variable, &value, &help)
        })
    };
    let offload = [Offload::Auto, Offload::Require, Offload::Off][choose(settings::OFFLOAD)];
    let backend = [Backend::Inline, Backend::Card][choose(settings::BACKEND)];
    let trigger = [Trigger::Gate, Trigger::Fault][choose(settings::TRIGGER)];
    let engines = [
        Engine::Auto,
        Engine::Ahead,
        Engine::Translate,
        Engine::Interpret,
    ];
    let engine = engines[choose(settings::ENGINE)];
    let check_device = choose(settings::CHECK) == 1;
    let perf = [Perf::Off, Perf::Map, Perf::Jitdump][choose(settings::PERF)];
    let gdb = [Gdb::Auto, Gdb::On, Gdb::Off][choose(settings::GDB)];
    let profile = choose(settings::PROFILE) == 1;
    let real_time = choose(settings::CLOCK) == 1;
    let vlen = settings::VLEN.values[choose(settings::VLEN)].parse().ok();
    let value = variable(settings::STATISTICS).unwrap_or_default();
    let statistics = match settings::Statistics::parse(&value) {
        Some(settings::Statistics::Off) => Statistics::Off,
        Some(settings::Statistics::Stderr) => Statistics::Stderr,
        Some(settings::Statistics::File(path)) => {
            Statistics::File(OsString::from_vec(path.to_vec()))
        }
        None => refuse(settings::STATISTICS, &value, settings::STATISTICS_HELP),
    };
    // A look at the environment takes time, which other programs need not spend.
    let of_card = |name| {
        (backend == Backend::Card)
            .then(|| variable(name))
            .flatten()
            .filter(|value| !value.is_empty())
            .map(|value| String::from_utf8_lossy(&value).into_owned())
    };
    Config {
        offload,
        backend,
        machine: of_card(settings::MACHINE).unwrap_or_else(|| "card".into()),
        inject: of_card(settings::INJECT).unwrap_or_default(),
        card_files: of_card(settings::CARD_FILES).unwrap_or_default(),
        trigger,
        engine,
        statistics,
        check_device,
        perf,
        gdb,
        vlen,
        profile,
        real_time,
        platform: variable(settings::PLATFORM)
            .filter(|name| !name.is_empty())
            .map(|name| String::from_utf8_lossy(&name).into_owned()),
        trace: variable(settings::TRACE)
            .filter(|path| !path.is_empty())
            .map(OsString::from_vec),
        trace_size: variable(settings::TRACE_SIZE)
            .and_then(|bytes| str::from_utf8(&bytes).ok()?.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Config {
        read(|name| {
            let name = name.to_str().unwrap();
            pairs
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.as_bytes().to_vec())
        })
    }

    #[test]
    fn defaults_and_values() {
        let plain = with(&[]);
        assert_eq!(plain.offload, Offload::Auto);
        assert_eq!(plain.trigger, Trigger::Gate);
        assert_eq!((plain.backend, &*plain.machine), (Backend::Inline, "card"));
        assert_eq!(plain.engine, Engine::Auto);
        assert_eq!(plain.vlen, None);
        assert_eq!(plain.statistics, Statistics::Off);
        let set = with(&[
            ("FLICK_OFFLOAD", "require"),
            ("FLICK_TRIGGER", "fault"),
            ("FLICK_STATS", "./record"),
            ("FLICK_ENGINE", "interp"),
            ("FLICK_CHECK", "device"),
            ("FLICK_PERF", "map"),
            ("FLICK_GDB", "on"),
            ("FLICK_PROFILE", "functions"),
            ("FLICK_CLOCK", "real"),
            ("FLICK_VLEN", "512"),
            ("FLICK_BACKEND", "card"),
            ("FLICK_MACHINE", "./mine.toml"),
        ]);
        assert_eq!((set.backend, &*set.machine), (Backend::Card, "./mine.toml"));
        assert!(set.profile && !plain.profile);
        assert!(set.real_time && !plain.real_time);
        assert_eq!(set.vlen, Some(512));
        assert_eq!(set.offload, Offload::Require);
        assert_eq!(set.trigger, Trigger::Fault);
        assert_eq!(set.engine, Engine::Interpret);
        assert!(set.check_device && !plain.check_device);
        assert_eq!((set.perf, plain.perf), (Perf::Map, Perf::Off));
        assert_eq!((set.gdb, plain.gdb), (Gdb::On, Gdb::Auto));
        let dumps = with(&[("FLICK_PERF", "jitdump")]);
        assert_eq!(dumps.perf, Perf::Jitdump);
        assert_eq!(set.statistics, Statistics::File("./record".into()));
        assert_eq!(with(&[("FLICK_STATS", "1")]).statistics, Statistics::Stderr);
        assert_eq!(with(&[("FLICK_OFFLOAD", "")]).offload, Offload::Auto);
        let translate = with(&[("FLICK_ENGINE", "translate")]);
        assert_eq!(translate.engine, Engine::Translate);
    }
}
