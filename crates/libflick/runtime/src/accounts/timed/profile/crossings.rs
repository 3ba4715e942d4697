//! Crossings, and what NxP code does, in a profile.
use flick_abi::layout::Gate;

use super::super::state::State;
use super::account::{Function, Profile, with};
use crate::accounts::symbols;

/// The host calls the NxP by a gate, which makes activation `depth`, and the call returns to
/// `site`. Depth of the NxP's calls before.
pub fn enter_nxp(state: &mut State, site: usize, gate: &Gate, depth: usize) -> usize {
    let entry = gate.image as u64;
    with(&mut state.profile, |profile| {
        profile
            .gates
            .insert(entry, std::ptr::from_ref(gate) as usize);
        // After a tail call the site is the caller's caller's.
        let left = profile.stack.take_left();
        let caller = left.unwrap_or_else(|| profile.any_at(site));
        let callee = profile.number(Function::Nxp(entry));
        profile.count(caller, callee);
        // Activations that were left by an unwinder have recorded nothing.
        let before = profile.inside(depth.saturating_sub(1));
        profile.calls.truncate(before);
        profile.calls.push(entry, 0);
        before
    })
    .unwrap_or_default()
}

/// It has returned: to that depth.
pub fn leave_nxp(state: &mut State, before: usize) {
    with(&mut state.profile, |profile| profile.calls.truncate(before));
}

/// NxP code calls a host function, in activation `depth`.
pub fn enter_host(state: &mut State, depth: usize) {
    with(&mut state.profile, |profile| {
        let caller = profile.innermost();
        profile.stack.enter_host(caller, depth);
        if profile.inside.len() <= depth {
            profile.inside.resize(depth + 1, 0);
        }
        profile.inside[depth] = profile.calls.depth();
    });
}

/// That function has returned, or was left. Where it has recorded nothing, it is at `target` and
/// was charged `time`.
pub fn leave_host(state: &mut State, depth: usize, quiet: Option<(u64, u64)>) {
    with(&mut state.profile, |profile| {
        profile.stack.leave_host(depth);
        let before = profile.inside(depth);
        profile.calls.truncate(before);
        if let Some((target, time)) = quiet {
            let caller = profile.innermost();
            let (callee, _) = profile.library(target, || symbols::name_of(target));
            profile.count(caller, callee);
            profile.own(callee).host += u128::from(time);
        }
    });
}

/// NxP code has called the heap, to have memory if it `allocates`.
pub fn called_heap(state: &mut State, allocates: bool, host: u64, nxp: u64) {
    with(&mut state.profile, |profile| {
        let caller = profile.innermost();
        let own = profile.own(caller);
        own.host_library += u128::from(host);
        own.nxp_library += u128::from(nxp);
        own.allocations += u64::from(allocates);
    });
}

impl Profile {
    /// Depth of the NxP's calls when activation `depth` has called the host.
    pub fn inside(&self, depth: usize) -> usize {
        self.inside.get(depth).copied().unwrap_or(0)
    }

    /// The NxP function that the thread is in.
    pub fn innermost(&mut self) -> u32 {
        let entry = self.calls.top().unwrap_or(0);
        self.number(Function::Nxp(entry))
    }
}
