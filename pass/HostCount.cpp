#include "HostCount.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

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

/// What a product or quotient becomes.
struct Parts {
  unsigned Int, Mul, Div;
};

/// A product by a constant that is a power of two, or a sum or difference of two, becomes shifts
/// and an addition. A quotient by a constant becomes a product and shifts, one by a power of two
/// shifts only.
Parts partsOf(const Instruction &I) {
  const APInt *By;
  bool Constant = match(I.getOperand(1), m_APInt(By));
  if (I.getOpcode() == Instruction::Mul) {
    if (Constant && By->isPowerOf2())
      return {1, 0, 0};
    if (Constant && (By->popcount() == 2 || (*By + 1).isPowerOf2()))
      return {2, 0, 0};
    return {0, 1, 0};
  }
  if (!Constant)
    return {0, 0, 1};
  bool Remainder = I.getOpcode() == Instruction::URem || I.getOpcode() == Instruction::SRem;
  bool Signed = I.getOpcode() == Instruction::SDiv || I.getOpcode() == Instruction::SRem;
  if (By->abs().isPowerOf2())
    return {Signed ? 4U : 1U, 0, 0};
  return {Remainder ? 3U : 2U, Remainder ? 2U : 1U, 0};
}

} // namespace

BlockCounts countBlock(const BasicBlock &Block, const TargetTransformInfo &Costs) {
  BlockCounts Counts{};
  for (const Instruction &I : Block) {
    if (I.isDebugOrPseudoInst() || isa<PHINode, UnreachableInst>(I))
      continue;
    Class C = classOf(I);
    auto Add = [&](Class To, int64_t Count) {
      int64_t Sum = Counts[To] + std::max<int64_t>(Count, 0);
      Counts[To] = uint16_t(std::min<int64_t>(Sum, UINT16_MAX));
    };
    if (C == Div || (C == Mul && I.getOpcode() == Instruction::Mul)) {
      Parts All = partsOf(I);
      Add(Int, All.Int);
      Add(Mul, All.Mul);
      Add(Div, All.Div);
      continue;
    }
    int64_t Cost = 1;
    // What a call costs is its callee's business; a jump to the next block may be none. Of what
    // takes long the cost model says just that, and the platform how long.
    if (auto *Jump = dyn_cast<BranchInst>(&I))
      Cost = Jump->isConditional() || Block.getNextNode() != Jump->getSuccessor(0);
    else if (C != Call && C != FpDiv) {
      InstructionCost Known = Costs.getInstructionCost(&I, TargetTransformInfo::TCK_CodeSize);
      Cost = Known.isValid() ? *Known.getValue() : 1;
    }
    Add(C, Cost);
  }
  return Counts;
}

} // namespace flick
