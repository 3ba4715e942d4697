//! Any bytes to what says which CPU has which extension, and threads with any instructions on such
//! CPUs: for the tests and for `fuzz/`.
use flick_extensions::cpu_set::CpuSet;
use flick_extensions::cpus::Cpus;
use flick_extensions::move_policy::{Decision, Fault, Place, Policy};
use flick_extensions::{description, sources};

/// `/proc/cpuinfo`, a description, a node of the device tree and instructions, between NULs.
pub fn read_any(data: &[u8]) {
    let mut parts = data.splitn(4, |&byte| byte == 0);
    let mut part = || parts.next().unwrap_or(&[]);
    let mut cpus = sources::of_cpuinfo(&String::from_utf8_lossy(part()));
    let (described, list, words) = (String::from_utf8_lossy(part()).into_owned(), part(), part());
    if let Err(wrong) = description::add(&mut cpus, &described) {
        assert!(!wrong.why.is_empty() && wrong.line > 0, "{wrong:?}");
        assert!(
            wrong.line <= 1 + described.matches('\n').count(),
            "{wrong:?}"
        );
    }
    if let Some(first) = cpus.first_mut() {
        first
            .extensions
            .extend(sources::of_node(Some(list), Some(list)));
    }
    let cpus = Cpus::new(cpus);
    let all = cpus.that(|_| true);
    let policy = Policy {
        hold: 10,
        longest: 1000,
    };
    let mut place = Place::new(all, &policy);
    for (now, word) in (1..).zip(words.chunks_exact(4)) {
        let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
        // The same instruction faults until it is refused: each kind of CPU tries it once.
        let mut tries = 0;
        loop {
            let fault = Fault {
                pc: u64::from(word),
                word,
                last_cpu: word as usize % 8,
                now,
            };
            match place.fault(&cpus, &policy, &fault) {
                Decision::Move(to) => {
                    assert!(!to.is_empty() && to.without(&all).is_empty());
                    assert_eq!(place.held(), Some(&to));
                }
                Decision::Refuse(why) => {
                    assert!(!why.to_string().is_empty());
                    break;
                }
            }
            tries += 1;
            assert!(
                tries <= 1 + cpus.kinds().len(),
                "{word:08x} is tried for ever"
            );
        }
        if word & 1 == 0 {
            place.free(now);
        }
    }
    assert!(place.own().without(&CpuSet::EMPTY) == all);
}
