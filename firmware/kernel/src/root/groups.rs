//! Groups of activities that have their turns at the same time, or none of them (gangs of M3x, section 4.6). Each
//! member is on a tile of its own. All are put in the order of their tiles at once, so that two groups are in the same
//! order on all tiles that they share, and do not wait for each other.
use flick_abi::accelerator::{self, Control};
use flick_abi::card::Error;
use flick_abi::dtu::ACCELERATOR_REGISTERS;

use super::Object;
use super::activities::Phase;
use super::remote::NoAnswer;
use super::turn_order::NOBODY;
use crate::csr;
use crate::dtu::Unit;
use crate::kernel::{Answer, Caller, Kernel, value};

/// Groups of all processes, and of one.
const GROUPS: usize = 32;
const GROUPS_OF_PROCESS: usize = 8;
/// Members of a group.
pub const MEMBERS: usize = 8;
/// For so long it counts that a member has had nothing to do: a part of a second.
const IDLE: u64 = 4_000;

/// A group.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The process that may add members. `None`: its capability is gone.
    maker: Option<u16>,
    /// Those that are not over, or nobody.
    members: [u16; MEMBERS],
}

/// All of them.
#[derive(Debug)]
pub struct Groups([Group; GROUPS]);

impl Group {
    const NONE: Self = Self {
        maker: None,
        members: [NOBODY; MEMBERS],
    };

    fn is_free(&self) -> bool {
        self.maker.is_none() && self.members().next().is_none()
    }

    fn members(&self) -> impl Iterator<Item = u16> + use<> {
        let members = self.members;
        members.into_iter().filter(|&member| member != NOBODY)
    }
}

impl Groups {
    /// None.
    pub const fn new() -> Self {
        Self([Group::NONE; GROUPS])
    }

    /// The members of a group that are not over.
    pub fn members(&self, group: u8) -> impl Iterator<Item = u16> + use<> {
        self.0[usize::from(group)].members()
    }

    /// The capability of a group is gone. Its members stay together.
    pub fn close(&mut self, group: u8) {
        self.0[usize::from(group)].maker = None;
    }

    fn remove(&mut self, group: u8, activity: u16) {
        let members = self.0[usize::from(group)].members.iter_mut();
        members
            .filter(|member| **member == activity)
            .for_each(|member| *member = NOBODY);
    }
}

impl Kernel {
    /// A group without members, for the caller's process.
    pub fn create_group(&mut self, caller: Caller) -> Answer {
        let all = &self.root.groups.0;
        let mut makers = all.iter().filter_map(|group| group.maker);
        let most = (GROUPS_OF_PROCESS, GROUPS);
        let has_room = self.may_have_more(caller.process, &mut makers, most);
        let free = all.iter().position(Group::is_free).filter(|_| has_room);
        let free = free.ok_or(Error::NoMemory)?;
        let granted = self.grant(caller.process, Object::Group(free as u8), None);
        if granted.is_ok() {
            self.root.groups.0[free].maker = Some(caller.process);
        }
        granted
    }

    /// An activity that has not begun belongs to a group from now on.
    pub fn join_group(&mut self, caller: Caller, number: u64, activity: u64) -> Answer {
        let (_, object) = self.capability(caller, number)?;
        let Object::Group(group) = object else {
            return Err(Error::Invalid);
        };
        let (_, activity) = self.activity(caller, activity)?;
        let of = &self.root.activities[activity];
        let mut members = self.root.groups.members(group);
        let has_begun = |member: u16| self.root.activities[member].phase != Phase::New;
        if of.phase != Phase::New || of.group.is_some() || members.any(has_begun) {
            return Err(Error::Busy);
        }
        let mut members = self.root.groups.members(group);
        if members.any(|member| self.root.activities[member].place == of.place) {
            return Err(Error::Exists);
        }
        let mut places = self.root.groups.0[usize::from(group)].members.iter_mut();
        let free = places.find(|place| **place == NOBODY);
        *free.ok_or(Error::NoMemory)? = activity;
        // It keeps its tile.
        self.forget_mover(activity);
        let of = &mut self.root.activities[activity];
        (of.may_move, of.group) = (false, Some(group));
        value(0)
    }

    /// An activity is over, or revoked. The others have their turns without it.
    #[inline(never)]
    pub fn leave_group(&mut self, activity: u16) {
        if let Some(group) = self.root.activities[activity].group.take() {
            self.root.groups.remove(group, activity);
            self.consider_group(group);
            // The tile may have waited for the others' tiles.
            self.give_turn(self.root.activities[activity].place);
        }
    }

    /// Whether a member has its turn.
    fn has_turn(&self, group: u8) -> bool {
        let mut members = self.root.groups.members(group);
        members.any(|member| self.is_current(member))
    }

    /// A group has its turn when all its members have begun, none has its turn any more, and one can go on.
    #[inline(never)]
    pub fn consider_group(&mut self, group: u8) {
        let (mut can_run, mut is_ready) = (false, false);
        for member in self.root.groups.members(group) {
            let of = &mut self.root.activities[member];
            match of.phase {
                Phase::New => return,
                Phase::Ready => is_ready = true,
                Phase::Waits(waits) => can_run |= waits == 0 || of.image.unread() & waits != 0,
                Phase::Runs | Phase::Free | Phase::Over(..) => {}
            }
        }
        if self.has_turn(group) || !(can_run || is_ready) {
            return;
        }
        if !is_ready {
            for member in self.root.groups.members(group) {
                self.root.activities[member].phase = Phase::Ready;
                self.append(member);
            }
        }
        for member in self.root.groups.members(group) {
            let place = self.root.activities[member].place;
            self.give_turn(place);
        }
    }

    /// Whether all members are the next ones of tiles that are free.
    pub fn can_start(&self, group: u8) -> bool {
        let mut members = self.root.groups.members(group);
        members.all(|member| {
            let place = self.root.activities[member].place;
            self.root.schedule.is_next(place, member)
        })
    }

    /// The turn of a group is over: the modules of all its members stop.
    pub fn stop_group(&mut self, unit: Unit, group: u8) {
        for member in self.root.groups.members(group) {
            if self.is_current(member) {
                let place = self.root.activities[member].place;
                self.stop_turn(unit, place);
            }
        }
    }

    /// A member has had nothing to do for long, and has stopped. False: it goes on, since others have something to do.
    pub fn yields_with_group(&mut self, unit: Unit, activity: u16, group: u8) -> bool {
        let now = csr::time();
        let since = now.saturating_sub(self.map.frequency / IDLE);
        self.root.activities[activity].idle_at = now;
        let mut members = self.root.groups.members(group);
        if members.all(|member| self.root.activities[member].idle_at >= since) {
            self.stop_group(unit, group);
            return true;
        }
        let tile = self.tile_of(activity);
        let control = ACCELERATOR_REGISTERS + accelerator::CONTROL;
        let told = unit.write_registers(tile, control, &[Control::Continue as u64]);
        // A tile that does not answer is found when the turn ends.
        matches!(told, Err(NoAnswer))
    }
}
