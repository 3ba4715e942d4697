//! Tiles with harts and kernels of their own, which the root governs: it alone sets up the endpoints of their units.
//! So a program there, and its kernel, reach what capabilities say, and nothing else.
use flick_abi::card::remote_call::{
    BEFORE_END, FIRST_OF_PROGRAMS, FROM_ROOT, LOG2_SLOT, NOTICE, SLOTS, TO_ROOT,
};
use flick_abi::card::{Error, PAGE};
use flick_abi::dtu::{self, Endpoint, Error as UnitError, ReceiveEndpoint, SendEndpoint};
use flick_kernel_core::capabilities::Place;
use flick_kernel_core::flat_tree::{Event, FlatTree, number};

use super::remote::NoAnswer;
use super::remote_processes::{RemoteProcess, Waiting};
use super::tile_table::NAME;
use super::{Memory, Object, lost_tiles::Range};
use crate::csr;
use crate::dtu::{KERNEL, MOST_TILES, Message, REMOTE, REPLIES, Unit};
use crate::kernel::Kernel;

/// Endpoints of a tile that the root uses.
const ENDPOINTS: usize = u64::BITS as usize;
/// Calls of a tile that are under way, at most.
const MOST_CREDITS: usize = 4;
/// Processes of a tile that have capabilities.
pub const PROCESSES: usize = 8;
/// Calls of a tile that wait: what each carries has a part of a page.
pub const WAITING: usize = 16;
/// Endpoints for memory that are taken away at a time: the tile's kernel is told of them by one message.
const AT_ONCE: usize = 4;
/// A part of a second, after which a tile is asked whether it is there, if somebody waits for it.
const PAUSE: u64 = 100;

/// What an endpoint of a tile is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointUse {
    Free,
    /// A gate with this activity.
    Gate(u16),
    /// It sends by the right of a capability, and its answers come to a gate. It is a capability itself.
    Sender {
        source: Place,
        own: Place,
        gate: u8,
        activity: u16,
    },
    /// It reaches memory, of a view perhaps.
    Memory {
        source: Place,
        own: Place,
        view: Option<u8>,
        activity: u16,
    },
    /// The tile's kernel reaches the image of a program by it, by this capability.
    Image(Place),
    /// It is of no use any more, and the tile's kernel does not know it yet.
    Leaving,
}

/// How it is with a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// It has not answered. Its processes are to be ended.
    IsLost,
    /// They were.
    WasLost,
}

/// What the tree says of a tile.
#[derive(Clone, Copy, Debug)]
struct Facts {
    tile: u16,
    /// Its main memory.
    memory: (u64, u64),
    endpoints: usize,
    harts: usize,
    /// The first tile whose programs can run here.
    kind: u16,
    name: [u8; NAME],
    length: usize,
}

/// A tile.
#[derive(Debug)]
pub struct CoreTile {
    pub tile: u16,
    facts: Facts,
    health: Health,
    uses: [EndpointUse; ENDPOINTS],
    /// The endpoint for memory that was taken away last for another one.
    victim: usize,
    /// Endpoints of which its kernel is to be told that they are gone, and those of the notice under way.
    gone: u64,
    told: u64,
    /// When the notice under way was sent; 0: there is none.
    told_at: u64,
    /// The program that it is of.
    tells: Option<u8>,
    pub processes: [Option<RemoteProcess>; PROCESSES],
    pub waiting: [Option<Waiting>; WAITING],
    /// The page of what calls carry.
    pub window: u64,
}

/// All of them.
#[derive(Debug)]
pub struct CoreTiles {
    pub all: &'static mut [CoreTile],
    /// When those are asked for which somebody waits.
    check_at: u64,
}

