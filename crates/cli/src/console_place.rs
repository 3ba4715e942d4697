//! Where a machine's console is: standard input and output, a file, or a socket.
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use flick_diagnostics::Code;
use flick_driver::Error;

/// Both ends of a console.
pub struct ConsolePlace {
    /// What the machine is told.
    pub input: Box<dyn Read + Send>,
    /// What it prints.
    pub output: Box<dyn Write>,
    /// It is the terminal of the process.
    pub is_terminal: bool,
}

/// Opens `-`, `unix:PATH`, `tcp:PORT`, or a file. A socket is one that the machine listens at: it
/// starts when somebody has connected.
pub fn open(place: &str) -> Result<ConsolePlace, Error> {
    let opened = match (place.strip_prefix("unix:"), place.strip_prefix("tcp:")) {
        _ if place == "-" => Ok(standard()),
        (Some(path), _) => unix(path),
        (_, Some(port)) => {
            let port = port.parse().map_err(|_| bad_port(place))?;
            tcp(port)
        }
        _ => file(Path::new(place)),
    };
    opened.map_err(|error| {
        let help = "use - for the terminal, a file, unix:PATH, or tcp:PORT";
        let what = "the console cannot be opened";
        Error::new(Code::FileAccess, what, place, error.to_string(), help)
    })
}

fn bad_port(place: &str) -> Error {
    let help = "use a number from 0 to 65535; with 0 the system chooses";
    let what = "the console cannot be opened";
    Error::new(Code::FileAccess, what, place, "this is no port", help)
}

fn standard() -> ConsolePlace {
    ConsolePlace {
        input: Box::new(io::stdin()),
        output: Box::new(io::stdout()),
        is_terminal: io::stdin().is_terminal(),
    }
}

/// A file gets what the machine prints. A terminal or another device is read, too.
fn file(path: &Path) -> io::Result<ConsolePlace> {
    let kind = fs::metadata(path).map(|about| about.file_type());
    let is_device = kind.is_ok_and(|kind| kind.is_char_device());
    if is_device {
        let device = OpenOptions::new().read(true).write(true).open(path)?;
        return Ok(ConsolePlace {
            input: Box::new(device.try_clone()?),
            output: Box::new(device),
            is_terminal: false,
        });
    }
    Ok(ConsolePlace {
        input: Box::new(io::empty()),
        output: Box::new(fs::File::create(path)?),
        is_terminal: false,
    })
}

fn unix(path: &str) -> io::Result<ConsolePlace> {
    let listener = UnixListener::bind(path)?;
    eprintln!("flick: note: the machine waits for a connection to its console at unix:{path}");
    let (stream, _) = listener.accept()?;
    // Nobody else can connect.
    fs::remove_file(path)?;
    Ok(ConsolePlace {
        input: Box::new(stream.try_clone()?),
        output: Box::new(stream),
        is_terminal: false,
    })
}

fn tcp(port: u16) -> io::Result<ConsolePlace> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let port = listener.local_addr()?.port();
    eprintln!("flick: note: the machine waits for a connection to its console at 127.0.0.1:{port}");
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    Ok(ConsolePlace {
        input: Box::new(stream.try_clone()?),
        output: Box::new(stream),
        is_terminal: false,
    })
}
