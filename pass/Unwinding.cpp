#include "Unwinding.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace flick {
namespace {

using Blocks = SmallPtrSet<BasicBlock *, 32>;

Blocks liveBlocks(Function &F) {
  Blocks Out{&F.getEntryBlock()};
  SmallVector<BasicBlock *> Work{&F.getEntryBlock()};
  while (!Work.empty()) {
    Instruction *End = Work.pop_back_val()->getTerminator();
    auto *Invoke = dyn_cast<InvokeInst>(End);
    for (BasicBlock *Next : successors(End))
      if (!(Invoke && Next == Invoke->getUnwindDest()) && Out.insert(Next).second)
        Work.push_back(Next);
  }
  return Out;
}

StringRef calleeName(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  auto *F = Call ? Call->getCalledFunction() : nullptr;
  return F ? cName(*F) : "";
}

/// Does not return, and leaves the exception alone or ends the program because of it.
bool passesOn(const Instruction *I) {
  return I && StringSwitch<bool>(calleeName(*I))
                  .Cases("__cxa_rethrow", "_Unwind_Resume", "_ZSt9terminatev", true)
                  .Cases("__clang_call_terminate", "__cxa_call_terminate", true)
                  .Case("__cxa_call_unexpected", true)
                  .Default(false);
}

class Handler {
public:
  Handler(LandingPadInst &Pad, const Blocks &Live) : Pad(Pad), Live(Live) {}

  std::optional<Refusal> check() {
    bool Typed = false;
    for (unsigned I = 0; I < Pad.getNumClauses(); ++I) {
      Constant *Clause = Pad.getClause(I);
      Typed |= Pad.isCatch(I) ? !Clause->isNullValue()
                              : cast<ArrayType>(Clause->getType())->getNumElements() != 0;
    }
    bool Ends = endsTheException(); // looks for the place, too
    if (!Typed && Ends)
      return std::nullopt;
    return Refusal{
        "FLK0211", "a catch", "NxP code cannot catch exceptions yet",
        "catch in a host function that this one calls, or keep this function on the host",
        Begin ? Begin : &Pad};
  }

private:
  LandingPadInst &Pad;
  const Blocks &Live;
  const Instruction *Begin = nullptr;

  /// No way leads back from the landing pad to where the function goes on.
  bool endsTheException() {
    SmallVector<BasicBlock *> Work{Pad.getParent()};
    Blocks Seen{Pad.getParent()};
    bool Ends = true;
    while (!Work.empty()) {
      BasicBlock *Block = Work.pop_back_val();
      for (const Instruction &I : *Block)
        if (!Begin && calleeName(I) == "__cxa_begin_catch" && I.getDebugLoc())
          Begin = &I;
      Instruction *End = Block->getTerminator();
      if (isa<UnreachableInst>(End))
        Ends &= leadsToEnd(*Block);
      else if (isa<ReturnInst>(End) || Live.contains(Block))
        Ends = false;
      else
        for (BasicBlock *Next : successors(End))
          if (Seen.insert(Next).second)
            Work.push_back(Next);
    }
    return Ends;
  }

  /// Whether `unreachable` at Block's end stands behind something that ends the exception.
  bool leadsToEnd(BasicBlock &Block) const {
    if (const Instruction *Last = Block.getTerminator()->getPrevNonDebugInstruction())
      // C's landing pads for exceptions out of cleanups abort.
      return passesOn(Last) || (Block.isLandingPad() && calleeName(*Last) == "abort");
    return all_of(predecessors(&Block), [&](BasicBlock *Before) {
      return Live.contains(Before) || passesOn(Before->getTerminator());
    });
  }
};

} // namespace

std::vector<Instruction *> liveInstructions(Function &F) {
  std::vector<Instruction *> Out;
  bool All = !F.hasPersonalityFn();
  Blocks Live;
  if (!All)
    Live = liveBlocks(F);
  for (BasicBlock &Block : F)
    if (All || Live.contains(&Block))
      for (Instruction &I : Block)
        Out.push_back(&I);
  return Out;
}

void checkUnwinding(Function &F, ArrayRef<Instruction *> Code, std::vector<Refusal> &Out) {
  std::optional<Blocks> Live;
  SmallPtrSet<const LandingPadInst *, 8> Seen;
  for (Instruction *I : Code) {
    bool Throws = StringSwitch<bool>(calleeName(*I))
                      .Cases("__cxa_throw", "__cxa_rethrow", "_Unwind_RaiseException", true)
                      .Default(false);
    if (Throws)
      Out.push_back({"FLK0211", "a throw", "NxP code cannot throw exceptions yet",
                     "throw in a host function that this one calls, or keep this function on the "
                     "host",
                     I});
    else if (calleeName(*I) == "__cxa_begin_catch")
      Out.push_back({"FLK0211", "a part of exception handling",
                     "NxP code cannot catch exceptions yet", "keep this function on the host", I});
    auto *Invoke = dyn_cast<InvokeInst>(I);
    if (!Invoke)
      continue;
    auto *Pad = dyn_cast<LandingPadInst>(Invoke->getUnwindDest()->getFirstNonPHI());
    if (!Pad) {
      Out.push_back({"FLK0211", "exception handling", "its form is not that of Linux",
                     "keep this function on the host", I});
      continue;
    }
    if (!Live)
      Live = liveBlocks(F);
    if (Seen.insert(Pad).second)
      if (auto R = Handler(*Pad, *Live).check())
        Out.push_back(*R);
  }
}

void dropUnwinding(Function &F) {
  if (!F.hasPersonalityFn())
    return;
  bool Any = false;
  for (BasicBlock &Block : F)
    if (auto *Invoke = dyn_cast<InvokeInst>(Block.getTerminator())) {
      changeToCall(Invoke);
      Any = true;
    }
  if (Any)
    removeUnreachableBlocks(F);
  F.setPersonalityFn(nullptr);
}

} // namespace flick
