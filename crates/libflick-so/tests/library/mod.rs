//! Where `libflick.so` is.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The directory of the library, built now: cargo builds no such library for a package's own tests.
pub fn dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", env!("CARGO_PKG_NAME")]);
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
