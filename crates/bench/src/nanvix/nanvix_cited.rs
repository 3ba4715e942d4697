//! What the Nanvix paper states, what was fixed before the measurements (docs/paper-nanvix.md), and
//! figures of `machines/mppa256.toml`.

/// A mode switch on the paper's VLIW core, in cycles.
pub const MODE_SWITCH: f64 = 164.0;
/// Noise a computing thread.
pub const NOISE: f64 = 0.005;
/// Fork-join over its ideal.
pub const FORK_JOIN: f64 = 1.5;
/// Each repetition's variation is below.
pub const VARIATION: f64 = 0.01;

/// Bars, in cycles or as shares.
pub const LOCAL_BAR: f64 = 100.0;
/// Two interrupts, two lines, and 300 cycles.
pub const REMOTE_BAR: f64 = 424.0;
pub const FORK_JOIN_BAR: f64 = 1.1;
pub const NOISE_BAR: f64 = 0.001;
pub const SERVICE_BAR: f64 = 0.05;
pub const BOOT_BAR: f64 = 200_000.0;
/// Beyond the latency of the link.
pub const MAILBOX_BAR: f64 = 500.0;
/// Bytes of a portal's blocks, and the share of the link's bandwidth that a stream of them has.
pub const PORTAL_BLOCK: u32 = 65536;
pub const PORTAL_BAR: f64 = 0.9;
/// How straight fork-join's times are: the share of their variance that a line explains.
pub const LINEAR_BAR: f64 = 0.99;

/// Threads beside the main one, and the cluster's harts.
pub const THREADS: u32 = 14;
/// Bytes of a message.
pub const MESSAGE: f64 = 120.0;
/// Cycles a second.
pub const CLOCK: f64 = 400e6;

/// The ideal of fork-join, in cycles.
pub fn fork_join_ideal(threads: u32) -> f64 {
    584.0 * f64::from(threads) + 62.0
}

const COLUMNS: u32 = 4;
const HOP: f64 = 8.0;
const LINK_BYTES: f64 = 4.0;
/// A message with the header of the data transfer unit.
const PACKET: f64 = 144.0;

/// Hops of the torus from the first cluster to another.
pub fn hops(cluster: u32) -> u32 {
    let around = |place: u32| place.min(COLUMNS - place);
    around(cluster % COLUMNS) + around(cluster / COLUMNS)
}

/// Cycles of a message on the links.
pub fn link_latency(cluster: u32) -> f64 {
    match hops(cluster) {
        0 => 0.0,
        hops => HOP * f64::from(hops) + PACKET / LINK_BYTES,
    }
}

/// Cycles of so many bytes on a link, without headers.
pub fn link_cycles(bytes: u32) -> f64 {
    f64::from(bytes) / LINK_BYTES
}

/// Messages in a cycle, at most: those that a link's time allows.
pub fn link_messages() -> f64 {
    LINK_BYTES / PACKET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_torus_goes_both_ways_around() {
        assert_eq!([0, 1, 2, 3, 5, 10, 15].map(hops), [0, 1, 2, 1, 2, 4, 2]);
        assert_eq!(link_latency(10), 68.0);
    }
}
