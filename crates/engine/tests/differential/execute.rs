//! Runs a program with the engine, at the addresses it was made for, and with qemu-riscv64.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use flick_engine::fp::env;
use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, Trap, decode, run};

use crate::program::{self, CODE, DATA, LOG, Program, SIGBUS, SIGILL, SIGTRAP};

/// A fixed mapping, removed on drop.
struct Mapping {
    address: *mut u8,
    len: usize,
}

impl Mapping {
    fn new(address: u64, contents: &[u8]) -> Self {
        let len = contents.len().next_multiple_of(0x1000);
        // SAFETY: MAP_FIXED_NOREPLACE harms no other mapping; the copy fits.
        unsafe {
            let at = libc::mmap(
                address as *mut libc::c_void,
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            );
            assert_eq!(
                at as u64, address,
                "cannot map {len:#x} bytes at {address:#x}"
            );
            let at = at.cast::<u8>();
            at.copy_from_nonoverlapping(contents.as_ptr(), contents.len());
            Self { address: at, len }
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped and initialised; nobody writes while the borrow lives.
        unsafe { core::slice::from_raw_parts(self.address, self.len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.address.cast(), self.len) };
    }
}

/// The output (log, table and records) as the engine computes it.
pub fn engine(program: &Program) -> Vec<u8> {
    let code = Mapping::new(CODE, &program.code);
    let data = Mapping::new(DATA, &program.data);
    // SAFETY: mapped until the end of this function.
    let region = unsafe { CodeRegion::new(CODE, program.code.len() as u64) };
    // SAFETY: the generated code stays in the two mappings.
    let memory = unsafe { Identity::new() };
    let mut hart = Hart::ZERO;
    hart.pc = CODE;
    let saved = env::mxcsr();
    loop {
        let exit = run(&mut hart, &memory, &region, &mut NoObserver);
        // The generated code may have left any rounding mode; this code does no arithmetic in it.
        match exit {
            Exit::Ecall => {
                hart.pc += 4;
                hart.x[10] = match hart.x[17] {
                    64 => hart.x[12],
                    93 => break,
                    132 | 134 => 0,
                    _ => -i64::from(libc::ENOSYS) as u64,
                };
            }
            Exit::Ebreak => skip(&mut hart, &data, SIGTRAP),
            Exit::Illegal { .. } => skip(&mut hart, &data, SIGILL),
            Exit::Trap(Trap { .. }) => skip(&mut hart, &data, SIGBUS),
            Exit::Leave | Exit::Budget => panic!("{exit:?} at {:#x}", hart.pc),
        }
    }
    env::set_mxcsr(saved);
    drop(code);
    data.bytes()[program.output..program.data.len()].to_vec()
}

/// What the program's signal handler does.
fn skip(hart: &mut Hart, data: &Mapping, signal: u64) {
    // SAFETY: aligned words of the log in our own mapping.
    unsafe {
        let log = data.address.add(LOG as usize).cast::<u64>();
        let count = *log;
        *log.add(1 + 2 * count as usize) = hart.pc;
        *log.add(2 + 2 * count as usize) = signal;
        *log = count + 1;
        let bits = u32::from((hart.pc as *const u16).read());
        hart.pc += if bits & 3 == 3 { 4 } else { decode(bits).len() };
    }
}

/// The output as qemu-riscv64 computes it.
pub fn qemu(program: &Program, name: &str) -> Result<Vec<u8>, String> {
    let path = std::env::temp_dir().join(format!("flick-engine-{}-{name}", std::process::id()));
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    std::fs::write(&path, program::elf(program)).map_err(|e| failed("writing the program", e))?;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&path, mode).map_err(|e| failed("writing the program", e))?;
    let result = capture(&path);
    std::fs::remove_file(&path).map_err(|e| failed("removing the program", e))?;
    let (output, status) = result.map_err(|e| {
        failed(
            "running qemu-riscv64 (Debian package qemu-user), which this test needs",
            e,
        )
    })?;
    let wanted = program.data.len() - program.output;
    if !status.success() || output.len() != wanted {
        return Err(format!(
            "qemu-riscv64: {status}, {} of {wanted} bytes of output",
            output.len()
        ));
    }
    Ok(output)
}

fn capture(path: &std::path::Path) -> Result<(Vec<u8>, std::process::ExitStatus), std::io::Error> {
    // Without the extensions that newer versions switch on by default, whose encodings are reserved.
    let mut child = Command::new("qemu-riscv64")
        .args(["-cpu", "rv64,zba=true,zbb=true,zbc=false,zbs=true"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut output = Vec::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_end(&mut output)?;
    }
    Ok((output, child.wait()?))
}
