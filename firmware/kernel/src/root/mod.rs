//! The root role (`docs/root.md`): the kernel of one tile sets up the units of tiles without harts, and gives its
//! programs capabilities for them.
mod activities;
mod activity_image;
mod activity_moves;
mod calls_by_message;
mod core_programs;
mod core_tiles;
mod forwarding;
mod gate_calls;
mod gates;
mod groups;
mod handover_fields;
mod handovers;
mod hart_calls;
#[cfg(feature = "host")]
mod host_programs;
mod known_rights;
mod lost_tiles;
mod memory;
mod moved_programs;
mod program_moves;
mod remote;
mod remote_processes;
mod requests;
mod sends;
mod services;
mod started_programs;
mod tile_schedule;
mod tile_table;
mod turn_order;
mod views;

pub use handovers::{Lent, hand_over};
pub use hart_calls::attempt;
pub use remote::ENDPOINTS;

use flick_abi::card::{Error, PAGE, RootCall, rights};
use flick_kernel_core::capabilities::{Capabilities, Entry, Place, Revocation};
use flick_kernel_core::flat_tree::FlatTree;

use crate::kernel::{Answer, Caller, Done, Kernel, value};
use activities::{Activities, Activity};
use calls_by_message::Asked;
use core_programs::CorePrograms;
use core_tiles::CoreTiles;
use gate_calls::OpenCalls;
use gates::Gates;
use groups::Groups;
use handover_fields::HandoverFields;
use lost_tiles::LostTiles;
use memory::{Memory, Taking};
use services::Services;
use tile_table::TileTable;
use turn_order::Schedule;
use views::Views;

/// Capabilities take at most this part of the memory behind the kernel.
const PART_OF_MEMORY: u64 = 32;
/// Activities take at most this part, without their images.
const PART_OF_ACTIVITIES: u64 = 128;
/// A process has at most this part of all capabilities.
const QUOTA: usize = 4;

/// What a capability is for.
#[derive(Clone, Copy, Debug)]
pub enum Object {
    /// Memory of a tile.
    Memory(Memory),
    /// A gate of a process of this tile.
    Gate(u8),
    /// The gate of an accelerator.
    ActivityGate(u16),
    /// To send messages to a gate.
    Sender(Sender),
    /// An activity of an accelerator, which ends with it.
    Activity(u16),
    /// The same, given to another process: it is of no use when the first one has ended.
    SharedActivity(u16),
    /// An endpoint of an activity that was set up. It is a child of what it was set up by.
    Endpoint(u16, u8),
    /// A gate that has a name.
    Service(u8),
    /// A session with a service, of the server or of the client.
    Session(u8, Side),
    /// Memory whose range the maker changes.
    View(u8, Side),
    /// Activities that have their turns at the same time.
    Group(u8),
    /// A gate of a process of another tile, by the places of the tile and of its endpoint.
    CoreGate(u8, u8),
    /// An endpoint of another tile with harts. It is a child of what it was set up by.
    Remote(u8, u8),
    /// A program of another tile that a process has started, which ends with the maker's.
    Program(u8, Side),
}

/// Whose a capability is, of two that have an object together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The object goes with it.
    Maker,
    /// Derived from that of the maker.
    User,
}

/// Where messages go.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    tile: u16,
    endpoint: u16,
    receiver: u16,
    credits: u16,
    label: u64,
    /// The endpoint of this tile's unit by which harts send; 0: none.
    own: u16,
    /// The capability of the gate that takes its answers then.
    answers: u64,
}

/// What the root has.
#[derive(Debug)]
pub struct Root {
    /// Tiles without harts.
    tiles: TileTable,
    capabilities: Capabilities<'static, Object>,
    gates: Gates,
    calls: OpenCalls,
    pub handovers: HandoverFields,
    activities: Activities,
    schedule: Schedule,
    groups: Groups,
    /// Messages and data that the kernel has taken for activities without a turn.
    forwarded: u64,
    services: Services,
    views: Views,
    taking: Option<Taking>,
    lost: LostTiles,
    cores: CoreTiles,
    programs: CorePrograms,
    /// Of a tile that another one governs.
    asked: Asked,
}

