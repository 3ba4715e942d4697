// What -flick-timed adds to host code: it counts itself and records its accesses to NxP-local
// memory (docs/timing.md).
#pragma once

#include "Estimate.h"

#include "llvm/IR/PassManager.h"
#include <memory>

namespace flick {

/// Whether the option is given.
bool hostCodeIsTimed();

/// A function attribute: the code of the error that says why the NxP cannot have it.
inline constexpr llvm::StringLiteral RefusedAttribute = "flick-refused";

/// Runs behind the optimiser, so that what counts is what is executed. Does nothing without the
/// option.
class HostTimePass : public llvm::PassInfoMixin<HostTimePass> {
public:
  /// Code: of the same unit on the NxP.
  explicit HostTimePass(std::shared_ptr<UnitCode> Code) : Code(std::move(Code)) {}
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);

private:
  std::shared_ptr<UnitCode> Code;
};

} // namespace flick
