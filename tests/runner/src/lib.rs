//! The tests over whole programs. `flick-test` (`main.rs`) and the trials of `cargo test`
//! (`tests/corpus.rs`) build the small programs under `tests/` with the real driver and with plain
//! compilers, run them, and compare.
//!
//! | module | step |
//! |---|---|
//! | [`program`], [`directives`] | read the programs of the corpus and their leading comments |
//! | [`errors`], [`mistakes`], [`mistake_text`] | read bad input and mistakes |
//! | [`filter`], [`names`], [`coverage`] | choose tests by name, or by the module that they cover |
//! | [`mode`], [`random`] | choose the modes and placements |
//! | [`suite`] | makes jobs of programs, modes and placements |
//! | [`build`], [`kept_objects`], [`recording`], [`warm`] | build a program, with warm tools |
//! | [`exec`], [`check`], [`stats`] | run it, and compare output, exit status and statistics |
//! | [`pool`] | runs all jobs, shows progress, and collects verdicts |
//! | [`normal`], [`transparency`] | make and check the pages of mistakes and transparency |
//! | [`strangers`] | the same for GCC's and LLVM's tests |
pub mod build;
pub mod check;
pub mod coverage;
pub mod directives;
pub mod errors;
pub mod exec;
pub mod filter;
pub mod kept_objects;
pub mod mistake_text;
pub mod mistakes;
pub mod mode;
pub mod names;
pub mod normal;
pub mod pool;
pub mod program;
pub mod random;
pub mod recording;
pub mod stats;
pub mod strangers;
pub mod suite;
pub mod transparency;
pub mod warm;
