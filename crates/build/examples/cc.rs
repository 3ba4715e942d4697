//! The driver without the `flick` command around it, for this crate's tests.
fn main() -> std::process::ExitCode {
    flick_build::cc(std::env::args_os().skip(1))
}
