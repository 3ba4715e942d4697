//! Finds a library that cargo builds, for tests that build programs with it.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder where `scripts/test.sh` has built the libraries. Alone they would have other features
/// than in the workspace, and all that they use would be built once more.
const BUILT: &str = "TESTED_LIBRARIES";

/// Builds the library of `package`, the test's own, and returns its directory. cargo builds no such
/// library for a package's own tests.
pub fn dir(package: &str) -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        if let Some(built) = std::env::var_os(BUILT) {
            return built.into();
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", package]);
        cargo.args([
            "--profile",
            if cfg!(debug_assertions) {
                "dev"
            } else {
                "release"
            },
        ]);
        assert!(cargo.status().unwrap().success());
        // target/<profile>/deps/<test>
        std::env::current_exe()
            .unwrap()
            .ancestors()
            .nth(2)
            .unwrap()
            .to_owned()
    })
}
