//! Views: memory of which a server shows its clients, and their accelerators, a range at a time.
use flick_abi::card::Error;

use super::known_rights;
use super::{Memory, Object, Side};
use crate::kernel::{Answer, Caller, Kernel, value};

/// Views of all processes.
pub const VIEWS: usize = 256;
/// Those of a process.
const VIEWS_OF_PROCESS: usize = 64;

/// A view.
#[derive(Clone, Copy, Debug)]
pub struct View {
    maker: u16,
    /// All that it may show.
    memory: Memory,
    /// What it shows.
    shown: Memory,
    /// The endpoint of an activity that was set up by it.
    endpoint: Option<(u16, u8)>,
}

/// All of them.
#[derive(Debug)]
pub struct Views(pub &'static mut [Option<View>]);

impl Views {
    /// None.
    pub const fn new() -> Self {
        Self(&mut [])
    }

    fn get(&mut self, view: u8) -> Option<&mut View> {
        self.0.get_mut(usize::from(view))?.as_mut()
    }

    /// The object itself, or the memory that a view shows.
    pub fn seen(&self, object: Object) -> Object {
        match object {
            Object::View(view, _) => match self.0.get(usize::from(view)) {
                Some(Some(view)) => Object::Memory(view.shown),
                _ => object,
            },
            object => object,
        }
    }

    /// An endpoint was set up by an object, perhaps by a view, which has one at most.
    pub fn note(&mut self, object: Object, endpoint: (u16, u8)) -> Result<(), Error> {
        let Object::View(view, _) = object else {
            return Ok(());
        };
        let view = self.get(view).ok_or(Error::NotFound)?;
        match view.endpoint.replace(endpoint) {
            None => Ok(()),
            other => {
                view.endpoint = other;
                Err(Error::Busy)
            }
        }
    }

    /// An endpoint is of no use any more.
    pub fn forget(&mut self, activity: u16, endpoint: u8) {
        for view in self.0.iter_mut().flatten() {
            if view.endpoint == Some((activity, endpoint)) {
                view.endpoint = None;
            }
        }
    }

    /// A view was revoked, and so were those of its users.
    pub fn remove(&mut self, view: u8) {
        self.0[usize::from(view)] = None;
    }
}

impl Kernel {
    /// A view of memory of the caller, which shows nothing yet.
    pub fn create_view(&mut self, caller: Caller, number: u64) -> Answer {
        let (place, memory) = self.memory(caller, number)?;
        let all = &self.root.views.0;
        let mut makers = all.iter().flatten().map(|view| view.maker);
        let most = (VIEWS_OF_PROCESS, VIEWS);
        let has_room = self.may_have_more(caller.process, &mut makers, most);
        let free = all.iter().position(Option::is_none);
        let free = free.filter(|_| has_room);
        let free = free.ok_or(Error::NoMemory)?;
        let memory = memory.part();
        self.root.views.0[free] = Some(View {
            maker: caller.process,
            memory,
            shown: memory.narrow((0, 0), 0)?,
            endpoint: None,
        });
        let view = Object::View(free as u8, Side::Maker);
        let granted = self.grant(caller.process, view, Some(place));
        if granted.is_err() {
            self.root.views.remove(free as u8);
        }
        granted
    }

    /// It shows a range from now on.
    pub fn set_view(
        &mut self,
        caller: Caller,
        number: u64,
        range: (u64, u64),
        rights: u64,
    ) -> Answer {
        let (_, object) = self.capability(caller, number)?;
        let view = match object {
            Object::View(view, Side::Maker) => self.root.views.get(view),
            Object::View(_, Side::User) => return Err(Error::NotPermitted),
            _ => None,
        };
        let view = view.ok_or(Error::Invalid)?;
        let shown = view.memory.narrow(range, rights)?;
        let before = core::mem::replace(&mut view.shown, shown);
        let endpoint = view.endpoint;
        known_rights::forget_all();
        if let Object::View(view, _) = object {
            self.renew_core_views(view, &before, &shown);
        }
        if let Some(endpoint) = endpoint {
            self.renew_endpoint(endpoint, &shown)?;
        }
        value(0)
    }
}