impl Root {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            tiles: TileTable::new(),
            capabilities: Capabilities::new(),
            gates: Gates::new(),
            calls: OpenCalls::new(),
            handovers: HandoverFields::new(),
            activities: Activities::new(),
            schedule: Schedule::new(),
            groups: Groups::new(),
            forwarded: 0,
            services: Services::new(),
            views: Views::new(),
            taking: None,
            lost: LostTiles::new(),
            cores: CoreTiles::new(),
            programs: CorePrograms::new(),
            asked: Asked::new(),
        }
    }
}

impl Root {
    /// When other tiles are looked at, for which somebody waits.
    pub fn next_check(&self) -> u64 {
        self.cores.next_check().min(self.asked.next_check())
    }
}

impl Kernel {
    /// The tile is the root's, if its tree says so.
    pub fn begin_root(&mut self, tree: FlatTree<'_>) {
        self.root.tiles.read(tree);
        if self.tiles.unit.is_none() || !self.map.is_root {
            return;
        }
        let memory = (self.map.memory.1 - self.map.memory.0) / PART_OF_MEMORY;
        let pages = (memory / PAGE).max(1);
        let count = (pages * PAGE) as usize / size_of::<Entry<Object>>();
        let entries = self.root_table(count, || Entry::FREE);
        self.root.capabilities = Capabilities::with_entries(entries, count / QUOTA);
        self.root.views = Views(self.root_table(views::VIEWS, || None));
        self.begin_calls();
        self.begin_activities();
        self.begin_core_tiles(tree);
    }

    fn begin_activities(&mut self) {
        let memory = self.map.memory.1 - self.map.memory.0;
        let slice = u128::from(self.root.tiles.slice) * u128::from(self.map.frequency);
        self.root.schedule.slice = (slice / 1_000_000_000).max(1) as u64;
        let most = (memory / PART_OF_ACTIVITIES) as usize / size_of::<Activity>();
        let most = most.min(activities::MOST);
        self.root.activities = Activities(self.root_table(most, || Activity::FREE));
    }