impl CoreTiles {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: &mut [],
            check_at: u64::MAX,
        }
    }

    /// The place of a tile.
    pub fn place(&self, tile: u16) -> Option<u8> {
        let place = self.all.iter().position(|core| core.tile == tile)?;
        Some(place as u8)
    }

    pub fn get(&self, core: u8) -> Option<&CoreTile> {
        self.all.get(usize::from(core))
    }

    pub fn get_mut(&mut self, core: u8) -> Option<&mut CoreTile> {
        self.all.get_mut(usize::from(core))
    }

    /// Does a tile answer?
    pub fn is_good(&self, core: u8) -> bool {
        self.get(core).is_some_and(CoreTile::is_good)
    }

    /// The first tile of this name, with or without the number at its end, from a number on.
    pub fn find(&self, name: &[u8], from: u64) -> Option<(u16, usize)> {
        let is_it = |of: &&CoreTile| {
            let own = &of.facts.name[..of.facts.length];
            let is_digit = |n: &u8| n.is_ascii_digit();
            u64::from(of.tile) >= from
                && own
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.iter().all(is_digit))
        };
        let found = self.all.iter().filter(|_| !name.is_empty()).find(is_it)?;
        Some((found.tile, found.facts.endpoints))
    }

    /// Tiles are asked before the next call.
    pub fn check_soon(&mut self) {
        self.check_at = 0;
    }

    /// When tiles are asked.
    pub fn next_check(&self) -> u64 {
        self.check_at
    }

    /// Where messages for a gate go.
    pub fn gate(&self, core: u8, endpoint: u8) -> Option<(u16, u16, u16)> {
        let core = self.get(core)?;
        match core.uses.get(usize::from(endpoint)) {
            Some(&EndpointUse::Gate(activity)) => Some((core.tile, endpoint.into(), activity)),
            _ => None,
        }
    }
}

impl Facts {
    const NONE: Self = Self {
        tile: u16::MAX,
        memory: (0, 0),
        endpoints: 0,
        harts: 0,
        kind: u16::MAX,
        name: [0; NAME],
        length: 0,
    };
}

impl CoreTile {
    const NONE: Self = Self {
        tile: u16::MAX,
        facts: Facts::NONE,
        health: Health::Good,
        uses: [EndpointUse::Free; ENDPOINTS],
        victim: 0,
        gone: 0,
        told: 0,
        told_at: 0,
        tells: None,
        processes: [None; PROCESSES],
        waiting: [None; WAITING],
        window: 0,
    };

    /// Can programs of the other run here?
    pub fn is_like(&self, other: &Self) -> bool {
        self.facts.kind == other.facts.kind
    }

    /// How many processes with capabilities it has.
    #[inline(never)]
    pub fn load(&self) -> usize {
        self.processes.iter().flatten().count()
    }

    /// The tile answers.
    pub fn is_good(&self) -> bool {
        self.health == Health::Good
    }

    /// The endpoint that was set up by a capability.
    pub fn endpoint_of(&self, capability: Place) -> Option<(u8, EndpointUse)> {
        let mut all = self.uses.iter().zip(0..);
        let found = all.find(|(of, _)| match of {
            EndpointUse::Sender { source, .. } | EndpointUse::Memory { source, .. } => {
                *source == capability
            }
            _ => false,
        });
        found.map(|(of, number)| (number, *of))
    }

    /// Is this a range of its main memory?
    pub fn has_memory(&self, address: u64, bytes: u64) -> bool {
        let (base, size) = self.facts.memory;
        let offset = address.wrapping_sub(base);
        offset < size && bytes <= size - offset
    }
}

/// Calls a function for each tile of the tree.
fn each_node(tree: FlatTree<'_>, f: &mut dyn FnMut(Facts)) {
    let (mut depth, mut is_inside) = (0, false);
    let mut tile = Facts::NONE;
    for event in tree.events() {
        match event {
            Event::Begin(name) => {
                depth += 1;
                if depth == 2 {
                    is_inside = name == b"core-tiles";
                }
            }
            Event::Property(name, value) if is_inside && depth == 3 => match name {
                b"reg" => tile.tile = number(value) as u16,
                b"flick,endpoints" => tile.endpoints = ENDPOINTS.min(number(value) as usize),
                b"flick,harts" => tile.harts = number(value) as usize,
                b"flick,kind" => tile.kind = number(value) as u16,
                b"flick,name" => {
                    let name = value.strip_suffix(b"\0").unwrap_or(value);
                    tile.length = name.len().min(NAME);
                    tile.name[..tile.length].copy_from_slice(&name[..tile.length]);
                }
                b"flick,memory" => {
                    if let Some((base, size)) = value.split_at_checked(8) {
                        tile.memory = (number(base), number(size));
                    }
                }
                _ => {}
            },
            Event::Property(..) => {}
            Event::End => {
                if is_inside && depth == 3 {
                    f(core::mem::replace(&mut tile, Facts::NONE));
                }
                depth -= 1;
            }
        }
    }
}

impl Unit {
    /// Ends transfers of all harts of a tile by endpoints that are gone, within so many ticks.
    fn finish_of_harts(&self, tile: u16, harts: usize, limit: u64) -> Result<(), NoAnswer> {
        (0..harts as u64).try_for_each(|bank| self.write_registers(tile, dtu::ABORT, &[bank]))?;
        let begin = csr::time();
        // How long a command may take that has no confirmation is the tile's own choice.
        while self.read_register(tile, dtu::ABORT)? != 0 {
            if csr::time() - begin > limit {
                return Err(NoAnswer);
            }
        }
        let all = u64::MAX >> (64 - harts.clamp(1, 64));
        self.write_registers(tile, dtu::ENABLE, &[all])
    }
}

