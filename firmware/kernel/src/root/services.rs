//! Services: gates that other processes find by a name, and sessions with them (M3x, section 3.3). The kernel hands
//! messages on, and never waits for a server.
use flick_abi::card::Error;
use flick_abi::service::{CLOSE, NO_SLOT, OPEN};
use flick_kernel_core::capabilities;

use super::tile_table::NAME;
use super::{Object, Side};
use crate::dtu::Payload;
use crate::kernel::{Answer, Caller, Done, Kernel, value};

/// Services of the tile.
const SERVICES: usize = 16;
/// Those of a process.
const SERVICES_OF_PROCESS: usize = 4;
/// Sessions with all of them, as bits.
const SESSIONS: usize = u64::BITS as usize;
/// Those of a client.
const SESSIONS_OF_PROCESS: usize = 8;

/// The gate of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatePlace {
    /// Of this tile.
    Own(u8),
    /// Of another one, by the places of tile and endpoint.
    Core(u8, u8),
}

/// A gate with a name.
#[derive(Clone, Copy, Debug)]
struct Service {
    name: [u8; NAME],
    gate: GatePlace,
    /// What the kernel's messages to the server carry.
    label: u64,
    server: u16,
    /// The server's capability.
    right: capabilities::Place,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client waits for the server's answer.
    Opens,
    /// It does not wait any more. The message to open may lie at the gate yet.
    IsNotAwaited,
    Open,
    /// The client has given it up.
    Over,
}

/// A session.
#[derive(Clone, Copy, Debug)]
struct Session {
    phase: Phase,
    service: u8,
    client: u16,
    /// What messages of the client carry.
    label: u64,
    /// The server's capability.
    right: capabilities::Place,
}

/// What a server is told of a session that is over.
#[derive(Clone, Copy, Debug)]
pub struct End {
    right: capabilities::Place,
    label: u64,
    service: u64,
}

/// All services and sessions.
#[derive(Debug)]
pub struct Services {
    services: [Option<Service>; SERVICES],
    sessions: [Option<Session>; SESSIONS],
    /// Those of which a server is to be told, as bits.
    over: u64,
    /// Servers of other tiles are being told.
    tells: bool,
}

impl Services {
    /// None.
    pub const fn new() -> Self {
        Self {
            services: [None; SERVICES],
            sessions: [None; SESSIONS],
            over: 0,
            tells: false,
        }
    }

    fn session(&mut self, session: u8) -> Option<&mut Session> {
        self.sessions.get_mut(usize::from(session))?.as_mut()
    }

    fn service_of(&self, session: &Session) -> Option<&Service> {
        self.services[usize::from(session.service)].as_ref()
    }

    /// The gate where messages of a session go, and their label.
    pub fn way_of(&self, session: u8) -> Option<(GatePlace, u64)> {
        let session = self.sessions.get(usize::from(session))?.as_ref()?;
        Some((self.service_of(session)?.gate, session.label))
    }

    /// Who has asked for a session does not wait for it any more.
    pub fn is_not_awaited(&mut self, number: u8) {
        if let Some(session) = self.session(number)
            && session.phase == Phase::Opens
        {
            session.phase = Phase::IsNotAwaited;
            self.over |= 1 << number;
        }
    }

    /// Sessions that are over.
    fn all_over(&self) -> impl Iterator<Item = &Session> {
        let mut rest = self.over;
        let numbers = core::iter::from_fn(move || {
            let number = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (number < SESSIONS).then_some(number)
        });
        numbers.filter_map(|number| self.sessions[number].as_ref())
    }

    /// A session with the server of a gate that is over. If nobody has waited for its beginning, the server is told
    /// behind the message to open it, when the gate is empty.
    pub fn next_end(&self, gate: u8, is_empty: bool) -> Option<End> {
        self.all_over().find_map(|session| {
            let service = self.service_of(session)?;
            let may_be_told = is_empty || session.phase == Phase::Over;
            (service.gate == GatePlace::Own(gate) && may_be_told).then_some(End {
                right: session.right,
                label: session.label,
                service: service.label,
            })
        })
    }
}

