//! QEMU's machine `virt` with a memory that is a file.
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::batch_driver::RAM_SIZE;

const QEMU: &str = "qemu-system-riscv64";
/// With its AIA interrupts have the manual's priorities. The hart that this project's machine has, too. Neither has the hypervisor, nor what the other lacks.
const CPU: &str = "rv64,h=false,v=false,zbc=false,sstc=true,svinval=true,svnapot=false,svpbmt=false,pmp=true,x-smaia=true,x-ssaia=true";
const PATIENCE: Duration = Duration::from_secs(20);

pub fn is_there() -> bool {
    let version = Command::new(QEMU)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// The memory after the machine has switched itself off.
pub fn run(memory: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let path = std::env::temp_dir().join(format!("flick-privileged-{}-{name}", std::process::id()));
    let result = run_in(&path, memory);
    let _ = std::fs::remove_file(&path);
    result
}

fn run_in(path: &Path, memory: &[u8]) -> Result<Vec<u8>, String> {
    let text = |error: std::io::Error| error.to_string();
    std::fs::write(path, memory).map_err(text)?;
    let file = std::fs::File::options()
        .write(true)
        .open(path)
        .map_err(text)?;
    file.set_len(RAM_SIZE as u64).map_err(text)?;
    let backend = format!(
        "memory-backend-file,id=ram,size={RAM_SIZE},share=on,mem-path={}",
        path.display()
    );
    // With two harts atomics are done at once; with one their load would fault first. The second one waits.
    // One instruction a block: an interrupt that a store has raised is taken in front of the next one.
    let mut child = Command::new(QEMU)
        .args([
            "-machine",
            "virt,memory-backend=ram",
            "-m",
            &format!("{}M", RAM_SIZE >> 20),
        ])
        .args([
            "-object",
            &backend,
            "-cpu",
            CPU,
            "-bios",
            "none",
            "-singlestep",
            "-smp",
            "2",
        ])
        .args([
            "-display",
            "none",
            "-serial",
            "none",
            "-monitor",
            "none",
            "-nodefaults",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(text)?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(text)? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{QEMU} does not come to its end"));
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    if !status.success() {
        return Err(format!("{QEMU}: {status}"));
    }
    let mut found = std::fs::read(path).map_err(text)?;
    found.truncate(memory.len());
    Ok(found)
}
