//! Messages between the tiles of a machine.
use flick_events::trace::{Process, What};

/// One that has come to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The numbers of the threads that are the tiles.
    pub from: u32,
    pub to: u32,
    /// Picoseconds.
    pub sent: u64,
    pub arrived: u64,
    /// The number of its name.
    pub id: u32,
}

/// All messages of a process.
pub fn of(process: &Process<'_>) -> Vec<Message> {
    let mut all = vec![];
    for thread in &process.threads {
        all.extend(thread.events().filter_map(|event| match event.what {
            What::Message {
                from,
                under_way,
                id,
            } => Some(Message {
                from,
                to: thread.id,
                sent: event.time.saturating_sub(under_way),
                arrived: event.time,
                id,
            }),
            _ => None,
        }));
    }
    all
}
