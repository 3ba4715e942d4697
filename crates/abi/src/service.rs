//! What the root's kernel and a server tell each other of sessions (`docs/root.md`): messages at the server's gate
//! with the label of the service.

/// The first word of a request for a session. Then come the server's capability of it, and the client's argument.
/// An answer has an [error](crate::card::Error) or 0, and what the client's messages carry as their label.
pub const OPEN: u64 = 1;
/// The first word of the message that a session is over. Then come its capability, which is gone, and its label.
pub const CLOSE: u64 = 2;
/// The slot of a message that takes no answer.
pub const NO_SLOT: u64 = 0xff;
