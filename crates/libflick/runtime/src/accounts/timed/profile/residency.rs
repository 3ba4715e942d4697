//! Profiles a residency on the NxP: its functions follow from its calls and returns.
use flick_timing::{Sampler, Spent};

use super::super::ways_out;
use super::account::{Function, Profile, with};
use crate::modules::is_function;

pub struct ResidencyProfiler<'a> {
    profile: &'a mut Option<Box<Profile>>,
    /// What the residency had spent at its last call or return.
    last: Spent,
}

impl<'a> ResidencyProfiler<'a> {
    /// The residency begins at `pc`.
    pub fn new(profile: &'a mut Option<Box<Profile>>, pc: u64) -> Self {
        with(profile, |profile| {
            let caller = ways_out::innermost(&profile.calls);
            if ways_out::resumes(&mut profile.calls, pc) {
                let caller = profile.number(Function::Nxp(caller.unwrap_or(0)));
                let callee = profile.number(Function::Nxp(pc));
                profile.count(caller, callee);
            }
        });
        Self {
            profile,
            last: Spent::default(),
        }
    }

    /// The residency ends.
    pub fn end(&mut self, spent: &Spent) {
        with(self.profile, |profile| {
            let entry = ways_out::innermost(&profile.calls).unwrap_or(0);
            profile.spend(entry, spent, &self.last);
        });
        self.last = *spent;
    }
}

impl Sampler for ResidencyProfiler<'_> {
    const ON: bool = true;

    fn jump(&mut self, pc: u64, target: u64, spent: &Spent) {
        let changed = with(self.profile, |profile| {
            let (depth, entry) = (profile.calls.depth(), profile.calls.top().unwrap_or(0));
            // SAFETY: an instruction that has just been executed.
            unsafe { profile.calls.jump(pc, target, 0) };
            let deeper = profile.calls.depth() > depth;
            if deeper && !is_function(target) {
                // The host's, or what leads there or to a gate: the residency ends here.
                return false;
            }
            if profile.calls.depth() == depth {
                return false;
            }
            profile.spend(entry, spent, &self.last);
            if deeper {
                let caller = profile.number(Function::Nxp(entry));
                let callee = profile.number(Function::Nxp(target));
                profile.count(caller, callee);
            }
            true
        });
        if changed == Some(true) {
            self.last = *spent;
        }
    }
}

impl Profile {
    /// The NxP function at `entry` has spent this.
    fn spend(&mut self, entry: u64, spent: &Spent, last: &Spent) {
        let function = self.number(Function::Nxp(entry));
        let own = self.own(function);
        let since = |now: u64, last: u64| u128::from(now.wrapping_sub(last));
        own.nxp += since(spent.compute, last.compute);
        own.nxp_memory += since(
            spent.memory + spent.fetch + spent.tlb,
            last.memory + last.fetch + last.tlb,
        );
        own.host += since(spent.staying_compute, last.staying_compute);
        own.host_memory += since(
            spent.staying_memory + spent.staying_tlb + spent.staying_own,
            last.staying_memory + last.staying_tlb + last.staying_own,
        );
        own.spare += i128::from(spent.heap_spare - last.heap_spare);
        own.marked += spent.heap_marked.wrapping_sub(last.heap_marked);
        own.local += spent.accesses.wrapping_sub(last.accesses);
    }
}
