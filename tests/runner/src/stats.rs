//! The totals that the corpus needs of the statistics record that `FLICK_STATS=/path` writes.
use std::fs;
use std::path::Path;

/// Totals over all processes, threads and functions of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls from the host that ran on the NxP.
    pub host_to_nxp: u64,
    /// Calls from NxP code that ran on the host.
    pub nxp_to_host: u64,
    /// Instruction faults that became calls.
    pub faults: u64,
}

impl Stats {
    /// Reads the records that the processes of one run appended to `path`.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let records = flick_events::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        if records.is_empty() {
            return Err(format!("{} has no record", path.display()));
        }
        let mut stats = Self::default();
        for record in &records {
            stats.host_to_nxp += record.host_to_nxp_calls();
            stats.nxp_to_host += record.nxp_to_host_calls();
            stats.faults += record.faults;
        }
        Ok(stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_events::{Calls, Summary};

    #[test]
    fn adds_up_the_processes_of_a_run() {
        let call = |count| Calls {
            function: "f".into(),
            module: "prog".into(),
            count,
        };
        let parent = Summary {
            host_to_nxp: vec![call(3), call(4)],
            nxp_to_host: vec![call(2)],
            faults: 7,
            ..Summary::default()
        };
        let child = Summary {
            host_to_nxp: vec![call(1)],
            ..Summary::default()
        };
        let path = std::env::temp_dir().join(format!("flick-test-stats-{}", std::process::id()));
        fs::write(&path, parent.to_record() + &child.to_record()).unwrap();
        let stats = Stats::read(&path);
        fs::write(&path, "").unwrap();
        let empty = Stats::read(&path);
        fs::remove_file(&path).unwrap();
        assert_eq!(
            stats,
            Ok(Stats {
                host_to_nxp: 8,
                nxp_to_host: 2,
                faults: 7
            })
        );
        assert!(empty.is_err());
        assert!(Stats::read(&path).is_err());
    }
}
