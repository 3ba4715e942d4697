#include "OverlappedRuns.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace flick {

/// What it may cost to count the iterations of a run, as LLVM counts that.
constexpr unsigned Budget = 32;

/// More iterations than that are as good as these: no window is so large.
constexpr uint64_t Most = 1 << 20;

OverlappedRuns::OverlappedRuns(TimedUnit &U, ArrayRef<Recurrences::Run> Runs, unsigned FirstLoop,
                               ScalarEvolution &Counts, const TargetTransformInfo &Costs)
    : U(U) {
  SCEVExpander Expander(Counts, U.M.getDataLayout(), "flick.repeats");
  for (const Recurrences::Run &Of : Runs) {
    // Passes of the end of the pipeline leave loops without a block of their own before them.
    BasicBlock *Predecessor = Of.Of->getLoopPredecessor();
    Type *Whole = Of.Repeats->getType();
    if (!Predecessor || !isa<BranchInst>(Predecessor->getTerminator()) || !Whole->isIntegerTy() ||
        Counts.getTypeSizeInBits(Whole) > 64)
      continue;
    Instruction *Before = Predecessor->getTerminator();
    if (Expander.isSafeToExpandAt(Of.Repeats, Before) &&
        !Expander.isHighCostExpansion(Of.Repeats, Of.Of, Budget, &Costs, Before))
      All.push_back({Before, Of.Of->getHeader(), Expander.expandCodeFor(Of.Repeats, Whole, Before),
                     U.runOf(FirstLoop + Of.Number)});
  }
}

void OverlappedRuns::charge(AllocaInst *Spent) const {
  for (const Run &Of : All) {
    IRBuilder<> B(SplitEdge(Of.Before->getParent(), Of.Header)->getTerminator());
    auto Field = [&](unsigned Number) {
      Value *At = B.CreateConstInBoundsGEP1_64(U.Long, Of.Saved, Number);
      return B.CreateAlignedLoad(U.Long, At, Align(8));
    };
    auto Least = [&](Value *X, Value *Y) { return B.CreateBinaryIntrinsic(Intrinsic::umin, X, Y); };
    // The runtime may have written none.
    Value *Window = B.CreateOr(Field(1), 1);
    Value *Repeats = B.CreateZExt(Of.Repeats, U.Long);
    Value *All = B.CreateAdd(Least(Repeats, B.getInt64(Most)), B.getInt64(1));
    Value *Few = B.CreateUDiv(B.CreateMul(All, Window), B.CreateAdd(All, Window));
    Value *Many = Least(B.CreateLShr(All, 1), Window);
    Value *Beside = B.CreateSelect(B.CreateICmpULT(All, Window), Few, Many);
    Value *Time = Least(B.CreateMul(Beside, Field(2)), B.CreateMul(All, Field(0)));
    Value *Saved = B.CreateInsertElement(ConstantAggregateZero::get(U.Pair), Time, uint64_t(0));
    B.CreateStore(B.CreateSub(B.CreateLoad(U.Pair, Spent), Saved), Spent);
  }
}

} // namespace flick
