//! What programs have open, for snapshots: names and positions. The content of files is the host's, and no
//! part of a snapshot.
use serde::{Deserialize, Serialize};

use super::host_files::{HostFile, LAST_MODE, MOST, Opened, UnopenedFile};
use super::{LONGEST_NAME, Semihosting};

/// The state of [`Semihosting`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSemihosting {
    opened: Vec<Option<SavedEntry>>,
    errno: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum SavedEntry {
    Input,
    Output,
    Features(u64),
    /// Name, mode and position.
    File(Vec<u8>, u64, u64),
}

impl SavedEntry {
    fn is_possible(&self) -> bool {
        match self {
            Self::Input | Self::Output => true,
            Self::Features(position) => i64::try_from(*position).is_ok(),
            Self::File(name, mode, position) => {
                name.len() as u64 <= LONGEST_NAME
                    && *mode <= LAST_MODE
                    && i64::try_from(*position).is_ok()
            }
        }
    }
}

impl Semihosting {
    pub(crate) fn save(&self) -> SavedSemihosting {
        let entry = |opened: &Opened| match opened {
            Opened::Input => SavedEntry::Input,
            Opened::Output => SavedEntry::Output,
            Opened::Features(position) => SavedEntry::Features(*position),
            Opened::File(file) => SavedEntry::File(file.name.clone(), file.mode, file.position),
        };
        let all = self.files.opened.iter();
        SavedSemihosting {
            opened: all.map(|opened| opened.as_ref().map(entry)).collect(),
            errno: self.errno,
        }
    }

    /// Takes what [`save`](Self::save) gave. Files are opened when they are needed. False: no run has
    /// these, and nothing has changed.
    pub(crate) fn restore(&mut self, saved: &SavedSemihosting) -> bool {
        let mut entries = saved.opened.iter().flatten();
        if saved.opened.len() > MOST || !entries.all(SavedEntry::is_possible) {
            return false;
        }
        let mut before = std::mem::take(&mut self.files.opened);
        before.resize_with(saved.opened.len(), || None);
        let pairs = saved.opened.iter().zip(before);
        let opened = pairs.map(|(saved, before)| {
            Some(match saved.as_ref()? {
                SavedEntry::Input => Opened::Input,
                SavedEntry::Output => Opened::Output,
                SavedEntry::Features(position) => Opened::Features(*position),
                SavedEntry::File(name, mode, position) => {
                    // The host may have the file open already, and under no name any more.
                    let file = match before {
                        Some(Opened::File(file)) if file.name == *name && file.mode == *mode => {
                            file.file
                        }
                        _ => None,
                    };
                    Opened::File(HostFile {
                        name: name.clone(),
                        mode: *mode,
                        position: *position,
                        file,
                    })
                }
            })
        });
        self.files.opened = opened.collect();
        self.errno = saved.errno;
        true
    }

    /// What programs see of it, for the identity of a run.
    pub(crate) fn description(&self) -> String {
        let setup = &self.setup;
        format!("{:?} {:?}", setup.command_line, setup.free)
    }

    /// Opens all files that a program has open.
    pub(crate) fn open_all(&mut self) -> Result<(), UnopenedFile> {
        self.files.open_all()
    }
}
