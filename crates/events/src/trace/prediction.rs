//! What a run predicts, at the end of its trace.
use super::Kind;
use super::encoder::block;
use super::reader::Reason;
use super::wire::{Sink, Source};

/// The totals of one process. Times are picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    pub platform: String,
    /// With placed functions on the NxP and crossings charged.
    pub migrating: u64,
    /// With everything on the host.
    pub staying: u64,
    /// Where the migrating time goes.
    pub parts: Vec<Part>,
    pub sites: Vec<Site>,
}

/// A share of the migrating time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub time: u64,
}

/// All calls from one place to one placed function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Where the call is, as people read it: a function, with file and line if known.
    pub caller: String,
    /// Linker's name.
    pub callee: String,
    pub calls: u64,
    /// RV64 instructions retired in these calls.
    pub instructions: u64,
    /// Accesses to NxP-local memory in these calls.
    pub accesses: u64,
    /// In these calls on the NxP.
    pub nxp: u64,
    /// In the same calls if they stay on the host.
    pub staying: u64,
    /// Going there and back.
    pub crossing: u64,
    /// Whether it pays, in words.
    pub verdict: String,
}

impl Prediction {
    /// The block to append to the trace of `process`.
    pub fn block(&self, process: u32) -> Vec<u8> {
        let mut out = Vec::new();
        out.text(self.platform.as_bytes());
        out.number(self.migrating);
        out.number(self.staying);
        out.number(self.parts.len() as u64);
        for part in &self.parts {
            out.text(part.name.as_bytes());
            out.number(part.time);
        }
        out.number(self.sites.len() as u64);
        for site in &self.sites {
            out.text(site.caller.as_bytes());
            out.text(site.callee.as_bytes());
            out.text(site.verdict.as_bytes());
            for n in [
                site.calls,
                site.instructions,
                site.accesses,
                site.nxp,
                site.staying,
                site.crossing,
            ] {
                out.number(n);
            }
        }
        block(Kind::Prediction, process, &out)
    }

    pub(super) fn read(source: &mut Source<'_>) -> Result<Self, Reason> {
        let mut prediction = Self {
            platform: source.text()?,
            migrating: source.number()?,
            staying: source.number()?,
            ..Self::default()
        };
        for _ in 0..source.count()? {
            prediction.parts.push(Part {
                name: source.text()?,
                time: source.number()?,
            });
        }
        for _ in 0..source.count()? {
            prediction.sites.push(Site {
                caller: source.text()?,
                callee: source.text()?,
                verdict: source.text()?,
                calls: source.number()?,
                instructions: source.number()?,
                accesses: source.number()?,
                nxp: source.number()?,
                staying: source.number()?,
                crossing: source.number()?,
            });
        }
        Ok(prediction)
    }
}
