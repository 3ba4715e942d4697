// The longest chains of operations from an iteration of a loop to the next one (flick_abi::timed,
// `Loop`). They bound how fast a core that executes out of order runs a loop.
#pragma once

#include "HostCount.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace flick {

/// Operations by class; a part of one where the chain takes several iterations.
using ChainCounts = std::array<double, HostClasses>;

class Recurrences {
public:
  /// A function's loops, as they are now.
  Recurrences(const llvm::LoopInfo &Loops, const llvm::BlockFrequencyInfo &Frequencies,
              llvm::ScalarEvolution &Counts);

  /// A block's innermost loop: its number, plus 1; and how often the block runs in an iteration.
  struct Place {
    unsigned OfLoop = 0;
    double Each = 0;
  };
  Place of(const llvm::BasicBlock &Block) const { return Places.lookup(&Block); }

  /// By the number of the loop.
  llvm::ArrayRef<ChainCounts> chains() const { return Chains; }

  /// An innermost loop whose chain begins anew with each run, so that the core executes the end of
  /// a run and the beginning of the next one side by side.
  struct Run {
    /// It, and its number.
    llvm::Loop *Of;
    unsigned Number;
    /// Iterations of a run, less 1.
    const llvm::SCEV *Repeats;
  };
  llvm::ArrayRef<Run> runs() const { return Runs; }

private:
  llvm::DenseMap<const llvm::BasicBlock *, Place> Places;
  llvm::SmallVector<ChainCounts> Chains;
  llvm::SmallVector<Run> Runs;
};

} // namespace flick
