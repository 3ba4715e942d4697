//! Which instructions are translated together: those of one page that jumps and branches lead to from
//! the first one.
use flick_engine::fp;
use flick_riscv::{Insn, Op};

use crate::bus::PAGE;

/// Half-words of a page.
pub const SLOTS: usize = (PAGE / 2) as usize;
/// Instructions of a region at most. What is behind them becomes a region of its own.
const MOST: usize = 400;
/// Instructions of a block at most: one that does not fit into the slice is interpreted.
const LONGEST: usize = 48;

/// How execution goes on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// At the next one.
    Next,
    /// It is interpreted, and then the next one comes, if it can.
    Step,
    /// Somewhere else, or not at all.
    Leave,
    Branch,
    Jump,
    JumpToRegister,
}

/// How execution goes on behind `insn`.
pub fn flow(insn: Insn) -> Flow {
    let op = insn.op();
    let rm = insn.rm();
    match op {
        Op::Undecoded | Op::End | Op::Illegal | Op::Ecall | Op::Ebreak => Flow::Leave,
        Op::Mret | Op::Sret | Op::Wfi => Flow::Leave,
        Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => Flow::Branch,
        Op::Jal => Flow::Jump,
        Op::Jalr => Flow::JumpToRegister,
        Op::Nop | Op::Fence | Op::FenceI | Op::Pause => Flow::Next,
        _ if op.class().computes() => Flow::Next,
        Op::Lb | Op::Lh | Op::Lw | Op::Ld | Op::Lbu | Op::Lhu | Op::Lwu => Flow::Next,
        Op::Sb | Op::Sh | Op::Sw | Op::Sd | Op::Flw | Op::Fld | Op::Fsw | Op::Fsd => Flow::Next,
        Op::FaddS | Op::FaddD | Op::FsubS | Op::FsubD | Op::FmulS | Op::FmulD => dynamic(rm),
        Op::FdivS | Op::FdivD | Op::FsqrtS | Op::FsqrtD => dynamic(rm),
        Op::FmaddS | Op::FmaddD | Op::FmsubS | Op::FmsubD => fused(rm),
        Op::FnmaddS | Op::FnmaddD | Op::FnmsubS | Op::FnmsubD => fused(rm),
        Op::FcvtSD | Op::FcvtSW | Op::FcvtSL | Op::FcvtDL => dynamic(rm),
        // Exact in any mode.
        Op::FcvtDS | Op::FcvtDW | Op::FcvtDWu if rm <= fp::RMM => Flow::Next,
        Op::FcvtDS | Op::FcvtDW | Op::FcvtDWu => dynamic(rm),
        Op::FcvtWS | Op::FcvtWD | Op::FcvtLS | Op::FcvtLD if rm == fp::RTZ => Flow::Next,
        Op::FcvtWS | Op::FcvtWD | Op::FcvtLS | Op::FcvtLD => dynamic(rm),
        Op::FsgnjS | Op::FsgnjnS | Op::FsgnjxS => Flow::Next,
        Op::FsgnjD | Op::FsgnjnD | Op::FsgnjxD => Flow::Next,
        Op::FeqS | Op::FltS | Op::FleS | Op::FeqD | Op::FltD | Op::FleD => Flow::Next,
        Op::FmvXW | Op::FmvXD | Op::FmvWX | Op::FmvDX => Flow::Next,
        _ => Flow::Step,
    }
}

/// May a block begin behind `insn`?
pub fn ends_block(insn: Insn) -> bool {
    flow(insn) != Flow::Next
}

/// Of an instruction that rounds as fcsr says.
fn dynamic(rm: u32) -> Flow {
    match rm {
        fp::DYNAMIC => Flow::Next,
        _ => Flow::Step,
    }
}

fn fused(rm: u32) -> Flow {
    match std::is_x86_feature_detected!("fma") {
        true => dynamic(rm),
        false => Flow::Step,
    }
}

/// Where a jump or branch at `pc` leads.
pub fn target(pc: u64, insn: Insn) -> u64 {
    pc.wrapping_add(insn.imm()) & !1
}

