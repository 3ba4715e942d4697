#include "Hooks.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/EntryExitInstrumenter.h"

using namespace llvm;

namespace flick {

static constexpr StringLiteral Later[] = {"instrument-function-entry-inlined",
                                          "instrument-function-exit-inlined"};
static constexpr StringLiteral AddressAttribute = "flick-address";

static void instrument(Function &F, ModuleAnalysisManager &Analyses, bool PostInlining) {
  auto &Functions =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(*F.getParent()).getManager();
  EntryExitInstrumenterPass(PostInlining).run(F, Functions);
}

void addHooks(Module &M, ModuleAnalysisManager &Analyses) {
  for (Function &F : M)
    if (!F.isDeclaration())
      instrument(F, Analyses, /*PostInlining=*/false);
}

bool isForBoth(const Attribute &A) {
  return is_contained(Later, A.getKindAsString()) && A.getValueAsString().starts_with("__cyg_");
}

bool givesAddressLater(const Function &F) {
  return any_of(Later, [&](StringRef Key) {
    Attribute A = F.getFnAttribute(Key);
    return A.isValid() && isForBoth(A);
  });
}

void setGivenAddress(Function &HostClone, StringRef Gate) {
  HostClone.addFnAttr(AddressAttribute, Gate);
}

PreservedAnalyses HostCloneHooksPass::run(Module &M, ModuleAnalysisManager &Analyses) {
  bool Changed = false;
  for (Function &F : make_early_inc_range(M)) {
    Attribute Gate = F.getFnAttribute(AddressAttribute);
    if (!Gate.isValid() || F.isDeclaration())
      continue;
    SmallPtrSet<const User *, 8> Before(F.user_begin(), F.user_end());
    instrument(F, Analyses, /*PostInlining=*/true);
    // Where no call was left, the optimiser has dropped the declaration.
    FunctionCallee Its = M.getOrInsertFunction(Gate.getValueAsString(), F.getFunctionType());
    F.replaceUsesWithIf(Its.getCallee(),
                        [&](const Use &U) { return !Before.contains(U.getUser()); });
    F.removeFnAttr(AddressAttribute);
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace flick
