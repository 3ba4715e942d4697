//! What the kernel says of a thread of the process (`/proc/self/task/TID/status`).

/// The lines of a thread's file.
pub struct ThreadStatus(String);

impl ThreadStatus {
    /// `None`: there is no such thread.
    pub fn read(tid: i32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/status"));
        text.ok().map(Self)
    }

    /// What stands behind `key` and its colon.
    pub fn value(&self, key: &str) -> Option<&str> {
        let mut lines = self.0.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        Some(value.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_whole_keys() {
        let status = ThreadStatus("State:\tS (sleeping)\nSigBlk:\t0000000000000200\n".into());
        assert_eq!(status.value("SigBlk"), Some("0000000000000200"));
        assert_eq!(status.value("State"), Some("S (sleeping)"));
        assert_eq!(status.value("Sig"), None);
    }
}