impl Kernel {
    /// The root's tile knows the others, and lets their kernels call.
    #[cold]
    #[inline(never)]
    pub fn begin_core_tiles(&mut self, tree: FlatTree<'_>) {
        let mut count = 0;
        each_node(tree, &mut |_| count += 1);
        let count = usize::min(count, MOST_TILES as usize - 1);
        let (Some(unit), 1..) = (self.tiles.unit, count) else {
            return;
        };
        self.root.cores.all = self.root_table(count, || CoreTile::NONE);
        let mut made = 0;
        each_node(tree, &mut |facts| {
            if let (Some(of), Some(window)) =
                (self.root.cores.all.get_mut(made), self.frames.allocate())
            {
                (of.tile, of.facts, of.window) = (facts.tile, facts, window);
                made += 1;
            }
        });
        self.begin_core_programs();
        let credits = (usize::from(SLOTS) / 2 / made.max(1)).clamp(1, MOST_CREDITS);
        for core in 0..made as u8 {
            let begun = self.begin_core_tile(unit, core, credits as u16);
            match begun {
                // Programs may have called already.
                Ok(()) => self.send_notice(core),
                Err(NoAnswer) => self.lose_core(core),
            }
        }
    }

    fn begin_core_tile(&self, unit: Unit, core: u8, credits: u16) -> Result<(), NoAnswer> {
        let of = self.root.cores.get(core).ok_or(NoAnswer)?;
        let (base, size) = of.facts.memory;
        let buffer = (base + size).saturating_sub(BEFORE_END);
        let receive = ReceiveEndpoint::new(KERNEL, buffer, LOG2_SLOT, SLOTS);
        unit.set_remote(of.tile, FROM_ROOT, Some(Endpoint::Receive(receive)))?;
        let send = SendEndpoint {
            activity: KERNEL,
            tile: self.map.tile.0 as u16,
            endpoint: REMOTE,
            receiver: KERNEL,
            label: core.into(),
            credits,
            most_credits: credits,
            log2_message: LOG2_SLOT,
        };
        unit.set_remote(of.tile, TO_ROOT, Some(Endpoint::Send(send)))
    }

    /// A free endpoint of a tile. `Again`: there will be one soon.
    fn free_core_endpoint(&mut self, core: u8) -> Result<u8, Error> {
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        let first = usize::from(FIRST_OF_PROGRAMS);
        let uses = of.uses.get(first..of.facts.endpoints).unwrap_or(&[]);
        if let Some(free) = uses.iter().position(|of| *of == EndpointUse::Free) {
            return Ok((first + free) as u8);
        }
        if uses.contains(&EndpointUse::Leaving) {
            return Err(Error::Again);
        }
        // Endpoints for memory can be set up again. Others come in turns, so that two users do not take one from each
        // other.
        let count = of.facts.endpoints;
        for _ in 0..count {
            let of = self.root.cores.get_mut(core).ok_or(Error::Dead)?;
            of.victim = (of.victim + 1) % count;
            let EndpointUse::Memory { own, .. } = of.uses[of.victim] else {
                continue;
            };
            let is_last = of
                .uses
                .iter()
                .filter(|of| **of == EndpointUse::Leaving)
                .count()
                + 1
                >= AT_ONCE;
            self.revoke(own);
            if is_last {
                break;
            }
        }
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        match of.uses.contains(&EndpointUse::Leaving) {
            true => Err(Error::Again),
            false => Err(Error::NoMemory),
        }
    }

    /// An endpoint of a tile by the right of a capability of one of its processes.
    pub fn add_core_endpoint(
        &mut self,
        (core, process): (u8, u16),
        source: Place,
        endpoint: Endpoint,
        of: &dyn Fn(Place) -> EndpointUse,
    ) -> Result<u8, Error> {
        let number = self.free_core_endpoint(core)?;
        let object = Object::Remote(core, number);
        let own = self.root.capabilities.add(process, object, Some(source));
        let own = own.ok_or(Error::NoMemory)?;
        self.put_core_endpoint(core, number, (endpoint, of(own)))
            .inspect_err(|_| self.revoke(own))?;
        Ok(number)
    }

