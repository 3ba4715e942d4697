//! What blocks of host code cost on a core that executes out of order. A block takes as long as the unit of the
//! core that has the most to do. The blocks of a loop take as long as the longest chain from an iteration to the
//! next one, if that is longer: by as much each of them costs more. When the chain of a loop's run begins anew, the
//! core's window has the first iterations of a run while it still executes the run before.
use flick_abi::timed::{Block, FLOW_UNIT, Flow, HostClass, Loop, LoopRun};

use crate::platform;

/// Units of a core, which work side by side: each has operations of these classes.
const UNITS: [&[HostClass]; 7] = [
    &[HostClass::Int],
    &[HostClass::Mul, HostClass::Div],
    &[HostClass::Load],
    &[HostClass::Store],
    &[HostClass::Branch, HostClass::Call],
    &[HostClass::Fp, HostClass::FpMul, HostClass::Vector],
    &[HostClass::FpDiv],
];

/// A block without a chain.
fn apart(core: &platform::Flow, block: &Block, flow: &Flow) -> u64 {
    let of =
        |class: HostClass| u64::from(block.counts[class as usize]) * core.apart[class as usize];
    let units = UNITS.map(|unit| unit.iter().map(|&class| of(class)).sum());
    let issue = u64::from(flow.issued) * core.issue;
    // Nothing goes on beside an atomic operation.
    units.into_iter().fold(issue, u64::max) + of(HostClass::Atomic)
}

/// What a unit's code costs.
#[derive(Debug, PartialEq)]
pub struct Prices {
    /// Of each block, in femtoseconds.
    pub blocks: Vec<u64>,
    /// What runs of each loop save.
    pub runs: Vec<LoopRun>,
}

/// A loop, in an iteration of its own blocks.
#[derive(Clone, Copy, Default)]
struct Iteration {
    /// Femtoseconds if all blocks are executed side by side; and of the blocks alone that each iteration has.
    apart: f64,
    always: f64,
    /// Operations.
    issued: f64,
}

/// The prices of a unit's blocks and loops.
pub fn prices(core: &platform::Flow, blocks: &[Block], flows: &[Flow], loops: &[Loop]) -> Prices {
    let mut prices: Vec<u64> = blocks
        .iter()
        .zip(flows)
        .map(|(block, flow)| apart(core, block, flow))
        .collect();
    let mut iterations = vec![Iteration::default(); loops.len()];
    let number = |flow: &Flow| (flow.of_loop as usize).wrapping_sub(1);
    for (price, flow) in prices.iter().zip(flows) {
        if let Some(iteration) = iterations.get_mut(number(flow)) {
            let each = f64::from(flow.each) / f64::from(FLOW_UNIT);
            iteration.apart += *price as f64 * each;
            iteration.issued += f64::from(flow.issued) * each;
            if each >= 1.0 {
                iteration.always += *price as f64;
            }
        }
    }
    let chains: Vec<f64> = loops
        .iter()
        .map(|of| {
            let each = of.chain.iter().zip(core.chained);
            let chain: f64 = each.map(|(&n, cost)| f64::from(n) * cost as f64).sum();
            chain / f64::from(FLOW_UNIT)
        })
        .collect();
    let slower = |of: &Iteration, chain: f64| match of.apart > 0.0 {
        true => (chain / of.apart).max(1.0),
        false => 1.0,
    };
    for (price, flow) in prices.iter_mut().zip(flows) {
        if let Some(of) = iterations.get(number(flow)) {
            *price = (*price as f64 * slower(of, chains[number(flow)])).round() as u64;
        }
    }
    let runs = iterations.iter().zip(&chains).map(|(of, &chain)| LoopRun {
        // What an iteration has executed at least: the time of a run never gets less than that side by side.
        longer: (of.always * (slower(of, chain) - 1.0)) as i64,
        window: (core.window as f64 / of.issued.max(1.0)).max(1.0) as i64,
        chain: chain as i64,
        unused: 0,
    });
    Prices {
        blocks: prices,
        runs: runs.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::HOST_CLASSES;

    /// Four operations begin in 100; two loads and two additions of numbers, and a chain of them takes 400.
    fn core() -> platform::Flow {
        let mut apart = [25; HOST_CLASSES.len()];
        let mut chained = [100; HOST_CLASSES.len()];
        (
            apart[HostClass::Load as usize],
            apart[HostClass::Fp as usize],
        ) = (50, 50);
        apart[HostClass::Atomic as usize] = 1000;
        chained[HostClass::Fp as usize] = 400;
        platform::Flow {
            apart,
            chained,
            issue: 25,
            window: 100,
        }
    }

    fn block(counts: &[(HostClass, u16)]) -> Block {
        let mut block = Block::default();
        for &(class, count) in counts {
            block.counts[class as usize] = count;
        }
        block
    }

    fn flow(issued: u32, of_loop: u32, each: u32) -> Flow {
        Flow {
            issued,
            of_loop,
            each: each * FLOW_UNIT / 4,
        }
    }

    #[test]
    fn the_busiest_unit_is_the_price() {
        let loads = block(&[
            (HostClass::Load, 6),
            (HostClass::Fp, 3),
            (HostClass::Int, 1),
        ]);
        let price = |block, issued| prices(&core(), &[block], &[flow(issued, 0, 0)], &[]).blocks;
        assert_eq!(price(loads, 10), [300]);
        assert_eq!(price(loads, 20), [500]);
        let numbers = block(&[(HostClass::Fp, 4), (HostClass::Vector, 8)]);
        assert_eq!(price(numbers, 12), [400]);
        assert_eq!(price(block(&[(HostClass::Atomic, 1)]), 1), [1025]);
        assert_eq!(price(Block::default(), 0), [0]);
    }

    #[test]
    fn a_chain_makes_the_blocks_of_its_loop_slower() {
        let one = block(&[(HostClass::Fp, 1)]);
        // A header that runs once an iteration, one half of the times, and a block of another loop.
        let flows = [flow(4, 1, 4), flow(8, 1, 2), flow(4, 2, 4), flow(4, 0, 0)];
        let mut of = Loop::default();
        of.chain[HostClass::Fp as usize] = FLOW_UNIT;
        let found = prices(&core(), &[one; 4], &flows, &[of, Loop::default()]);
        let all = found.blocks;
        assert_eq!(all, [200, 400, 100, 100]);
        // It takes 400, and the iterations of the loop take that.
        assert_eq!(all[0] + all[1] / 2, 400);
        // An iteration has 8 operations, and its header alone is there each time.
        let run = |longer, window, chain| LoopRun {
            longer,
            window,
            chain,
            unused: 0,
        };
        assert_eq!(found.runs, [run(100, 12, 400), run(0, 25, 0)]);
        of.chain[HostClass::Fp as usize] = FLOW_UNIT / 4;
        let found = prices(&core(), &[one; 4], &flows, &[of, Loop::default()]);
        assert_eq!(found.blocks, [100, 200, 100, 100]);
        assert_eq!(found.runs, [run(0, 12, 100), run(0, 25, 0)]);
    }

    #[test]
    fn a_loop_that_is_not_there_changes_nothing() {
        let all = prices(
            &core(),
            &[block(&[(HostClass::Fp, 1)])],
            &[flow(1, 7, 4)],
            &[],
        );
        assert_eq!(all.blocks, [50]);
    }
}
