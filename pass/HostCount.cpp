#include "HostCount.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace flick {
namespace {

/// Indices of BlockCounts.
enum Class { Int, Mul, Div, Load, Store, Branch, Call, Fp, FpMul, FpDiv, Vector, Atomic };

Class classOfIntrinsic(const IntrinsicInst &I) {
  switch (I.getIntrinsicID()) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return FpMul;
  case Intrinsic::sqrt:
    return FpDiv;
  case Intrinsic::masked_load:
  case Intrinsic::masked_gather:
    return Load;
  case Intrinsic::masked_store:
  case Intrinsic::masked_scatter:
    return Store;
  default:
    return I.getType()->isFPOrFPVectorTy() ? Fp : Int;
  }
}

Class classOf(const Instruction &I) {
  if (isa<LoadInst>(I))
    return I.isAtomic() && cast<LoadInst>(I).getOrdering() == AtomicOrdering::SequentiallyConsistent
               ? Atomic
               : Load;
  if (isa<StoreInst>(I))
    return I.isAtomic() &&
                   cast<StoreInst>(I).getOrdering() == AtomicOrdering::SequentiallyConsistent
               ? Atomic
               : Store;
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    return Atomic;
  if (auto *Known = dyn_cast<IntrinsicInst>(&I))
    return I.getType()->isVectorTy() ? Vector : classOfIntrinsic(*Known);
  if (isa<CallBase, ReturnInst>(I))
    return Call;
  if (I.isTerminator())
    return Branch;
  if (I.getType()->isVectorTy())
    return Vector;
  switch (I.getOpcode()) {
  case Instruction::Mul:
    return Mul;
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return Div;
  case Instruction::FMul:
    return FpMul;
  case Instruction::FDiv:
  case Instruction::FRem:
    return FpDiv;
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FNeg:
  case Instruction::FCmp:
  case Instruction::FPTrunc:
  case Instruction::FPExt:
  case Instruction::FPToUI:
  case Instruction::FPToSI:
  case Instruction::UIToFP:
  case Instruction::SIToFP:
    return Fp;
  default:
    return Int;
  }
}

} // namespace

BlockCounts countBlock(const BasicBlock &Block, const TargetTransformInfo &Costs) {
  BlockCounts Counts{};
  for (const Instruction &I : Block) {
    if (I.isDebugOrPseudoInst() || isa<PHINode, UnreachableInst>(I))
      continue;
    Class C = classOf(I);
    int64_t Cost = 1;
    // What a call costs is its callee's business; a jump to the next block may be none.
    if (auto *Jump = dyn_cast<BranchInst>(&I))
      Cost = Jump->isConditional() || Block.getNextNode() != Jump->getSuccessor(0);
    else if (C != Call) {
      InstructionCost Known = Costs.getInstructionCost(&I, TargetTransformInfo::TCK_CodeSize);
      Cost = Known.isValid() ? *Known.getValue() : 1;
    }
    int64_t Sum = Counts[C] + std::max<int64_t>(Cost, 0);
    Counts[C] = uint16_t(std::min<int64_t>(Sum, UINT16_MAX));
  }
  return Counts;
}

} // namespace flick
