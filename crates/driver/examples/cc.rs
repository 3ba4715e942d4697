//! The driver without the `flick` command around it, for this crate's tests. Under the name `c++`
//! it is `flick c++`, under `ld` and `ld.lld` the linker that clang calls.
use std::path::Path;

use flick_driver::FrontEnd;

fn main() -> std::process::ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap_or_default();
    if let Some("ld" | "ld.lld") = name.to_str() {
        return flick_driver::ld(args);
    }
    let front = FrontEnd::of_name(name).unwrap_or(FrontEnd::C);
    flick_driver::cc(front, args)
}