    /// A table of the root, in frames that stay. Without memory it is empty.
    fn root_table<T>(&mut self, count: usize, make: impl Fn() -> T) -> &'static mut [T] {
        let pages = (count * size_of::<T>()).div_ceil(PAGE as usize);
        let frames = match pages {
            0 => None,
            _ => self.frames.allocate_many(pages),
        };
        let Some(at) = frames else { return &mut [] };
        let entries = at as *mut T;
        // SAFETY: these frames are nobody else's, and stay. Each entry is written before the slice is made.
        unsafe {
            (0..count).for_each(|n| entries.add(n).write(make()));
            core::slice::from_raw_parts_mut(entries, count)
        }
    }

    /// Looks at other tiles, for which somebody waits.
    pub fn check_other_tiles(&mut self, now: u64) {
        match self.map.is_governed() {
            true => self.check_root(now),
            false => self.check_core_tiles(now),
        }
    }

    /// The tile has no programs of the host.
    #[cfg(not(feature = "host"))]
    fn is_of_host(&self, _: Caller) -> bool {
        false
    }

    /// A capability of the caller's process.
    fn capability(&self, caller: Caller, number: u64) -> Result<(Place, Object), Error> {
        let found = self.root.capabilities.find(caller.process, number);
        found.ok_or(Error::NotFound)
    }

    /// May a process have one more of what these have made? It has so many at most, and all processes of a tile that the
    /// root governs have half of all.
    #[inline(never)]
    fn may_have_more(
        &self,
        process: u16,
        makers: &mut dyn Iterator<Item = u16>,
        (most, all): (usize, usize),
    ) -> bool {
        let account = |of| self.root.capabilities.account(of);
        let (mut own, mut together) = (0, 0);
        for maker in makers {
            own += usize::from(maker == process);
            together += usize::from(account(maker) == account(process));
        }
        own < most && together < all / 2
    }

    /// The caller's process gets a capability.
    fn grant(&mut self, process: u16, object: Object, parent: Option<Place>) -> Answer {
        let place = self.root.capabilities.add(process, object, parent);
        let place = place.ok_or(Error::NoMemory)?;
        value(self.root.capabilities.number(place))
    }

    /// Executes a call of the root role.
    #[inline(never)]
    pub fn root_call(
        &mut self,
        caller: Caller,
        call: RootCall,
        arguments: [u64; 6],
        why: u64,
    ) -> Answer {
        if self.map.is_governed() {
            return self.governed_call(caller, call, arguments, why);
        }
        if !self.map.is_root {
            return Err(Error::NoCall);
        }
        #[cfg(feature = "host")]
        let arguments = self.with_time_of_host(caller, call, arguments);
        let [a0, a1, a2, a3, ..] = arguments;
        match call {
            RootCall::TileFind => self.find_tile(caller, (a0, a1), a2),
            RootCall::TileBlock => {
                let facts = self.root.tiles.get(a0).filter(|facts| facts.block != 0);
                let facts = facts.ok_or(Error::NotFound)?;
                Ok(Done::Values(facts.block, facts.blocks))
            }
            RootCall::TileMemory => self.take_tile_memory(caller, a0, a1),
            RootCall::CapabilityNarrow => self.narrow_memory(caller, a0, (a1, a2), a3),
            RootCall::CapabilityGive => self.give(caller, a0, a1),
            RootCall::CapabilityRevoke => {
                let (place, _) = self.capability(caller, a0)?;
                self.revoke(place);
                self.end_revoked_programs();
                value(0)
            }
            RootCall::TileLoad => self.copy(caller, arguments, rights::READ, why),
            RootCall::TileStore => self.copy(caller, arguments, rights::WRITE, why),
            RootCall::GateCreate => self.create_gate(caller),
            RootCall::GateSender => self.derive_sender(caller, a0, a1, a2),
            RootCall::GateReceive => self.receive(caller, arguments, why),
            RootCall::GateAnswer => self.answer_message(caller, arguments, why),
            RootCall::GateSend => self.send_message(caller, arguments, why),
            RootCall::GateAnswerReceive => self.answer_and_receive(caller, arguments, why),
            RootCall::GateCall => self.call_gate(caller, arguments, why),
            RootCall::ActivityCreate => self.create_activity(caller, a0),
            RootCall::ActivityEndpoint => self.set_activity_endpoint(caller, a0, a1, a2),
            RootCall::ActivityGate => self.derive_gate(caller, a0),
            RootCall::ActivityMemory => self.derive_local_memory(caller, a0),
            RootCall::ActivityStart
            | RootCall::ActivityWait
            | RootCall::ActivityState
            | RootCall::ActivityMove
                if self.is_program(caller, a0) =>
            {
                self.program_call(caller, call, a0, a1)
            }
            RootCall::ActivityStart => self.start_activity(caller, a0, a1),
            RootCall::ActivityWait => self.wait_for_activity(caller, a0, a1),
            RootCall::ActivityState => self.state_of_activity(caller, a0),
            RootCall::AcceleratorTurns => {
                let (turns, forwarded) = (self.root.schedule.turns, self.root.forwarded);
                Ok(Done::Values(turns, forwarded))
            }
            RootCall::GroupCreate => self.create_group(caller),
            RootCall::GroupJoin => self.join_group(caller, a0, a1),
            RootCall::ActivityMove => self.let_move(caller, a0, a1),
            RootCall::ActivityGive => self.give_to_program(caller, a0, a1),
            RootCall::ServiceCreate => self.create_service(caller, a0, (a1, a2), a3),
            RootCall::SessionOpen => self.open_session(caller, (a0, a1), a2, a3),
            RootCall::SessionGive => self.give_by_session(caller, a0, a1),
            RootCall::ViewCreate => self.create_view(caller, a0),
            #[cfg(feature = "host")]
            RootCall::HostMemory => self.share_host_memory(caller, (a0, a1), a2),
            #[cfg(not(feature = "host"))]
            RootCall::HostMemory => Err(Error::NoCall),
            RootCall::ViewSet => self.set_view(caller, a0, (a1, a2), a3),
        }
    }

    /// A capability like the caller's for its parent, or for a child.
    fn give(&mut self, caller: Caller, number: u64, process: u64) -> Answer {
        let (place, object) = self.capability(caller, number)?;
        let to = self.relative(caller.process, process);
        self.give_to(to.ok_or(Error::NotFound)?, place, object)
    }

    /// The parent or a child of a process that has this number, and goes on.
    fn relative(&self, of: u16, number: u64) -> Option<u16> {
        let parent = self.processes[of].parent;
        let parent = parent.filter(|&parent| self.processes.number(parent) == number);
        let found = parent.or_else(|| self.processes.child(of, number));
        found.filter(|&to| self.processes[to].tables.is_some() && !self.processes[to].is_ending)
    }

    /// A capability for another process.
    fn give_to(&mut self, process: u16, place: Place, object: Object) -> Answer {
        let object = match object {
            // A process receives by its own gates alone, and an endpoint is no right. A session is between two.
            Object::Gate(_)
            | Object::CoreGate(..)
            | Object::Endpoint(..)
            | Object::Remote(..)
            | Object::Service(_)
            | Object::Session(..)
            | Object::Group(_) => {
                return Err(Error::Invalid);
            }
            // Its memory is free again with the first one.
            Object::Memory(memory) => Object::Memory(memory.part()),
            Object::Activity(activity) => Object::SharedActivity(activity),
            Object::View(view, _) => Object::View(view, Side::User),
            Object::Program(program, _) => Object::Program(program, Side::User),
            Object::Sender(sender) => Object::Sender(Sender { own: 0, ..sender }),
            object => object,
        };
        self.grant(process, object, Some(place))
    }

    /// Takes a capability away, and all that were derived from it.
    fn revoke(&mut self, place: Place) {
        known_rights::forget_all();
        let mut revocation = Revocation::of(place);
        while let Some(object) = self.root.capabilities.revoke_next(&mut revocation) {
            match object {
                Object::Gate(gate) => self.remove_gate(gate),
                Object::Activity(activity) => self.end_activity(activity),
                Object::Endpoint(activity, endpoint) => {
                    self.root.views.forget(activity, endpoint);
                    self.clear_endpoint(activity, endpoint);
                }
                Object::Service(service) => self.remove_service(service),
                Object::Session(session, side) => self.end_session(session, side),
                Object::View(view, Side::Maker) => self.root.views.remove(view),
                Object::Sender(sender) => self.remove_sender(sender),
                Object::Group(group) => self.root.groups.close(group),
                Object::CoreGate(core, endpoint) | Object::Remote(core, endpoint) => {
                    self.clear_core_endpoint(core, endpoint);
                }
                Object::Program(program, Side::Maker) => self.remove_program(program),
                Object::Memory(_)
                | Object::Program(_, Side::User)
                | Object::SharedActivity(_)
                | Object::ActivityGate(_)
                | Object::View(_, Side::User) => {}
            }
        }
        self.tell_core_tiles();
    }

    /// A process is over.
    pub fn revoke_all(&mut self, process: u16) {
        if self.map.is_governed() {
            return self.end_at_root(process);
        }
        self.forget_taking(process);
        let mut from = 0;
        while let Some(place) = self.root.capabilities.any_of(process, from) {
            self.revoke(place);
            from = place;
        }
    }
}
