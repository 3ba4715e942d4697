#include "Predictor.h"
#include "flick_abi.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace flick {
namespace {

/// A branch that goes one way so much more often than the other costs nothing.
constexpr uint64_t Certain = 1000;

/// Whether it is known beforehand which way a branch goes nearly always.
bool isCertain(const BranchInst &Branch) {
  uint64_t Taken, Other;
  return extractBranchWeights(Branch, Taken, Other) &&
         (Taken / Certain > Other || Other / Certain > Taken);
}

/// Whether a branch ends a loop after a number of iterations that is known before it begins:
/// processors learn short ones, and long ones end seldom.
bool countsIterations(const BranchInst &Branch, const LoopInfo &Loops, ScalarEvolution &Counts) {
  const BasicBlock *Block = Branch.getParent();
  const Loop *L = Loops.getLoopFor(Block);
  return L && L->isLoopExiting(Block) &&
         !isa<SCEVCouldNotCompute>(Counts.getExitCount(L, const_cast<BasicBlock *>(Block)));
}

/// Whether a call's target is known at run time alone.
bool isIndirect(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isIndirectCall() && !Call->isInlineAsm();
}

#define FLICK_TEXT(X) #X
#define FLICK_NUMBER(X) FLICK_TEXT(X)
#define FLICK_HISTORY FLICK_NUMBER(FLICK_TIMED_BRANCH_HISTORY) "($3)"
#define FLICK_COUNTER FLICK_NUMBER(FLICK_TIMED_BRANCH_COUNTERS) "($3,$0)"
#define FLICK_TARGET FLICK_NUMBER(FLICK_TIMED_BRANCH_TARGETS) "($3,$0)"
// The branch's place in the table, from the history in $0 and its own number.
#define FLICK_PLACE                                                                                \
  "shll $$" FLICK_NUMBER(FLICK_TIMED_BRANCH_SHIFT) ", ${0:k}\n\t"                                  \
                                                   "xorl $5, ${0:k}\n\t"                           \
                                                   "andl $$" FLICK_NUMBER(                         \
                                                       FLICK_TIMED_BRANCH_MASK) ", ${0:k}\n\t"

// Operands: $0 and $1 are spare, $2 is what the function has spent, $3 the table, $4 the direction
// or the target, $5 the branch's own number.

/// A counter of two bits, and the direction, choose the cost and the counter's next state. The
/// direction becomes the lowest bit of the history.
constexpr char Direction[] =
    "movq " FLICK_HISTORY ", $0\n\t"
    "leaq ($4,$0,2), $1\n\t"
    "movq $1, " FLICK_HISTORY "\n\t" FLICK_PLACE "movzbl " FLICK_COUNTER ", ${1:k}\n\t"
    "leal (${1:k},${4:k},2), ${1:k}\n\t"
    "paddq ($3,$1,8), $2\n\t"
    "movzbl " FLICK_NUMBER(FLICK_TIMED_BRANCH_NEXT) "($3,$1), ${1:k}\n\t"
                                                    "movb ${1:b}, " FLICK_COUNTER;

/// The target is as the last time, or it is a wrong prediction, whose cost is the second pair.
constexpr char Target[] = "movq " FLICK_HISTORY ", $0\n\t"
                          "leaq (,$0,4), $1\n\t"
                          "xorq $4, $1\n\t"
                          "movq $1, " FLICK_HISTORY "\n\t" FLICK_PLACE "xorl ${1:k}, ${1:k}\n\t"
                          "cmpb ${4:b}, " FLICK_TARGET "\n\t"
                          "setne ${1:b}\n\t"
                          "shll $$4, ${1:k}\n\t"
                          "paddq ($3,$1), $2\n\t"
                          "movb ${4:b}, " FLICK_TARGET;

/// Whether code of the function may add pairs, which are in a register of SSE2.
bool hasPairs(const Function &F) {
  SmallVector<StringRef> Features;
  F.getFnAttribute("target-features").getValueAsString().split(Features, ',');
  return !is_contained(Features, "-sse") && !is_contained(Features, "-sse2");
}

} // namespace

