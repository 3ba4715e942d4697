// The branch predictor that host code asks about its own branches (crates/abi/src/timed.rs,
// `BRANCHES`): a branch that it gets wrong costs what the platform says.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace flick {

class Predictor {
public:
  /// The branches of a function, as it is now.
  Predictor(llvm::Function &F, const llvm::LoopInfo &Loops, llvm::ScalarEvolution &Counts);

  /// Finds the thread's table, at the function's entry, if any branch is asked about.
  void begin(llvm::IRBuilder<> &Entry);

  /// Asks about the branch, in front of it, if it is one of those. `Spent` is the pair that the
  /// function has spent; the result is that with the cost.
  llvm::Value *ask(llvm::Instruction &I, llvm::Value *Spent) const;

  /// Whether the branch is asked about.
  bool asks(const llvm::Instruction &I) const { return Asked.contains(&I); }

private:
  llvm::Function &F;
  /// By branch: its number.
  llvm::DenseMap<const llvm::Instruction *, uint64_t> Asked;
  llvm::Value *Table = nullptr;
};

} // namespace flick