impl Kernel {
    /// A gate of the caller gets a name.
    pub fn create_service(
        &mut self,
        caller: Caller,
        gate: u64,
        name: (u64, u64),
        label: u64,
    ) -> Answer {
        let (place, gate) = match self.capability(caller, gate)? {
            (place, Object::Gate(gate)) => (place, GatePlace::Own(gate)),
            (place, Object::CoreGate(core, endpoint)) => (place, GatePlace::Core(core, endpoint)),
            _ => return Err(Error::Invalid),
        };
        let name = self.load_name(caller, name)?;
        let all = &self.root.services.services;
        if name[0] == 0 {
            return Err(Error::Invalid);
        }
        if all.iter().flatten().any(|other| other.name == name) {
            return Err(Error::Exists);
        }
        let mut makers = all.iter().flatten().map(|other| other.server);
        let most = (SERVICES_OF_PROCESS, SERVICES);
        let has_room = self.may_have_more(caller.process, &mut makers, most);
        let free = all.iter().position(Option::is_none);
        let free = free.filter(|_| has_room);
        let free = free.ok_or(Error::NoMemory)?;
        let object = Object::Service(free as u8);
        let right = self
            .root
            .capabilities
            .add(caller.process, object, Some(place));
        let right = right.ok_or(Error::NoMemory)?;
        self.root.services.services[free] = Some(Service {
            name,
            gate,
            label,
            server: caller.process,
            right,
        });
        // The kernel hart tells of ends of sessions, too.
        if let GatePlace::Own(gate) = gate {
            self.keep_gate(gate);
        }
        value(self.root.capabilities.number(right))
    }

    /// A service was revoked, and all sessions with it.
    pub fn remove_service(&mut self, service: u8) {
        self.root.services.services[usize::from(service)] = None;
    }

    /// The caller asks a server for a session, and waits for its answer.
    pub fn open_session(
        &mut self,
        caller: Caller,
        name: (u64, u64),
        argument: u64,
        until: u64,
    ) -> Answer {
        let name = self.load_name(caller, name)?;
        let Services {
            services, sessions, ..
        } = &self.root.services;
        let is_it = |service: &Option<Service>| service.is_some_and(|it| it.name == name);
        let place = services.iter().position(is_it);
        let place = place.ok_or(Error::NotFound)?;
        let service = services[place].ok_or(Error::NotFound)?;
        let mut clients = sessions.iter().flatten().map(|session| session.client);
        let most = (SESSIONS_OF_PROCESS, SESSIONS);
        let has_room = self.may_have_more(caller.process, &mut clients, most);
        let free = sessions.iter().position(Option::is_none);
        let free = free.filter(|_| has_room).ok_or(Error::NoMemory)?;
        let session = free as u8;
        // The server knows the session by a capability. That of the client will be below it.
        let object = Object::Session(session, Side::Maker);
        let right = self
            .root
            .capabilities
            .add(service.server, object, Some(service.right));
        let right = right.ok_or(Error::NoMemory)?;
        self.root.services.sessions[free] = Some(Session {
            phase: Phase::Opens,
            service: place as u8,
            client: caller.process,
            label: 0,
            right,
        });
        let message = [OPEN, self.root.capabilities.number(right), argument];
        let to = (service.gate, service.label);
        let asked = self.call_to_open(caller, session, to, &message, until);
        if asked.is_err() {
            self.revoke(right);
        }
        asked
    }

