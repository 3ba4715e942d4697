// The branch predictor that host code asks about its own branches (crates/abi/src/timed.rs,
// `BRANCHES`): a branch that it gets wrong costs what the platform says.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace flick {

class Predictor {
public:
  /// The branches of a function, as it is now.
  Predictor(llvm::Function &F, const llvm::LoopInfo &Loops, llvm::ScalarEvolution &Counts);

  /// Makes the variables, at the function's entry; none if no branch is asked about.
  void begin(llvm::IRBuilder<> &Entry);

  /// Asks about the branch, in front of it, if it is one of those. The costs are pairs, of which
  /// `Add` adds the one at an address to what the function has spent.
  void ask(llvm::Instruction &I,
           llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> Add) const;

  /// Hands the history over to a callee or a caller, in front of an instruction.
  void leave(llvm::Instruction &I) const;

  /// Takes the history that a callee has left, behind a call.
  void enter(llvm::Instruction &Call) const;

  /// What becomes a register; null if no branch is asked about.
  llvm::AllocaInst *history() const { return History; }

private:
  llvm::Function &F;
  /// By branch: its number.
  llvm::DenseMap<const llvm::Instruction *, uint64_t> Asked;
  llvm::AllocaInst *History = nullptr;
  llvm::Value *Table = nullptr;

  void direction(llvm::IRBuilder<> &B, llvm::Value *Taken, llvm::Value *At,
                 llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> Add) const;
  void target(llvm::IRBuilder<> &B, llvm::Value *To, llvm::Value *At,
              llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> Add) const;
  llvm::Value *shared(llvm::IRBuilder<> &B) const;
  llvm::Value *byte(llvm::IRBuilder<> &B, llvm::Value *Offset) const;
};

} // namespace flick
