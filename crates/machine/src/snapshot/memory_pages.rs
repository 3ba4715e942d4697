//! The content of memory by pages. Two of them share the pages that are equal, and pages of zeros take
//! nothing, so that many snapshots of a big memory cost what has changed between them.
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use flick_hart::PAGE;

use crate::ram::Ram;

const SIZE: usize = PAGE as usize;
/// Pages that are shared together.
const GROUP: usize = 512;

type Page = [u8; SIZE];
type Group = [Option<Arc<Page>>; GROUP];

static ZEROS: Page = [0; SIZE];

/// The content of all memories of a machine.
#[derive(Clone)]
pub struct MemoryPages {
    /// By memory, and by groups of its pages; `None`: zeros.
    memories: Vec<Vec<Option<Arc<Group>>>>,
}

impl MemoryPages {
    /// The content of these memories, while no hart runs. What is equal to `before`, which is of the
    /// same memories, is shared with it.
    pub fn take<'r>(memories: impl IntoIterator<Item = &'r Ram>, before: Option<&Self>) -> Self {
        let each = memories.into_iter().enumerate().map(|(n, ram)| {
            let before = before.and_then(|before| before.memories.get(n));
            take_memory(ram, before.map_or(&[], |before| before))
        });
        Self {
            memories: each.collect(),
        }
    }

    /// Makes the memories what they were.
    pub fn put<'r>(&self, memories: impl IntoIterator<Item = &'r Ram>) {
        for (ram, groups) in memories.into_iter().zip(&self.memories) {
            let touched = touched(ram);
            for page in 0..pages(ram) {
                let group = groups[page / GROUP].as_deref();
                let wanted = group.and_then(|group| group[page % GROUP].as_deref());
                if wanted.is_none() && !touched(page) {
                    continue;
                }
                let wanted = wanted.unwrap_or(&ZEROS);
                let Some(place) = place(ram, page) else {
                    continue;
                };
                // SAFETY: a page of memory, to which nobody has a reference while no hart runs.
                let now = unsafe { &mut *place };
                if now != wanted {
                    now.copy_from_slice(wanted);
                }
            }
        }
    }

    /// The pages that are not zeros, by groups: number of the memory, number of each page, content.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, Vec<(usize, &Page)>)> {
        let memories = self.memories.iter().enumerate();
        memories.flat_map(|(memory, groups)| {
            let groups = groups.iter().enumerate();
            groups.filter_map(move |(number, group)| {
                let pages = group.as_deref()?.iter().enumerate();
                let pages =
                    pages.filter_map(|(at, page)| Some((number * GROUP + at, page.as_deref()?)));
                Some((memory, pages.collect()))
            })
        })
    }

    /// Zeros.
    pub(super) fn empty<'r>(memories: impl IntoIterator<Item = &'r Ram>) -> Self {
        let groups = |ram: &Ram| vec![None; pages(ram).div_ceil(GROUP)];
        Self {
            memories: memories.into_iter().map(groups).collect(),
        }
    }

    /// False: there is no such page.
    pub(super) fn set(&mut self, memory: usize, page: usize, content: &[u8]) -> bool {
        let groups = self.memories.get_mut(memory);
        let group = groups.and_then(|groups| groups.get_mut(page / GROUP));
        let (Some(group), Ok(content)) = (group, <&Page>::try_from(content)) else {
            return false;
        };
        let group = group.get_or_insert_with(|| Arc::new([const { None }; GROUP]));
        Arc::make_mut(group)[page % GROUP] = Some(Arc::new(*content));
        true
    }

    /// Bytes of the host that this has and `other` has not.
    pub fn bytes_beyond(&self, other: &Self) -> usize {
        let pairs = self.memories.iter().zip(&other.memories);
        let groups = pairs.flat_map(|(own, other)| own.iter().zip(other));
        let bytes = groups.map(|(own, other)| {
            let Some(own) = own else { return 0 };
            if other.as_ref().is_some_and(|other| Arc::ptr_eq(own, other)) {
                return 0;
            }
            let is_own = |at: usize| {
                let known = other.as_ref().and_then(|other| other[at].as_ref());
                let page = own[at].as_ref();
                page.is_some_and(|page| !known.is_some_and(|known| Arc::ptr_eq(page, known)))
            };
            size_of::<Group>() + (0..GROUP).filter(|&at| is_own(at)).count() * SIZE
        });
        bytes.sum()
    }
}

