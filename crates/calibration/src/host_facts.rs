//! What Linux says of this machine: names, caches, memory that is free.
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A cache of data, as Linux has it from the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownCache {
    /// From 1.
    pub level: usize,
    /// Bytes.
    pub size: usize,
    /// Lines of a set.
    pub ways: usize,
}

/// The processor's name and the kernel's.
pub fn names() -> (String, String) {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &str| {
        Some(
            line.strip_prefix("model name")?
                .split_once(": ")?
                .1
                .to_owned(),
        )
    };
    let name = processors.lines().find_map(named);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    (
        name.unwrap_or("a processor without a name".to_owned()),
        format!("Linux {}", kernel.trim()),
    )
}

/// The caches of data of the first processor in a folder such as `/sys/devices/system/cpu`, nearest first.
pub fn caches(folder: &Path) -> Vec<KnownCache> {
    let mut all = Vec::new();
    for number in 0..16 {
        let cache = folder.join(format!("cpu0/cache/index{number}"));
        let read = |name: &str| Some(fs::read_to_string(cache.join(name)).ok()?.trim().to_owned());
        let one = || {
            if read("type")? == "Instruction" {
                return None;
            }
            let size = read("size")?;
            Some(KnownCache {
                level: read("level")?.parse().ok()?,
                size: size.strip_suffix('K')?.parse::<usize>().ok()? << 10,
                ways: read("ways_of_associativity")?.parse().ok()?,
            })
        };
        all.extend(one());
    }
    all.sort_by_key(|cache| cache.level);
    all
}

/// The bytes of memory that this process may use without pushing others out.
pub fn free_memory() -> usize {
    let system = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = system.lines().find_map(|line| {
        let size = line.strip_prefix("MemAvailable:")?.trim();
        size.strip_suffix(" kB")?.parse::<usize>().ok()
    });
    // A container has less than its machine.
    let number = |name: &str| -> Option<usize> {
        let text = fs::read_to_string(Path::new("/sys/fs/cgroup").join(name)).ok()?;
        text.trim().parse().ok()
    };
    let limit = number("memory.max").zip(number("memory.current"));
    let inside = limit.map_or(usize::MAX, |(most, used)| most.saturating_sub(used));
    available.map_or(256 << 20, |kib| kib << 10).min(inside)
}

/// The day of a time, as people write it.
pub fn day(time: SystemTime) -> String {
    let days = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs() / 86400) as i64;
    // Years begin in March here, so that a leap day is the last of one; 400 of them have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_are_right_around_leap_days() {
        let of = |days: u64| day(UNIX_EPOCH + Duration::from_secs(days * 86400 + 5));
        let days = [0, 59, 11_016, 11_017, 19_782, 20_786].map(of);
        let right = [
            "1970-01-01",
            "1970-03-01",
            "2000-02-29",
            "2000-03-01",
            "2024-02-29",
            "2026-11-29",
        ];
        assert_eq!(days, right);
    }

    #[test]
    fn a_machine_that_says_nothing_has_no_caches() {
        assert_eq!(caches(Path::new("/nowhere")), []);
        assert!(free_memory() > 0);
    }
}
