//! Runs an RV64 executable with qemu-riscv64.

use std::io::{Error, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Without the extensions that newer versions switch on by default, whose encodings are reserved.
const CPU: &str = "rv64,zba=true,zbb=true,zbc=false,zbs=true";

/// The standard output of an executable; `name` tells its file from others of this process.
pub fn output(executable: &[u8], name: &str) -> Result<Vec<u8>, String> {
    output_on(CPU, executable, name)
}

/// The same on a hart with vectors of `vlen` bits.
pub fn output_with_vectors(vlen: u32, executable: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let cpu = format!("{CPU},v=true,vext_spec=v1.0,vlen={vlen},elen=64");
    output_on(&cpu, executable, name)
}

fn output_on(cpu: &str, executable: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let path = std::env::temp_dir().join(format!("flick-engine-{}-{name}", std::process::id()));
    let failed = |what: &str, error: Error| format!("{what}: {error}");
    std::fs::write(&path, executable).map_err(|e| failed("writing the program", e))?;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&path, mode).map_err(|e| failed("writing the program", e))?;
    let result = capture(cpu, &path);
    std::fs::remove_file(&path).map_err(|e| failed("removing the program", e))?;
    let (output, status) = result.map_err(|e| {
        failed(
            "running qemu-riscv64 (Debian package qemu-user), which this test needs",
            e,
        )
    })?;
    if !status.success() {
        return Err(format!(
            "qemu-riscv64: {status}, {} bytes of output",
            output.len()
        ));
    }
    Ok(output)
}

fn capture(cpu: &str, path: &Path) -> Result<(Vec<u8>, ExitStatus), Error> {
    let mut child = Command::new("qemu-riscv64")
        .args(["-cpu", cpu])
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
