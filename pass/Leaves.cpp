#include "Leaves.h"
#include "Calls.h"
#include "flick_abi.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace flick {

constexpr unsigned LeafInstructions = 40;

bool isSmall(const Function &F) {
  unsigned Count = 0;
  for (const Instruction &I : instructions(F))
    if (!isa<DbgInfoIntrinsic>(I) && !I.isLifetimeStartOrEnd() && ++Count > LeafInstructions)
      return false;
  return true;
}

/// The functions of this unit that F calls; none if it calls something else that may be the host's.
static std::optional<SetVector<Function *>> calleesOf(Function &F) {
  static const StringSet<> Library{FLICK_NXP_LIBRARY};
  SetVector<Function *> Out;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !isRealCall(*Call))
      continue;
    auto *Callee = dyn_cast<Function>(Call->getCalledOperand()->stripPointerCasts());
    if (!Callee || (Callee->isDeclaration() && !Library.contains(cName(*Callee))))
      return std::nullopt;
    if (!Callee->isDeclaration())
      Out.insert(Callee);
  }
  return Out;
}

DenseSet<const Function *> leavesOf(Module &M, function_ref<bool(Function &)> MayBeCopied) {
  DenseMap<const Function *, unsigned> Open; // callees that are no leaves yet
  DenseMap<const Function *, SmallVector<Function *>> Callers;
  SmallVector<Function *> Found;
  for (Function &F : M) {
    if (F.isDeclaration() || !MayBeCopied(F))
      continue;
    auto Callees = calleesOf(F);
    if (!Callees)
      continue;
    for (Function *Callee : *Callees)
      Callers[Callee].push_back(&F);
    if (Callees->empty())
      Found.push_back(&F);
    Open[&F] = Callees->size();
  }
  DenseSet<const Function *> Leaves;
  while (!Found.empty()) {
    const Function *F = Found.pop_back_val();
    Leaves.insert(F);
    for (Function *Caller : Callers.lookup(F))
      if (--Open[Caller] == 0)
        Found.push_back(Caller);
  }
  return Leaves;
}

} // namespace flick