Predictor::Predictor(Function &F, const LoopInfo &Loops, ScalarEvolution &Counts) : F(F) {
  if (!hasPairs(F))
    return;
  for (BasicBlock &Block : F)
    for (Instruction &I : Block) {
      auto *Branch = dyn_cast<BranchInst>(&I);
      bool OfBranch = Branch && Branch->isConditional() && !isCertain(*Branch) &&
                      !isa<Constant>(Branch->getCondition()) &&
                      !countsIterations(*Branch, Loops, Counts);
      if (OfBranch || isa<SwitchInst, IndirectBrInst>(I) || isIndirect(I))
        Asked.try_emplace(&I, Asked.size());
    }
}

void Predictor::begin(IRBuilder<> &Entry) {
  if (Asked.empty())
    return;
  Module &M = *F.getParent();
  // Of a thread that is not timed, or whose platform has no cost for wrong predictions: all costs
  // in it are 0.
  auto *Own = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_BRANCHES, Entry.getPtrTy()));
  Own->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
  // Libflick has it since 1.10: an older one refuses the program before it looks at it.
  Own->setLinkage(GlobalValue::ExternalWeakLinkage);
  auto *Bytes = ArrayType::get(Entry.getInt8Ty(), FLICK_TIMED_BRANCH_BYTES);
  GlobalVariable *None = M.getGlobalVariable("flick.no.branches", true);
  if (!None) {
    None = new GlobalVariable(M, Bytes, false, GlobalValue::PrivateLinkage,
                              ConstantAggregateZero::get(Bytes), "flick.no.branches");
    None->setAlignment(Align(64));
  }
  Value *Known = Entry.CreateLoad(Entry.getPtrTy(), Entry.CreateThreadLocalAddress(Own));
  Table = Entry.CreateSelect(Entry.CreateIsNull(Known), None, Known, "flick.branches");
}

Value *Predictor::ask(Instruction &I, Value *Spent) const {
  auto Found = Asked.find(&I);
  if (Found == Asked.end())
    return Spent;
  IRBuilder<> B(&I);
  // Branches of a program share the table. A number that is odd keeps them apart.
  uint64_t Own = xxh3_64bits(F.getName()) + Found->second * 0x9e3779b97f4a7c15;
  Value *Number = B.getInt32(Own >> 40 & (FLICK_TIMED_BRANCH_MASK));
  Value *What;
  if (auto *Branch = dyn_cast<BranchInst>(&I))
    What = B.CreateZExt(Branch->getCondition(), B.getInt64Ty());
  else if (auto *Switch = dyn_cast<SwitchInst>(&I))
    What = B.CreateZExtOrTrunc(Switch->getCondition(), B.getInt64Ty());
  else {
    auto *Call = dyn_cast<CallBase>(&I);
    Value *Address = Call ? Call->getCalledOperand() : cast<IndirectBrInst>(I).getAddress();
    Value *To = B.CreatePtrToInt(Address, B.getInt64Ty());
    What = B.CreateXor(B.CreateLShr(To, 4), B.CreateLShr(To, 12));
  }
  // One instruction to LLVM, because a large function has thousands of them: with some fifteen in
  // their place SQLite takes twice as long to compile.
  Type *Pair = Spent->getType(), *Long = B.getInt64Ty();
  auto *Type = FunctionType::get(StructType::get(Long, Long, Pair),
                                 {Table->getType(), Long, B.getInt32Ty(), Pair}, false);
  auto *Text = InlineAsm::get(Type, isa<BranchInst>(I) ? Direction : Target,
                              "=&r,=&r,=&x,r,r,i,2,~{memory},~{dirflag},~{fpsr},~{flags}", true);
  return B.CreateExtractValue(B.CreateCall(Text, {Table, What, Number, Spent}), 2);
}

} // namespace flick
