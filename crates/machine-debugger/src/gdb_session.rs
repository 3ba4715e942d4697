//! Connections of a debugger, one after the other.
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use flick_machine::{Console, End, Machine, Turn};
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, MultiThreadStopReason};

use crate::gdb_target::{GdbTarget, Request};
use crate::run_timeline::Timeline;

/// Where a debugger connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP port of this host; 0: any that is free.
    Port(u16),
    /// A socket of the file system.
    Unix(PathBuf),
}

/// A text that is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is neither a port nor unix:PATH")]
pub struct BadAddress;

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(_) => Err(BadAddress),
            None => text.parse().map(Self::Port).map_err(|_| BadAddress),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Port(port) => write!(f, "localhost:{port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Why no debugger can connect.
#[derive(Debug, thiserror::Error)]
#[error("{address} cannot be served: {error}")]
pub struct BadServer {
    address: Address,
    error: io::Error,
}

type Connection = Box<dyn ConnectionExt<Error = io::Error>>;

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    fn new(address: &Address) -> io::Result<(Self, Address)> {
        match address {
            Address::Port(port) => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?;
                let port = listener.local_addr()?.port();
                Ok((Self::Tcp(listener), Address::Port(port)))
            }
            Address::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                Ok((Self::Unix(listener, path.clone()), address.clone()))
            }
        }
    }

    fn accept(&self) -> io::Result<Connection> {
        Ok(match self {
            Self::Tcp(listener) => Box::new(listener.accept()?.0),
            Self::Unix(listener, _) => Box::new(listener.accept()?.0),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Serves a debugger until the machine has ended; `None`: the debugger has killed it. `tell` gets what
/// the user has to know.
pub fn serve(
    machine: &mut Machine,
    console: &mut dyn Console,
    address: &Address,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<End>, BadServer> {
    let bad = |error| BadServer {
        address: address.clone(),
        error,
    };
    let (listener, at) = Listener::new(address).map_err(bad)?;
    let mut target = GdbTarget::new(Timeline::new(machine, console));
    loop {
        tell(&format!(
            "waiting for a debugger; in gdb: target remote {at}"
        ));
        let connection = listener.accept().map_err(bad)?;
        let stub = GdbStub::builder(connection).packet_buffer_size(PACKET);
        let Ok(stub) = stub.build() else {
            continue;
        };
        match stub.run_blocking::<Events>(&mut target) {
            Ok(DisconnectReason::Kill) => return Ok(None),
            Ok(DisconnectReason::Disconnect) => break,
            Ok(_) if target.end.is_some() => return Ok(target.end),
            Ok(_) => {}
            Err(error) => tell(&format!("the debugger has left: {error}")),
        }
        target.timeline.points.clear();
    }
    // What is known happens again first, so that nothing is printed twice.
    while target.timeline.machine.outside.is_known() {
        let (turn, _) = target.timeline.turn(None, None, &mut || true);
        match turn {
            Turn::Ended(End::Idle) | Turn::Ran | Turn::Paused(_) => {}
            Turn::Ended(end) => return Ok(Some(end)),
        }
    }
    drop(target);
    Ok(Some(machine.run(console)))
}

/// Bytes of a packet.
const PACKET: usize = 16 << 10;
/// How often the debugger is asked for what it wants.
const PERIOD: Duration = Duration::from_millis(2);
/// Ctrl-C.
const INTERRUPT: u8 = 3;

/// What happens while the machine runs.
struct Events<'t, 'm>(PhantomData<&'t &'m ()>);

impl<'t, 'm: 't> BlockingEventLoop for Events<'t, 'm> {
    type Target = GdbTarget<'t, 'm>;
    type Connection = Connection;
    type StopReason = MultiThreadStopReason<u64>;

    fn wait_for_stop_reason(
        target: &mut Self::Target,
        connection: &mut Connection,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<Infallible, io::Error>> {
        let mut last = Instant::now();
        let mut wants_stop = || {
            if last.elapsed() < PERIOD {
                return false;
            }
            last = Instant::now();
            !matches!(connection.peek(), Ok(None))
        };
        let timeline = &mut target.timeline;
        let stop = match target.request {
            Request::Continue => timeline.forward(None, &mut wants_stop),
            Request::Step(hart) => timeline.forward(Some(hart), &mut wants_stop),
            Request::StepBack(hart) => Some(timeline.step_back(hart)),
            Request::ContinueBack => {
                let stop = timeline.continue_back(&mut wants_stop);
                // It was asked for, and is answered.
                if matches!(connection.peek(), Ok(Some(INTERRUPT))) {
                    let _ = connection.read();
                }
                Some(stop)
            }
        };
        match stop {
            Some(stop) => Ok(Event::TargetStopped(target.reason(stop))),
            None => {
                let byte = connection.read();
                byte.map(Event::IncomingData)
                    .map_err(WaitForStopReasonError::Connection)
            }
        }
    }

    fn on_interrupt(target: &mut Self::Target) -> Result<Option<Self::StopReason>, Infallible> {
        let stop = target.timeline.settle();
        Ok(Some(target.reason(stop)))
    }
}