    /// The server has answered. The client's call returns a capability, or an error.
    pub fn session_is_answered(&mut self, number: u8, answer: &[u64]) -> Result<u64, Error> {
        let word = |n: usize| answer.get(n).copied().unwrap_or(0);
        let session = self.root.services.session(number).ok_or(Error::Dead)?;
        let &mut Session { client, right, .. } = session;
        session.phase = Phase::Open;
        session.label = word(1);
        let opened = match word(0) {
            0 => {
                let object = Object::Session(number, Side::User);
                let place = self.root.capabilities.add(client, object, Some(right));
                place.ok_or(Error::NoMemory)
            }
            error => {
                let known = Error::ALL.iter().find(|&&known| known as u64 == error);
                Err(known.copied().unwrap_or(Error::Failed))
            }
        };
        match opened {
            Ok(place) => Ok(self.root.capabilities.number(place)),
            // The server has made something of it, which it takes back.
            Err(error) if answer[0] == 0 => {
                self.end_session(number, Side::User);
                Err(error)
            }
            Err(error) => {
                self.revoke(right);
                Err(error)
            }
        }
    }

    /// A capability of a session was revoked. If it was the server's, that of the client was below it.
    pub fn end_session(&mut self, number: u8, side: Side) {
        let place = usize::from(number);
        match side {
            Side::Maker => {
                self.root.services.sessions[place] = None;
                self.root.services.over &= !(1 << number);
            }
            Side::User => {
                if let Some(session) = self.root.services.session(number) {
                    session.phase = Phase::Over;
                    self.root.services.over |= 1 << number;
                }
            }
        }
        self.end_calls_of(number);
        self.wake_servers();
    }

    /// Servers that wait are told of sessions that are over.
    pub fn wake_servers(&mut self) {
        let services = &self.root.services;
        let gates = services.all_over();
        let gates = gates.filter_map(|session| Some(services.service_of(session)?.gate));
        let (mut rest, mut has_others) = (0_u64, false);
        for gate in gates {
            match gate {
                GatePlace::Own(gate) => rest |= 1 << gate,
                GatePlace::Core(..) => has_others = true,
            }
        }
        while rest != 0 {
            self.wake_server(rest.trailing_zeros() as u8);
            rest &= rest - 1;
        }
        if has_others {
            self.tell_core_servers();
        }
    }

    /// Servers of other tiles are told of sessions that are over: by messages, for which there is room at some time.
    fn tell_core_servers(&mut self) {
        if core::mem::replace(&mut self.root.services.tells, true) {
            // Within the revocation of such a session.
            return;
        }
        for number in 0..SESSIONS {
            let services = &self.root.services;
            let session = services.sessions[number].filter(|_| services.over >> number & 1 != 0);
            let Some(session) = session else { continue };
            let Some(&service) = services.service_of(&session) else {
                continue;
            };
            if let GatePlace::Core(core, endpoint) = service.gate
                && let Some(to) = self.root.cores.gate(core, endpoint)
            {
                let right = self.root.capabilities.number(session.right);
                let message = [CLOSE, right, session.label];
                match self.send_to_gate(to, service.label, &message) {
                    Ok(()) => self.revoke(session.right),
                    Err(_) => self.watch_core(to.0),
                }
            }
        }
        self.root.services.tells = false;
    }

    /// The message by which a server learns of the end of a session, and with which its capability goes. It takes no
    /// slot and no answer, so that a server is told however full its gate is.
    pub fn tell_end(&mut self, caller: Caller, buffer: u64, end: End) -> Answer {
        let number = self.root.capabilities.number(end.right);
        let mut message = Payload::default();
        message[..3].copy_from_slice(&[CLOSE, number, end.label]);
        self.store_words(caller, buffer, &message)?;
        self.revoke(end.right);
        Ok(Done::Values(NO_SLOT | 24 << 8, end.service))
    }

    /// A server gives a capability to its client, which waits for an answer of the session.
    pub fn give_by_session(&mut self, caller: Caller, session: u64, number: u64) -> Answer {
        let (_, Object::Session(session, Side::Maker)) = self.capability(caller, session)? else {
            return Err(Error::Invalid);
        };
        let (place, object) = self.capability(caller, number)?;
        let client = self.count_given(session).ok_or(Error::NoAccess)?;
        self.give_to(client, place, object)
    }
}
