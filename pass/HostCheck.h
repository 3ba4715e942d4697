// What -flick-check-device adds to host code: the runtime records its accesses to memory.
#pragma once

#include "llvm/IR/PassManager.h"

namespace flick {

/// Runs behind the optimiser, so that accesses that it removes are not recorded. Does nothing
/// without the option.
class HostCheckPass : public llvm::PassInfoMixin<HostCheckPass> {
public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

} // namespace flick
