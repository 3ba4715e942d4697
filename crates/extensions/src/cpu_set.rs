//! Sets of CPUs, as `sched_setaffinity` takes them and as Linux writes them.
use std::fmt;
use std::str::FromStr;

/// CPUs that a set has room for: Linux for RISC-V has 512 at most.
pub const LIMIT: usize = 1024;

/// A set of CPUs by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CpuSet([u64; LIMIT / 64]);

impl CpuSet {
    /// No CPU.
    pub const EMPTY: Self = Self([0; LIMIT / 64]);

    /// The words of the set, in the layout of the kernel.
    pub const fn words(&self) -> &[u64; LIMIT / 64] {
        &self.0
    }

    /// The set that the kernel has written.
    pub const fn from_words(words: [u64; LIMIT / 64]) -> Self {
        Self(words)
    }

    /// Adds a CPU below [`LIMIT`].
    pub fn insert(&mut self, cpu: usize) {
        self.0[cpu / 64] |= 1 << (cpu % 64);
    }

    /// Has it this CPU?
    pub fn has(&self, cpu: usize) -> bool {
        cpu < LIMIT && self.0[cpu / 64] & 1 << (cpu % 64) != 0
    }

    /// Is no CPU in it?
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The CPUs that both have.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The CPUs that either has.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// Its CPUs without those of `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    /// Their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..LIMIT).filter(|&cpu| self.has(cpu))
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<T: IntoIterator<Item = usize>>(cpus: T) -> Self {
        let mut set = Self::EMPTY;
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    /// As `/proc` has it: `0-3,6`. The empty set is `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.iter().peekable();
        let mut is_first = true;
        while let Some(first) = rest.next() {
            let mut last = first;
            while rest.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            let comma = if is_first { "" } else { "," };
            is_first = false;
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        if is_first {
            f.write_str("none")
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

impl FromStr for CpuSet {
    type Err = String;

    /// As `taskset --cpu-list` takes it: `0-3,6`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut set = Self::EMPTY;
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<usize>().ok();
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last && last < LIMIT => {
                    (first..=last).for_each(|cpu| set.insert(cpu));
                }
                _ => {
                    return Err(format!(
                        "\"{part}\" is no CPU and no range of CPUs below {LIMIT}"
                    ));
                }
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        for text in ["0", "0-3", "0-3,6", "5,63-64,1023"] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), text);
        }
        assert_eq!("3, 1-2,1".parse::<CpuSet>().unwrap().to_string(), "1-3");
        assert_eq!(CpuSet::EMPTY.to_string(), "none");
        for bad in ["", "a", "3-1", "-1", "1-", "1024", "0,,1", "1-2-3"] {
            assert!(
                bad.parse::<CpuSet>().unwrap_err().contains("no CPU"),
                "{bad}"
            );
        }
    }

    #[test]
    fn sets_are_sets() {
        let (some, other): (CpuSet, CpuSet) = ("0-3".parse().unwrap(), "2-70".parse().unwrap());
        assert_eq!(some.and(&other).to_string(), "2-3");
        assert_eq!(some.or(&other).to_string(), "0-70");
        assert_eq!(some.without(&other).to_string(), "0-1");
        assert!(!some.has(LIMIT) && some.without(&some).is_empty());
    }
}
