//! Extensions of the host's instruction set that translated code uses.
use std::arch::{asm, x86_64};
use std::io;

/// Whether this machine has them all: AVX, BMI1, BMI2, LZCNT, POPCNT (x86-64-v3, 2013).
pub fn check() -> io::Result<()> {
    if Leaves::of_c_library().is_some_and(|leaves| leaves.have_all())
        || Leaves::of_processor().have_all()
    {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the processor lacks AVX, BMI, LZCNT or POPCNT",
    ))
}

/// What CPUID says (Intel SDM, volume 2, "CPUID"), of extensions that the system supports, too.
struct Leaves {
    /// ecx of leaf 1.
    basic: u32,
    /// ebx of leaf 7.
    extended: u32,
    /// ecx of leaf 0x8000_0001.
    amd: u32,
}

const AVX: u32 = 1 << 28;
const POPCNT: u32 = 1 << 23;
const OSXSAVE: u32 = 1 << 27;
const BMI1: u32 = 1 << 3;
const BMI2: u32 = 1 << 8;
const LZCNT: u32 = 1 << 5;

/// `struct cpuid_feature` of the C library's `sys/platform/x86.h`: eax, ebx, ecx, edx.
#[repr(C)]
struct CpuidFeature {
    cpuid: [u32; 4],
    active: [u32; 4],
}

// Since 2.33 of the GNU C library. Elsewhere, and in static programs, it is NULL.
std::arch::global_asm!(
    ".weak __x86_get_cpuid_feature_leaf",
    ".pushsection .data.rel.ro.flick_cpuid, \"aw\", @progbits",
    ".p2align 3",
    ".hidden __flick_cpuid_feature_leaf",
    ".globl __flick_cpuid_feature_leaf",
    "__flick_cpuid_feature_leaf: .quad __x86_get_cpuid_feature_leaf",
    ".popsection",
);

unsafe extern "C" {
    static __flick_cpuid_feature_leaf: Option<extern "C" fn(u32) -> *const CpuidFeature>;
}

impl Leaves {
    /// The C library has asked at the start of the process. CPUID is slow: under a hypervisor each
    /// takes microseconds.
    fn of_c_library() -> Option<Self> {
        // SAFETY: a constant that the loader has relocated.
        let leaf = unsafe { __flick_cpuid_feature_leaf }?;
        let active = |index| {
            // SAFETY: NULL for an unknown index, or a record of the library's that never changes.
            unsafe { leaf(index).as_ref() }.map(|feature| feature.active)
        };
        // CPUID_INDEX_1, CPUID_INDEX_7, CPUID_INDEX_80000001.
        Some(Self {
            basic: active(0)?[2],
            extended: active(1)?[1],
            amd: active(2)?[2],
        })
    }

    fn of_processor() -> Self {
        let most = |leaf| x86_64::__get_cpuid_max(leaf).0;
        let mut basic = x86_64::__cpuid(1).ecx;
        if basic & OSXSAVE == 0 || !saves_vectors() {
            basic &= !AVX;
        }
        Self {
            basic,
            extended: match most(0) {
                7.. => x86_64::__cpuid_count(7, 0).ebx,
                _ => 0,
            },
            amd: match most(0x8000_0000) {
                0x8000_0001.. => x86_64::__cpuid(0x8000_0001).ecx,
                _ => 0,
            },
        }
    }

    fn have_all(&self) -> bool {
        let (basic, extended) = (AVX | POPCNT, BMI1 | BMI2);
        self.basic & basic == basic
            && self.extended & extended == extended
            && self.amd & LZCNT == LZCNT
    }
}

/// Whether the system saves SSE's and AVX's registers (XCR0, bits 1 and 2). With OSXSAVE only.
fn saves_vectors() -> bool {
    let low: u32;
    // SAFETY: CPUID has said that the instruction may be used; it reads a register.
    unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _, options(nomem, nostack)) };
    low & 6 == 6
}

#[cfg(test)]
mod tests {
    use super::Leaves;

    #[test]
    fn library_processor_and_rust_agree() {
        let all = std::arch::is_x86_feature_detected!("avx")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt");
        assert_eq!(Leaves::of_processor().have_all(), all);
        assert_eq!(Leaves::of_c_library().map(|l| l.have_all()), Some(all));
    }
}
