//! From what a run did to what people read: `flick stat`, the pages and traces of timed runs, and the
//! tables of `flick bench`.
pub mod advise;
pub mod crossing;
pub mod engine;
pub mod page;
pub mod paper;
pub mod perfetto;
pub mod record;
pub mod scale;
pub mod stat;

mod again;
mod bar;
mod baseline;
mod child;
mod counter;
mod markdown;
mod numbers;
mod places;
mod platform;
mod quantile;
mod reasons;
#[cfg(test)]
mod sample;
mod spread;
mod timeline;
