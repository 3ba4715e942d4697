//! Tiles with accelerators, the tile of a root that sets them up and serves files, and the links between them.
mod aborts;
mod chains;
mod libraries;
#[path = "../common/links.rs"]
mod links;
mod notices;
mod request_notices;
mod request_world;
mod requests;
mod two_buffers;
mod world;
