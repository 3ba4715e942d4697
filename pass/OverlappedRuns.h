// Runs of short loops that a core executes side by side: while it still waits for the chain of one
// run, its window has the first iterations of the next one.
#pragma once

#include "Recurrences.h"
#include "TimedUnit.h"

#include "llvm/Analysis/TargetTransformInfo.h"

namespace flick {

class OverlappedRuns {
public:
  /// Counts the iterations of the runs beforehand, where that takes few instructions. The
  /// function's blocks are as they were when its loops were found.
  OverlappedRuns(TimedUnit &U, llvm::ArrayRef<Recurrences::Run> Runs, unsigned FirstLoop,
                 llvm::ScalarEvolution &Counts, const llvm::TargetTransformInfo &Costs);

  /// Takes the time that each run saves from what the function has spent, before the run.
  void charge(llvm::AllocaInst *Spent) const;

private:
  struct Run {
    /// The last instruction before it, which may lead elsewhere, too; and the loop's first block.
    llvm::Instruction *Before;
    llvm::BasicBlock *Header;
    /// Iterations, less 1.
    llvm::Value *Repeats;
    /// Where its `LoopRun` is.
    llvm::Constant *Saved;
  };
  TimedUnit &U;
  llvm::SmallVector<Run> All;
};

} // namespace flick
