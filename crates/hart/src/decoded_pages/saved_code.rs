//! Which pages have decoded instructions, for snapshots. Stores to these pages are slower for the host,
//! and translate their addresses anew: so a run that goes on has to know them.
use serde::{Deserialize, Serialize};

use super::{CodeCache, FIRST_PATIENCE, MOST_PATIENCE, Page};
use crate::bus::PAGE;

/// The pages of a [`CodeCache`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCode {
    /// Address, whether it is code, stores that are left, and patience, by address.
    pages: Vec<(u64, bool, u32, u32)>,
    retirements: u64,
    added: Vec<u64>,
}

impl CodeCache {
    /// What a run that goes on has to know.
    pub fn save(&self) -> SavedCode {
        let pages = self.pages.borrow();
        let each = pages.iter();
        let page = |(&at, page): (&u64, &Page)| (at, page.is_code, page.stores_left, page.patience);
        let mut pages: Vec<_> = each.map(page).collect();
        pages.sort_unstable();
        SavedCode {
            pages,
            retirements: self.retirements.get(),
            added: self.added.borrow().clone(),
        }
    }

    /// Nothing is decoded, and the pages are as they were. False: no cache is so.
    pub fn restore(&self, saved: &SavedCode) -> bool {
        let is_page = |at: u64| at.is_multiple_of(PAGE);
        let fits = |&(at, is_code, left, patience): &(u64, bool, u32, u32)| {
            is_page(at)
                && is_code == (left != 0)
                && (FIRST_PATIENCE..=MOST_PATIENCE).contains(&patience)
        };
        let are_pages = saved.added.iter().all(|&at| is_page(at));
        if !saved.pages.iter().all(fits) || !are_pages {
            return false;
        }
        self.forget();
        let mut pages = self.pages.borrow_mut();
        for page in pages.values_mut() {
            (page.is_code, page.stores_left) = (false, 0);
            page.patience = FIRST_PATIENCE;
        }
        for &(at, is_code, stores_left, patience) in &saved.pages {
            let page = pages.entry(at).or_insert(Page::NEW);
            (page.is_code, page.stores_left, page.patience) = (is_code, stores_left, patience);
        }
        self.retirements.set(saved.retirements);
        self.added.replace(saved.added.clone());
        true
    }

    /// The slots of a page that is code, for a hart that knew them.
    pub(crate) fn known_slots(
        &self,
        page: u64,
        class: super::Class,
    ) -> Option<*const super::Slots> {
        self.has(page).then(|| self.slots(page, class))
    }
}
