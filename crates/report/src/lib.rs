//! From what a run did to what people read: `flick stat` and the tables of `flick bench`.
pub mod crossing;
pub mod engine;
pub mod stat;

mod counter;
mod quantile;
mod reasons;
