//! The virtual time of the machine, as its owners see it: it begins when the kernel has booted.
use flick_device::Time;
use flick_machine::Machine;
use flick_timing::machine;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineClock {
    is_timed: bool,
    /// The machine's time when owners began.
    begin: Time,
}

impl MachineClock {
    /// The machine, which has booted, goes on in timed mode.
    pub fn begin_timed(machine: &mut Machine, description: &machine::Machine) -> Self {
        let harts = description
            .tiles
            .iter()
            .filter(|tile| !tile.harts.is_empty());
        machine.set_timing(flick_machine::timing_of_tiles(description, harts));
        machine.set_mode(true);
        Self {
            is_timed: true,
            begin: machine.now(),
        }
    }

    /// Is time the owners', too?
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// The machine's time at an owner's.
    pub fn of_owner(&self, time: Time) -> Time {
        self.begin.saturating_add(time)
    }

    /// An owner's time at the machine's.
    pub fn of_machine(&self, time: Time) -> Time {
        time.saturating_sub(self.begin)
    }
}
