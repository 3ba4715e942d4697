//! From what a run did to what people read: `flick stat` and the tables of `flick bench`.
pub mod crossing;
pub mod engine;
pub mod scale;
pub mod stat;

mod bar;
mod baseline;
mod counter;
mod markdown;
mod numbers;
mod places;
mod quantile;
mod reasons;