    /// A gate of a process of a tile, with its page of messages there: the endpoint and its activity.
    pub fn add_core_gate(
        &mut self,
        (core, process): (u8, u16),
        page: u64,
        (log2_slot, slots): (u8, u8),
    ) -> Result<(u64, u8, u16), Error> {
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        if !of.has_memory(page, PAGE) || !page.is_multiple_of(PAGE) {
            return Err(Error::Invalid);
        }
        let number = self.free_core_endpoint(core)?;
        let object = Object::CoreGate(core, number);
        let own = self.root.capabilities.add(process, object, None);
        let own = own.ok_or(Error::NoMemory)?;
        let activity = crate::dtu::next_activity(&mut self.tiles.activities);
        let receive = ReceiveEndpoint::new(activity, page, log2_slot, slots);
        let gate = (Endpoint::Receive(receive), EndpointUse::Gate(activity));
        self.put_core_endpoint(core, number, gate)
            .inspect_err(|_| self.revoke(own))?;
        Ok((self.root.capabilities.number(own), number, activity))
    }

    fn put_core_endpoint(
        &mut self,
        core: u8,
        number: u8,
        (endpoint, of): (Endpoint, EndpointUse),
    ) -> Result<(), Error> {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let tile = self.root.cores.get_mut(core).ok_or(Error::Dead)?;
        tile.uses[usize::from(number)] = of;
        if !tile.is_good() {
            return Err(Error::Dead);
        }
        let tile = tile.tile;
        unit.set_remote(tile, number.into(), Some(endpoint))
            .map_err(|_| {
                self.lose_core(core);
                Error::Dead
            })
    }

    /// An endpoint of a tile has all its credits again, or reaches other memory.
    pub fn renew_core_endpoint(
        &mut self,
        core: u8,
        number: u8,
        endpoint: Endpoint,
    ) -> Result<(), Error> {
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        let of = of.uses[usize::from(number)];
        self.put_core_endpoint(core, number, (endpoint, of))
    }

    /// A view shows other memory from now on.
    #[cold]
    #[inline(never)]
    pub fn renew_core_views(&mut self, moved: u8, before: &Memory, shown: &Memory) {
        let before = Range {
            tile: before.tile,
            address: before.address,
            size: before.size,
        };
        let shown = &self.memory_now(*shown);
        for core in 0..self.root.cores.all.len() as u8 {
            for number in FIRST_OF_PROGRAMS as u8..ENDPOINTS as u8 {
                let of = self.root.cores.all[usize::from(core)].uses[usize::from(number)];
                if let EndpointUse::Memory { view, activity, .. } = of
                    && view == Some(moved)
                {
                    let renewed = self.renew_core_endpoint(core, number, shown.endpoint(activity));
                    // What goes by the endpoint has begun with the memory before.
                    let of = &self.root.cores.all[usize::from(core)];
                    let (tile, harts) = (of.tile, of.facts.harts);
                    let limit = self.map.frequency / PAUSE;
                    let unit = self.tiles.unit.filter(|_| renewed.is_ok());
                    let ended = unit.map(|unit| unit.finish_of_harts(tile, harts, limit));
                    // A tile that does not answer ends with its processes.
                    if !matches!(ended, Some(Ok(()))) {
                        self.lose_tile(tile, Some(before));
                        self.lose_core(core);
                    }
                }
            }
        }
    }

    /// What an endpoint of a tile was set up by was revoked, or it is a gate that was. Commands by it end.
    #[cold]
    #[inline(never)]
    pub fn clear_core_endpoint(&mut self, core: u8, number: u8) {
        let Some(of) = self.root.cores.get_mut(core) else {
            return;
        };
        let was = core::mem::replace(&mut of.uses[usize::from(number)], EndpointUse::Leaving);
        of.gone |= 1 << number;
        let (tile, harts, is_good) = (of.tile, of.facts.harts, of.is_good());
        let reaches = match was {
            // It is revoked behind this endpoint.
            EndpointUse::Memory { source, .. } | EndpointUse::Image(source) => {
                let object = self.root.capabilities.object(source);
                match object.map(|object| self.root.views.seen(object)) {
                    Some(Object::Memory(memory)) => Some(Range {
                        tile: memory.tile,
                        address: memory.address,
                        size: memory.size,
                    }),
                    _ => None,
                }
            }
            _ => None,
        };
        match was {
            EndpointUse::Gate(_) => self.end_calls_to((tile, number.into())),
            EndpointUse::Image(_) => self.root.programs.image_is_gone(core, number),
            _ => {}
        }
        let limit = self.map.frequency / PAUSE;
        let cleared = self.tiles.unit.filter(|_| is_good).ok_or(NoAnswer);
        let cleared = cleared.and_then(|unit| {
            unit.set_remote(tile, number.into(), None)?;
            match was {
                EndpointUse::Memory { .. } | EndpointUse::Image(_) => {
                    unit.finish_of_harts(tile, harts, limit)
                }
                _ => Ok(()),
            }
        });
        if cleared.is_err() {
            self.lose_tile(tile, reaches);
            self.lose_core(core);
        }
    }

