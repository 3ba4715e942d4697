#include "HostCount.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace flick {
namespace {

HostClass classOfIntrinsic(const IntrinsicInst &I) {
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

} // namespace

/// A product by a constant that is a power of two, or a sum or difference of two, becomes shifts
/// and an addition. A quotient by a constant becomes a product and shifts, one by a power of two
/// shifts only.
ProductParts partsOf(const Instruction &I) {
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

HostClass classOf(const Instruction &I) {
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
  if (auto *Known = dyn_cast<IntrinsicInst>(&I)) {
    HostClass C = classOfIntrinsic(*Known);
    return I.getType()->isVectorTy() && C != FpDiv ? Vector : C;
  }
  if (isa<CallBase, ReturnInst>(I))
    return Call;
  if (I.isTerminator())
    return Branch;
  // A quotient of vectors takes as long as one of scalars, and more than other operations.
  if (I.getType()->isVectorTy() && I.getOpcode() != Instruction::FDiv)
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

namespace {

/// Calls `Add` with the classes of an instruction's operations, and their numbers.
template <typename Function>
void operationsOf(const Instruction &I, const TargetTransformInfo &Costs, Function Add) {
  HostClass C = classOf(I);
  if (C == Div || (C == Mul && I.getOpcode() == Instruction::Mul)) {
    ProductParts All = partsOf(I);
    Add(Int, All.Int);
    Add(Mul, All.Mul);
    Add(Div, All.Div);
    return;
  }
  auto *Known = dyn_cast<IntrinsicInst>(&I);
  if (Known && Known->getIntrinsicID() == Intrinsic::fmuladd && C == FpMul &&
      !hasFusedProducts(*I.getFunction())) {
    Add(FpMul, 1);
    Add(Fp, 1);
    return;
  }
  // What a call costs is its callee's business; a jump to the next block may be none. Of what
  // takes long the cost model says just that, and the platform how long.
  if (auto *Jump = dyn_cast<BranchInst>(&I)) {
    Add(C, Jump->isConditional() || I.getParent()->getNextNode() != Jump->getSuccessor(0));
    return;
  }
  if (C == Call || C == FpDiv) {
    Add(C, 1);
    return;
  }
  InstructionCost Cost = Costs.getInstructionCost(&I, TargetTransformInfo::TCK_CodeSize);
  Add(C, Cost.isValid() ? std::max<int64_t>(*Cost.getValue(), 0) : 1);
}

/// Instructions that are looked at between a load and the operation that may have it as an operand
/// in memory.
constexpr unsigned Farthest = 32;

/// Whether the load becomes an operand of the only instruction that uses it.
bool isOperandInMemory(const LoadInst &Load) {
  if (!Load.isSimple() || !Load.hasOneUse())
    return false;
  auto *User = cast<Instruction>(Load.user_back());
  if (User->getParent() != Load.getParent() || !isa<BinaryOperator, CmpInst>(User))
    return false;
  // It is the second operand, or they change places.
  if (User->getOperand(1) != &Load && !User->isCommutative() && !isa<CmpInst>(User))
    return false;
  bool Unaligned = Load.getType()->isVectorTy() && Load.getAlign() < Align(16);
  if (Unaligned &&
      !Load.getFunction()->getFnAttribute("target-features").getValueAsString().contains("+avx"))
    return false;
  const Instruction *Next = &Load;
  for (unsigned Count = 0; Count < Farthest; ++Count) {
    Next = Next->getNextNode();
    if (Next == User)
      return true;
    if (Next->mayWriteToMemory())
      return false;
  }
  return false;
}

/// Whether the comparison, or the `and` that it compares with zero, is one with a branch.
bool isOfBranch(const Instruction &I) {
  if (!I.hasOneUse())
    return false;
  auto *User = cast<Instruction>(I.user_back());
  if (User->getParent() != I.getParent())
    return false;
  if (isa<ICmpInst>(I))
    return isa<BranchInst>(User);
  return I.getOpcode() == Instruction::And && isa<ICmpInst>(User) &&
         match(User->getOperand(1), m_Zero()) && isOfBranch(*User);
}

bool isOperation(const Instruction &I) {
  return !I.isDebugOrPseudoInst() && !isa<PHINode, UnreachableInst>(I);
}

} // namespace

BlockCounts countBlock(const BasicBlock &Block, const TargetTransformInfo &Costs) {
  BlockCounts Counts{};
  for (const Instruction &I : Block)
    if (isOperation(I))
      operationsOf(I, Costs, [&](HostClass To, int64_t Count) {
        Counts[To] = uint16_t(std::min<int64_t>(Counts[To] + Count, UINT16_MAX));
      });
  return Counts;
}

unsigned countIssued(const BasicBlock &Block, const TargetTransformInfo &Costs) {
  int64_t Issued = 0;
  for (const Instruction &I : Block) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (isOperation(I) && !(Load && isOperandInMemory(*Load)) && !isOfBranch(I))
      operationsOf(I, Costs, [&](HostClass, int64_t Count) { Issued += Count; });
  }
  return unsigned(std::min<int64_t>(Issued, UINT32_MAX));
}

bool hasFusedProducts(const Function &F) {
  return F.getFnAttribute("target-features").getValueAsString().contains("+fma");
}

} // namespace flick
