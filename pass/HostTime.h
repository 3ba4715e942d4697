// What -flick-timed adds to host code: it counts itself and tells of its accesses to NxP-local
// memory (docs/timing.md).
#pragma once

#include "llvm/IR/PassManager.h"

namespace flick {

/// Runs behind the optimiser, so that what counts is what is executed. Does nothing without the
/// option.
class HostTimePass : public llvm::PassInfoMixin<HostTimePass> {
public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

} // namespace flick