/// A set of half-words of a page.
#[derive(Clone, Copy, Default)]
pub struct HalfWords([u64; SLOTS / 64]);

impl HalfWords {
    pub fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    pub fn has(&self, at: usize) -> bool {
        self.0[at / 64] & 1 << (at % 64) != 0
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(n, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(64 * n + bit)
            })
        })
    }
}

/// Instructions of a page that are translated together.
pub struct Region {
    /// The virtual address of the page.
    pub page: u64,
    /// Instructions may be at odd half-words. If not, jumps there raise exceptions.
    pub is_compressed: bool,
    /// By half-words; [`Insn::UNDECODED`]: not in the region.
    insns: Vec<Insn>,
    /// Half-words where blocks begin.
    pub starts: HalfWords,
}

impl Region {
    /// The region that begins at `pc`. `is_known`: there is a block for this half-word of the page.
    /// `decode` gives instructions that are in the page with all their bytes.
    pub fn find(
        pc: u64,
        is_known: impl Fn(usize) -> bool,
        mut decode: impl FnMut(u64) -> Option<Insn>,
    ) -> Self {
        let page = pc / PAGE * PAGE;
        let mut region = Self {
            page,
            is_compressed: true,
            insns: vec![Insn::UNDECODED; SLOTS],
            starts: HalfWords::default(),
        };
        let mut work = vec![pc];
        let mut room = MOST;
        while let Some(start) = work.pop() {
            let mut pc = start;
            let mut length = 0;
            region.start(pc, &is_known);
            while region.slot(pc).is_some_and(|at| !is_known(at)) {
                if region.insn(pc).is_some() {
                    // From here on it is in the region already.
                    region.start(pc, &is_known);
                    break;
                }
                let Some(insn) = decode(pc).filter(|_| room != 0) else {
                    break;
                };
                room -= 1;
                region.insns[(pc % PAGE / 2) as usize] = insn;
                let next = pc.wrapping_add(insn.len());
                length += 1;
                let flow = flow(insn);
                let target = target(pc, insn);
                if matches!(flow, Flow::Branch | Flow::Jump) && region.slot(target).is_some() {
                    work.push(target);
                }
                match flow {
                    Flow::Next if length < LONGEST => {}
                    Flow::Next | Flow::Step | Flow::Branch => {
                        region.start(next, &is_known);
                        length = 0;
                    }
                    Flow::Jump | Flow::JumpToRegister if insn.rd() != 0 => {
                        // A call returns.
                        work.push(next);
                        break;
                    }
                    Flow::Jump | Flow::JumpToRegister | Flow::Leave => break,
                }
                pc = next;
            }
        }
        region
    }

    /// The half-word at an address, if it is in the page.
    pub fn slot(&self, pc: u64) -> Option<usize> {
        (pc / PAGE * PAGE == self.page).then_some((pc % PAGE / 2) as usize)
    }

    fn start(&mut self, pc: u64, is_known: impl Fn(usize) -> bool) {
        if let Some(at) = self.slot(pc).filter(|&at| !is_known(at)) {
            self.starts.insert(at);
        }
    }

    /// The instruction at an address, if it is in the region.
    pub fn insn(&self, pc: u64) -> Option<Insn> {
        let insn = self.insns[self.slot(pc)?];
        (insn != Insn::UNDECODED).then_some(insn)
    }

    /// Can no instruction be at an address?
    pub fn is_misaligned(&self, target: u64) -> bool {
        !self.is_compressed && target & 2 != 0
    }

    /// Begins a block here?
    pub fn starts(&self, pc: u64) -> bool {
        self.slot(pc).is_some_and(|at| self.starts.has(at)) && self.insn(pc).is_some()
    }

    /// The half-words that the instructions have.
    pub fn half_words(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.insns.iter().enumerate();
        let all = all.filter(|(_, insn)| **insn != Insn::UNDECODED);
        all.flat_map(|(at, insn)| at..at + insn.len() as usize / 2)
    }
}
