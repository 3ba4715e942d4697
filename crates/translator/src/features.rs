//! Extensions of the host's instruction set that translated code uses.
use std::io;

/// Whether this machine has them all: AVX, BMI1, BMI2, LZCNT, POPCNT (x86-64-v3, 2013).
pub fn check() -> io::Result<()> {
    let all = std::arch::is_x86_feature_detected!("avx")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt");
    if all {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the processor lacks AVX, BMI, LZCNT or POPCNT",
    ))
}
