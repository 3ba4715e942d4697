//! Makes a program that shows a difference smaller, and writes it down.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_riscv_testing::isa;

use crate::program::{self, CODE, Program};
use crate::{Totals, check, compare};

/// Leaves out parts as long as the runs still differ, in any way.
fn shrink(seed: u64, program: &Program) -> (HashSet<u64>, Program) {
    let mut skip = HashSet::new();
    let mut best = program::build(seed, &skip);
    let mut size = program.seeds.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < best.seeds.len() {
            let end = (at + size).min(best.seeds.len());
            let mut more = skip.clone();
            more.extend(&best.seeds[at..end]);
            let smaller = program::build(seed, &more);
            if check(&smaller, &mut Totals::zero()).is_some() {
                (skip, best) = (more, smaller);
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    (skip, best)
}

/// Writes the executable and its disassembly, as it is and shrunk, and says where.
pub fn report(seed: u64, program: &Program) -> Result<(), String> {
    let (skip, small) = shrink(seed, program);
    if let Some(difference) = check(&small, &mut Totals::zero()) {
        println!(
            "  without {} parts, {} left: {difference}",
            skip.len(),
            small.seeds.len()
        );
    }
    // The test's own directory in the target directory.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (program, kind) in [(program, ""), (&small, "-small")] {
        let path = folder.join(format!("random-{seed}{kind}"));
        let failed = |e: std::io::Error| format!("writing {}: {e}", path.display());
        std::fs::write(&path, compare::elf(program)).map_err(failed)?;
        println!("  {}", path.display());
        if let Some(text) = disassemble(program, &path) {
            let listing = path.with_extension("s");
            std::fs::write(&listing, text).map_err(failed)?;
            println!("  {}", listing.display());
        }
    }
    Ok(())
}

/// The functions as llvm-objdump shows them, if it is there.
fn disassemble(program: &Program, path: &Path) -> Option<Vec<u8>> {
    let object = path.with_extension("o");
    std::fs::write(&object, compare::object(program).ok()?).ok()?;
    let output = Command::new("llvm-objdump-19")
        .args(["-d", &isa::mattr()])
        .arg(format!("--adjust-vma={CODE:#x}"))
        .arg(&object)
        .output()
        .ok()?;
    std::fs::remove_file(&object).ok()?;
    output.status.success().then_some(output.stdout)
}