    /// Kernels of tiles are told which endpoints are gone, and which programs start and end.
    #[cold]
    #[inline(never)]
    pub fn tell_core_tiles(&mut self) {
        for core in 0..self.root.cores.all.len() as u8 {
            let of = &self.root.cores.all[usize::from(core)];
            if of.told_at == 0 && (of.gone != 0 || self.root.programs.to_tell(core).is_some()) {
                self.send_notice(core);
            }
        }
    }

    fn send_notice(&mut self, core: u8) {
        let (now, pause) = (csr::time(), self.map.frequency / PAUSE);
        let Some(unit) = self.tiles.unit else { return };
        let Some(of) = self.root.cores.get_mut(core).filter(|of| of.is_good()) else {
            return;
        };
        let to = (of.tile, FROM_ROOT, KERNEL);
        unit.set_message_endpoint(unit.root_sender(), KERNEL, to, (NOTICE, 1));
        let label = NOTICE | u64::from(core);
        let (tells, words) = self.root.programs.to_tell(core).unzip();
        let [what, of_program, at, size] = words.unwrap_or_default();
        let words = [of.gone, what, of_program, at, size];
        let sent = unit.send_by(unit.root_sender(), &words, (REPLIES, label));
        if sent.is_ok() {
            (of.told, of.gone, of.told_at, of.tells) = (of.gone, 0, now.max(1), tells);
            if let Some(n) = tells {
                self.root.programs.was_told(n);
            }
        }
        self.root.cores.check_at = self.root.cores.check_at.min(now + pause);
        // Without room it is told later.
        if !matches!(sent, Ok(()) | Err(UnitError::NoSpace)) {
            self.lose_core(core);
        }
    }

    /// The kernel of a tile has answered a notice.
    #[cold]
    #[inline(never)]
    pub fn core_has_heard(&mut self, message: &Message) {
        let core = message.header.label as u8;
        // The label is the root's own, and the unit of the tile says which one that is.
        let from = u16::from(message.header.tile);
        let Some(of) = self.root.cores.get_mut(core).filter(|of| of.tile == from) else {
            return;
        };
        for (number, of_endpoint) in of.uses.iter_mut().enumerate() {
            if of.told >> number & 1 != 0 {
                *of_endpoint = EndpointUse::Free;
            }
        }
        (of.told, of.told_at) = (0, 0);
        // It may be another one by now, if that has ended by itself.
        let tells = of.tells.take();
        if let Some(n) = tells.filter(|&n| self.root.programs.all[usize::from(n)].core == core) {
            let [error, value, ..] = message.payload;
            self.program_was_told(n, [error, value]);
        }
        self.tell_core_tiles();
    }

    /// Somebody waits for an answer of a tile, which may never come.
    #[cold]
    #[inline(never)]
    pub fn watch_core(&mut self, tile: u16) {
        if self.root.cores.place(tile).is_some() {
            let at = csr::time() + self.map.frequency / PAUSE;
            self.root.cores.check_at = self.root.cores.check_at.min(at);
        }
    }

    /// A tile has not answered: its processes will be ended.
    fn lose_core(&mut self, core: u8) {
        if let Some(of) = self.root.cores.get_mut(core).filter(|of| of.is_good()) {
            of.health = Health::IsLost;
            self.root.cores.check_at = 0;
        }
    }

    /// Tiles are asked for which somebody waits, and those that are lost end.
    #[cold]
    #[inline(never)]
    pub fn check_core_tiles(&mut self, now: u64) {
        self.root.cores.check_at = u64::MAX;
        self.end_revoked_programs();
        for core in 0..self.root.cores.all.len() as u8 {
            let of = &mut self.root.cores.all[usize::from(core)];
            if of.health == Health::IsLost {
                of.health = Health::WasLost;
                self.end_core_tile(core);
                continue;
            }
            let (tile, told_at) = (of.tile, of.told_at);
            if told_at != 0 && now.saturating_sub(told_at) > self.patience() {
                self.lose_core(core);
            } else if told_at != 0 {
                self.watch_core(tile);
            } else if self.root.cores.all[usize::from(core)].gone != 0
                || self.is_awaited(tile)
                || self.root.programs.are_awaited(core)
            {
                self.send_notice(core);
            }
        }
        self.wake_servers();
    }
}
