// What the functions of a unit would take on the NxP: a build with -flick-timed compiles all that
// could be placed for RV64, too, and counts that code (docs/timing.md, "Advice").
#pragma once

#include "NxpCount.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"

namespace flick {

/// Keeps nothing of the unit but the counts. Its functions have numbers, and are as the front end
/// made them. Nothing is counted where there is no RV64 code.
UnitCode estimateNxp(llvm::Module &M, llvm::OptimizationLevel Level);

/// What a function of host code would take on the NxP, by the blocks of the source that it
/// executes there.
class Estimate {
public:
  /// Function: as host code is now, behind the optimiser, with its probes.
  Estimate(const UnitCode &Code, const llvm::Function &F);

  /// Of an execution of the block there; nothing where the function has no RV64 code.
  std::optional<NxpCounts> of(const llvm::BasicBlock &Block);

private:
  const UnitCode &Code;
  std::optional<uint32_t> Number;
  /// The host code's probes, and the functions that they are of.
  llvm::DenseMap<Probe, unsigned> Counted;
  llvm::DenseSet<uint32_t> Functions;
  /// By function of RV64 code.
  llvm::DenseMap<uint32_t, llvm::DenseMap<Probe, NxpCounts>> Known;

  const llvm::DenseMap<Probe, NxpCounts> &costsIn(uint32_t Function);
};

} // namespace flick
