// The calls of `-finstrument-functions` and its kin, which clang adds to LLVM's pipeline.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace flick {

/// Puts in the calls that come before inlining, so that both halves have them, and with a
/// function's one address.
void addHooks(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);

/// F will give its address to a hook, behind inlining.
bool givesAddressLater(const llvm::Function &F);

/// What a placed function's host clone gives as its address then.
void setGivenAddress(llvm::Function &HostClone, llvm::StringRef Gate);

/// Whether NxP code has the calls that this attribute asks for: `-pg` counts host code.
bool isForBoth(const llvm::Attribute &A);

/// Puts the later calls into host clones, before clang does so with the host clones' own addresses.
class HostCloneHooksPass : public llvm::PassInfoMixin<HostCloneHooksPass> {
public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);
};

} // namespace flick
