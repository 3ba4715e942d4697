#include "Aliases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace flick {

/// Native code goes through the symbol then, which another module may define.
static bool mayBeReplaced(const GlobalValue &V) { return V.isInterposable() || !V.isDSOLocal(); }

/// The alias and all it leads to by way of are this unit's, whatever is linked.
static bool isSettled(const GlobalAlias &A) {
  const GlobalValue *V = &A;
  SmallPtrSet<const GlobalValue *, 4> Seen;
  while (Seen.insert(V).second) {
    if (mayBeReplaced(*V))
      return false;
    const auto *Next = dyn_cast<GlobalAlias>(V);
    if (!Next)
      return true;
    const Constant *Aliasee = Next->getAliasee();
    V = dyn_cast<GlobalValue>(Aliasee->stripInBoundsConstantOffsets());
    if (!V)
      return false;
  }
  return false;
}

/// `llvm.used` and `llvm.compiler.used` mean the symbol.
static bool isKeepList(const User &U) {
  return any_of(U.users(), [](const User *List) {
    return isa<GlobalVariable>(List) && List->getName().starts_with("llvm.");
  });
}

bool resolveAliases(Module &M) {
  bool Changed = false;
  for (GlobalAlias &A : M.aliases()) {
    if (!isSettled(A))
      continue;
    A.replaceUsesWithIf(A.getAliasee(), [&](const Use &U) {
      if (isa<ConstantArray>(U.getUser()) && isKeepList(*U.getUser()))
        return false;
      return Changed = true;
    });
  }
  return Changed;
}

void hideIdentity(GlobalValue &V) {
  convertUsersOfConstantsToInstructions({&V}, nullptr, /*RemoveDeadConstants=*/true);
  Type *Pointer = V.getType();
  auto *Hide = InlineAsm::get(FunctionType::get(Pointer, {Pointer}, false), "", "=r,0", false);
  SmallVector<Use *> Uses;
  for (Use &U : V.uses())
    if (auto *I = dyn_cast<Instruction>(U.getUser())) {
      auto *Call = dyn_cast<CallBase>(I);
      if (!(Call && Call->isCallee(&U)) && !isa<LandingPadInst>(I))
        Uses.push_back(&U);
    }
  for (Use *U : Uses) {
    if (U->get() != &V)
      continue; // another edge of a phi, done with the first
    auto *I = cast<Instruction>(U->getUser());
    Instruction *Before = I;
    if (auto *Phi = dyn_cast<PHINode>(I))
      Before = Phi->getIncomingBlock(*U)->getTerminator();
    IRBuilder<> B(Before);
    CallInst *Hidden = B.CreateCall(Hide, {&V});
    Hidden->setDoesNotAccessMemory();
    Hidden->setDoesNotThrow();
    if (auto *Phi = dyn_cast<PHINode>(I))
      Phi->setIncomingValueForBlock(Phi->getIncomingBlock(*U), Hidden);
    else
      U->set(Hidden);
  }
}

} // namespace flick
