#include "References.h"
#include "Calls.h"
#include "Hooks.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace flick {

template <typename Predicate> static bool anyConstant(const Constant *C, Predicate Is) {
  SmallVector<const Constant *> Work{C};
  SmallPtrSet<const Constant *, 16> Seen;
  while (!Work.empty()) {
    C = Work.pop_back_val();
    if (!Seen.insert(C).second)
      continue;
    if (Is(C))
      return true;
    if (!isa<GlobalValue>(C) && !isa<BlockAddress>(C))
      for (const Use &Op : C->operands())
        Work.push_back(cast<Constant>(Op));
  }
  return false;
}

bool isForHostOnly(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && (Call->getIntrinsicID() == Intrinsic::var_annotation ||
                  Call->getIntrinsicID() == Intrinsic::ptr_annotation ||
                  Call->getIntrinsicID() == Intrinsic::annotation || isCounter(*Call));
}

bool isCounter(const IntrinsicInst &I) {
  return Intrinsic::getBaseName(I.getIntrinsicID()).starts_with("llvm.instrprof.");
}

bool holdsLabels(const GlobalVariable &V) { return labelIn(V.getInitializer()); }

const BlockAddress *labelIn(const Constant *C) {
  const BlockAddress *Found = nullptr;
  anyConstant(C, [&](const Constant *Part) { return (Found = dyn_cast<BlockAddress>(Part)); });
  return Found;
}

/// Loads, and copies out of it: nobody gets its address to see.
static bool onlyRead(const Value &Pointer) {
  return all_of(Pointer.uses(), [](const Use &U) {
    const User *By = U.getUser();
    if (isa<GEPOperator>(By))
      return onlyRead(*By);
    auto *Copy = dyn_cast<MemTransferInst>(By);
    return isa<LoadInst>(By) || (Copy && &U == &Copy->getRawSourceUse());
  });
}

bool isNeverWritten(const GlobalVariable &V) { return V.isConstant() || onlyRead(V); }

namespace {

class Collector {
public:
  explicit Collector(Plan &P) : P(P) {}

  void run() {
    for (auto &[F, Mine] : P.Functions) {
      if (Mine.Recorded && F->hasLocalLinkage())
        exportSymbol(F);
      if (givesAddressLater(*F))
        refer(F);
      for (Instruction &I : instructions(*F))
        visit(I);
      if (F->hasPersonalityFn())
        visit(F->getPersonalityFn());
    }
  }

private:
  Plan &P;
  SmallPtrSet<Constant *, 32> Seen;

  void visit(Instruction &I) {
    if (isForHostOnly(I) || isa<DbgInfoIntrinsic>(I))
      return;
    auto *Call = dyn_cast<CallBase>(&I);
    bool ByName = Call && Call->isInlineAsm();
    if (Call && isRealCall(*Call)) {
      auto HasNxpCode = [&](const Function *F) {
        return P.Functions.contains(const_cast<Function *>(F)) &&
               !P.isElsewhere(*Call->getFunction(), *F);
      };
      CallPlan Made = planCall(*Call, HasNxpCode);
      ByName = Made.Form == CallForm::Local || Made.Form == CallForm::Named;
      if (Made.Form == CallForm::Named)
        refer(Made.Callee);
    }
    for (Use &Op : I.operands())
      if (auto *C = dyn_cast<Constant>(Op))
        if (!(ByName && Call->isCallee(&Op)))
          visit(C);
  }

  void visit(Constant *C) {
    if (!Seen.insert(C).second || isa<BlockAddress>(C))
      return;
    if (auto *V = dyn_cast<GlobalVariable>(C))
      return visitVariable(V);
    if (auto *G = dyn_cast<GlobalValue>(C))
      return refer(G);
    for (Use &Op : C->operands())
      visit(cast<Constant>(Op));
  }

  void visitVariable(GlobalVariable *V) {
    if (V->isThreadLocal()) {
      P.ThreadLocals.insert(V);
      return;
    }
    if (!V->hasLocalLinkage())
      return refer(V);
    if (holdsLabels(*V)) {
      P.Copied.insert(V);
      visit(V->getInitializer());
      return;
    }
    auto Refers = [](const Constant *C) { return isa<GlobalValue>(C); };
    // Nobody can tell two copies apart, and the copy needs no relocation. Two copies of a string
    // literal can be told apart, by comparing their addresses.
    if (V->isConstant() && V->hasGlobalUnnamedAddr() && !V->hasSection() && onlyRead(*V) &&
        !anyConstant(V->getInitializer(), Refers))
      P.Copied.insert(V);
    else
      exportSymbol(V);
  }

  /// NxP code needs V's symbol on the host.
  void refer(GlobalValue *V) {
    auto *F = dyn_cast<Function>(V);
    if (V->hasLocalLinkage())
      exportSymbol(V);
    else if (V->hasLinkOnceLinkage() && !(F && P.isPlacedOnNxp(F))) // a gate stays
      P.NeededOnHost.insert(V);
  }

  void exportSymbol(GlobalValue *V) {
    if (P.Exported.contains(V))
      return;
    std::string Name = cName(*V).str();
    if (Name.empty())
      Name = "anonymous." + std::to_string(P.Exported.size());
    // An assembler keeps what begins with .L to itself.
    if (StringRef(Name).starts_with(".L"))
      Name.erase(0, 1);
    P.Exported[V] = Name + ".flick." + P.Hash;
  }
};

} // namespace

void collectReferences(Plan &P) { Collector(P).run(); }

} // namespace flick
