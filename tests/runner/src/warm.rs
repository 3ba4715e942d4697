//! Warm tools: clang and lld with their libraries loaded and relocated, from which each command of
//! the suite is forked. Most of the time that a tiny program takes to build is their start.
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::{env, fs};

/// The names that each tool is called by; the first is the one that its server is started by.
const TOOLS: [&[&str]; 2] = [&["clang-19", "clang++-19"], &["ld.lld-19", "ld.lld"]];

/// Runs a command, with the warm tools if there are any, and ends as it ends.
pub fn run(warm: Option<&Warm>, command: &str, words: &[String]) -> Result<ExitCode, String> {
    let status = Command::new(command)
        .args(words)
        .envs(warm.map(|warm| ("PATH", warm.path())))
        .status()
        .map_err(|e| format!("{command}: {e}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Servers that end with the value.
pub struct Warm {
    dir: tempfile::TempDir,
    servers: Vec<Child>,
}

/// Where under the tests the sources of [`Warm`] are.
const SOURCES: &str = "runner/warm";

impl Warm {
    /// Says why where it cannot be; then it only takes longer.
    pub fn of_tests(tests: &Path) -> Option<Self> {
        Self::start(&tests.join(SOURCES))
            .inspect_err(|why| eprintln!("every command starts its tools anew: {why}"))
            .ok()
    }

    /// `sources`: the folder with `server.c` and `client.c`.
    pub fn start(sources: &Path) -> Result<Self, String> {
        // Beside the short names of sockets, which a build folder's may be too long for.
        let dir = tempfile::Builder::new()
            .prefix("flick-warm-")
            .tempdir()
            .map_err(|e| format!("{}: {e}", env::temp_dir().display()))?;
        let mut warm = Self {
            dir,
            servers: Vec::new(),
        };
        let server = warm.compile(sources, "server.c", &["-shared", "-fPIC"], "server.so")?;
        // Static: it is started as often as the tools are.
        let client = warm.compile(sources, "client.c", &["-static"], "client")?;
        let cold = warm.dir.path().join("cold");
        fs::create_dir(&cold).map_err(|e| format!("{}: {e}", cold.display()))?;
        for names in TOOLS {
            warm.serve(names, &server, &client, &cold)
                .and_then(|()| warm.works(names[0]))
                .map_err(|e| format!("{}: {e}", names[0]))?;
        }
        Ok(warm)
    }

    /// `PATH` with the warm tools in front.
    pub fn path(&self) -> OsString {
        let old = env::var_os("PATH").unwrap_or_default();
        let mut new = OsString::from(self.dir.path());
        new.push(":");
        new.push(old);
        new
    }

    fn compile(
        &self,
        sources: &Path,
        main: &str,
        words: &[&str],
        out: &str,
    ) -> Result<PathBuf, String> {
        let out = self.dir.path().join(out);
        let done = Command::new("clang-19")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&out)
            .args(words)
            .args([sources.join(main), sources.join("request.c")])
            .output()
            .map_err(|e| format!("clang-19: {e}"))?;
        if done.status.success() {
            Ok(out)
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into_owned())
        }
    }

    fn serve(
        &mut self,
        names: &[&str],
        server: &Path,
        client: &Path,
        cold: &Path,
    ) -> std::io::Result<()> {
        let dir = self.dir.path();
        let tool = find(names[0])?;
        let socket = dir.join(format!("{}.socket", names[0]));
        let listener = UnixListener::bind(&socket)?;
        for name in names {
            fs::hard_link(client, dir.join(name))?;
            // Under each name: it is one program, which looks at the name.
            symlink(&tool, cold.join(name))?;
            if *name != names[0] {
                symlink(&socket, dir.join(format!("{name}.socket")))?;
            }
        }
        let child = Command::new(cold.join(names[0]))
            .env("LD_PRELOAD", server)
            .env("WARM_SOCKET", &socket)
            .stdin(OwnedFd::from(listener))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.servers.push(child);
        Ok(())
    }

    /// A folder that nothing may be started from would show here.
    fn works(&self, name: &str) -> std::io::Result<()> {
        let mut client = Command::new(self.dir.path().join(name));
        let done = client.arg("--version").output()?;
        if done.status.success() {
            Ok(())
        } else {
            Err(std::io::Error::other(done.status.to_string()))
        }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // It may have ended by itself; then each command has started its tool.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn find(name: &str) -> std::io::Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| std::io::Error::other("not in PATH"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::time::Duration;

    use super::*;

    fn warm() -> Warm {
        Warm::start(&Path::new(env!("CARGO_MANIFEST_DIR")).join("warm")).unwrap()
    }

    fn run(warm: &Warm, dir: &Path, words: &str) -> std::process::Output {
        Command::new("sh")
            .args(["-c", words])
            .current_dir(dir)
            .env("PATH", warm.path())
            .output()
            .unwrap()
    }

    /// Streams, arguments, environment, working directory and status are the client's.
    #[test]
    fn a_warm_tool_is_the_tool() {
        let warm = warm();
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("t.c"), "int main(void) { return VALUE; }\n").unwrap();
        let build = "clang-19 -DVALUE=7 -fuse-ld=lld t.c -o t && ./t";
        assert_eq!(run(&warm, dir.path(), build).status.code(), Some(7));
        let from_environment =
            "echo 'int v = VALUE;' | CPATH=$PWD/inc clang++-19 -DVALUE=w -include v.h -xc++ - -c";
        fs::create_dir(dir.path().join("inc")).unwrap();
        fs::write(dir.path().join("inc/v.h"), "const int w = 3;\n").unwrap();
        let compiled = run(&warm, dir.path(), from_environment);
        assert!(compiled.status.success(), "{compiled:?}");
        let broken = run(&warm, dir.path(), "clang-19 -c t.c");
        assert_eq!(broken.status.code(), Some(1));
        let text = String::from_utf8_lossy(&broken.stderr).into_owned();
        assert!(text.contains("undeclared identifier 'VALUE'"), "{text}");
        let crash = "echo '#pragma clang __debug crash' >c.c; clang-19 -c c.c";
        let crashed = run(&warm, dir.path(), crash);
        assert!(!crashed.status.success(), "{crashed:?}");
        let versions = ["clang-19", "ld.lld-19"].map(|tool| {
            let version = format!("{tool} --version");
            let hot = run(&warm, dir.path(), &version);
            let cold = Command::new(tool).arg("--version").output().unwrap();
            (hot.stdout, cold.stdout)
        });
        for (hot, cold) in versions {
            assert_eq!(hot, cold);
        }
    }

    /// The processes that a client started end with it. A tool whose server has gone is started
    /// without it.
    #[test]
    fn neither_client_nor_server_is_waited_for() {
        let mut warm = warm();
        let dir = tempfile::tempdir().unwrap();
        assert!(run(&warm, dir.path(), "mkfifo fifo").status.success());
        let mut client = Command::new("clang-19")
            .args(["-c", "-xc", "fifo", "-o", "t.o"])
            .current_dir(dir.path())
            .env("PATH", warm.path())
            .spawn()
            .unwrap();
        // Opened as soon as clang reads; it then waits for the rest, which never comes.
        let mut writer = fs::OpenOptions::new()
            .write(true)
            .open(dir.path().join("fifo"))
            .unwrap();
        client.kill().unwrap();
        assert_eq!(client.wait().unwrap().signal(), Some(libc::SIGKILL));
        while writer.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
        for server in &mut warm.servers {
            server.kill().unwrap();
            server.wait().unwrap();
        }
        let version = run(&warm, dir.path(), "clang-19 --version");
        assert!(version.status.success(), "{version:?}");
    }
}