fn pages(ram: &Ram) -> usize {
    let range = ram.range();
    ((range.end - range.start) / PAGE) as usize
}

fn place(ram: &Ram, page: usize) -> Option<*mut Page> {
    let address = ram.range().start + page as u64 * PAGE;
    ram.at(address, PAGE).map(<*mut u8>::cast)
}

fn take_memory(ram: &Ram, before: &[Option<Arc<Group>>]) -> Vec<Option<Arc<Group>>> {
    let touched = touched(ram);
    let groups = (0..pages(ram).div_ceil(GROUP)).map(|number| {
        let known = before.get(number).and_then(|group| group.as_ref());
        let mut group: Option<Group> = None;
        let mut is_same = true;
        for at in 0..GROUP.min(pages(ram) - number * GROUP) {
            let page = number * GROUP + at;
            let before = known.and_then(|known| known[at].as_ref());
            let place = place(ram, page).filter(|_| touched(page));
            // SAFETY: a page of memory, which nobody changes while no hart runs.
            let content = place.map(|place| unsafe { &*place });
            let content = content.filter(|&content| content != &ZEROS);
            let now = match (content, before) {
                (Some(content), Some(before)) if content == &**before => Some(before.clone()),
                (content, before) => {
                    is_same &= content.is_none() && before.is_none();
                    content.map(|&content| Arc::new(content))
                }
            };
            if now.is_some() {
                group.get_or_insert([const { None }; GROUP])[at] = now;
            }
        }
        match known {
            Some(known) if is_same => Some(known.clone()),
            _ => group.map(Arc::new),
        }
    });
    groups.collect()
}

/// Which pages have been accessed: the others are zeros, and reading them would cost the host memory.
fn touched(ram: &Ram) -> impl Fn(usize) -> bool {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    let entries = page_map(ram);
    move |page| match &entries {
        Some(entries) => entries[page] & (PRESENT | SWAPPED) != 0,
        // Where the host does not tell, all of them are looked at.
        None => true,
    }
}

/// The host's entries of the memory's pages (Linux, `Documentation/admin-guide/mm/pagemap.rst`).
fn page_map(ram: &Ram) -> Option<Vec<u64>> {
    // SAFETY: a query without effects.
    if unsafe { libc::sysconf(libc::_SC_PAGESIZE) } != PAGE as libc::c_long {
        return None;
    }
    let first = place(ram, 0)?.expose_provenance() / SIZE;
    let mut bytes = vec![0; pages(ram) * 8];
    let file = File::open("/proc/self/pagemap").ok()?;
    file.read_exact_at(&mut bytes, first as u64 * 8).ok()?;
    let entries = bytes.chunks_exact(8).map(|entry| {
        let entry = entry.try_into().unwrap_or([0xff; 8]);
        u64::from_le_bytes(entry)
    });
    Some(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_share_what_is_equal() {
        let ram = [Ram::new(0x8000_0000, 4 << 20).unwrap()];
        let at = |page: usize| place(&ram[0], page).unwrap();
        let write = |page: usize, value: u8| {
            // SAFETY: a byte of memory.
            unsafe { (*at(page))[7] = value };
        };
        // SAFETY: a byte of memory.
        let read = |page: usize| unsafe { (*at(page))[7] };
        write(3, 1);
        write(600, 2);
        let first = MemoryPages::take(&ram, None);
        write(3, 5);
        write(700, 6);
        let second = MemoryPages::take(&ram, Some(&first));
        let third = MemoryPages::take(&ram, Some(&second));
        assert_eq!(third.bytes_beyond(&second), 0);
        assert_eq!(second.bytes_beyond(&first), 2 * (size_of::<Group>() + SIZE));
        write(600, 0);
        first.put(&ram);
        assert_eq!([read(3), read(600), read(700)], [1, 2, 0]);
        second.put(&ram);
        assert_eq!([read(3), read(600), read(700)], [5, 2, 6]);
        let mut built = MemoryPages::empty(&ram);
        for (memory, pages) in second.groups() {
            for (page, content) in pages {
                assert!(built.set(memory, page, content));
            }
        }
        first.put(&ram);
        built.put(&ram);
        assert_eq!([read(3), read(600), read(700)], [5, 2, 6]);
        assert!(!built.set(0, 1024, &ZEROS) && !built.set(1, 0, &ZEROS));
    }
}
