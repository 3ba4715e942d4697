//! What the translator asks about the program, in stand-in addresses.
use std::collections::BTreeMap;

use super::Movable;
use crate::program::Target;
use crate::thunk::Callee;

/// A question. Addresses are stand-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// [`Program::constant`](crate::Program::constant); of an address and a length.
    Constant(u64, u64),
    /// [`Program::table_target`](crate::Program::table_target).
    Table(u64, Option<u64>),
    /// [`Program::jump`](crate::Program::jump).
    Jump(u64),
    /// [`Program::linkage_slot`](crate::Program::linkage_slot).
    Slot(u64),
    /// [`Program::call_stub`](crate::Program::call_stub).
    Stub(u64),
    /// [`Program::resolve`](crate::Program::resolve).
    Resolve(u64),
    /// [`Program::summary`](crate::Program::summary), or what is seen of the function.
    Summary(u64),
}

/// Words; none: there is no answer. Addresses are stand-ins.
pub type Answer = Vec<u64>;

/// Stands for any address that is no matter of the function's.
const NOWHERE: u64 = u64::MAX;

/// Questions with their answers, in the order in which they were asked: an answer may be the first
/// that names a place.
#[derive(Default)]
pub struct Facts {
    all: Vec<(Query, Answer)>,
    known: BTreeMap<Query, usize>,
    /// Something cannot be said in stand-ins.
    pub is_lost: bool,
}

impl Facts {
    pub fn all(&self) -> &[(Query, Answer)] {
        &self.all
    }
}

impl Movable<'_> {
    /// Asks, and notes the answer.
    pub(super) fn ask(&self, query: Query) -> Answer {
        if let Some(&at) = self.facts.borrow().known.get(&query) {
            return self.facts.borrow().all[at].1.clone();
        }
        let answer = self.answer(query);
        let facts = &mut *self.facts.borrow_mut();
        facts.known.insert(query, facts.all.len());
        facts.all.push((query, answer.clone()));
        answer
    }

    /// What the program says now.
    pub(super) fn answer(&self, query: Query) -> Answer {
        self.known(query).unwrap_or_default()
    }

    fn known(&self, query: Query) -> Option<Answer> {
        let program = self.real.program;
        let real = |at| self.windows.borrow().real(at);
        Some(match query {
            Query::Constant(address, len) => {
                let address = real(address)?;
                let value = program.constant(address, len)?;
                if len == 8 && program.is_address(address) {
                    vec![1, self.stand_in(value)]
                } else {
                    vec![0, value]
                }
            }
            Query::Table(entry, base) => {
                let base = match base {
                    Some(base) => Some(real(base)?),
                    None => None,
                };
                let target = program.table_target(real(entry)?, base)?;
                // Holes of tables have 0 or 1.
                vec![match self.own(target) {
                    NOWHERE if target <= 1 => target,
                    own => own,
                }]
            }
            Query::Jump(pc) => {
                let targets = program.jump(real(pc)?)?;
                let targets = targets.into_iter().map(|target| self.own(target));
                std::iter::once(1).chain(targets).collect()
            }
            Query::Slot(pc) => vec![self.stand_in(program.linkage_slot(real(pc)?)?)],
            Query::Stub(pc) => match program.call_stub(real(pc)?)? {
                (address, Callee::Slot(slot)) => {
                    vec![self.stand_in(address), self.stand_in(slot)]
                }
                (_, Callee::Guest(_) | Callee::Elsewhere(_) | Callee::BySignature { .. }) => {
                    self.facts.borrow_mut().is_lost = true;
                    return None;
                }
            },
            Query::Resolve(target) => match program.resolve(real(target)?)? {
                Target::Guest(at) => vec![self.stand_in(at)],
                Target::Elsewhere => {
                    self.facts.borrow_mut().is_lost = true;
                    return None;
                }
            },
            Query::Summary(pc) => {
                let summary = (self.real.summary)(real(pc)?);
                let is_certain = summary.is_certain.into();
                vec![summary.reads, summary.results, summary.calls, is_certain]
            }
        })
    }

    fn stand_in(&self, real: u64) -> u64 {
        let stand_in = self.windows.borrow_mut().stand_in(real);
        stand_in.unwrap_or_else(|| {
            self.facts.borrow_mut().is_lost = true;
            NOWHERE
        })
    }

    /// Of an address in the function.
    fn own(&self, real: u64) -> u64 {
        if self.range.contains(&real) || real == self.range.end {
            self.stand_in(real)
        } else {
            NOWHERE
        }
    }
}
