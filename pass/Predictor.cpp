#include "Predictor.h"
#include "flick_abi.h"

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

} // namespace

Predictor::Predictor(Function &F, const LoopInfo &Loops, ScalarEvolution &Counts) : F(F) {
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
  Type *Long = Entry.getInt64Ty();
  // Of a thread that is not timed, or whose platform has no cost for wrong predictions: nothing is
  // read from it.
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
  History = Entry.CreateAlloca(Long, nullptr, "flick.history");
  Entry.CreateStore(Entry.CreateLoad(Long, shared(Entry)), History);
}

/// Where the history is while other functions run.
Value *Predictor::shared(IRBuilder<> &B) const {
  return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Table, FLICK_TIMED_BRANCH_HISTORY);
}

void Predictor::leave(Instruction &I) const {
  if (!History)
    return;
  IRBuilder<> B(&I);
  B.CreateStore(B.CreateLoad(B.getInt64Ty(), History), shared(B));
}

void Predictor::enter(Instruction &Call) const {
  // What a landing pad has is as it was at the call.
  if (!History || Call.isTerminator())
    return;
  IRBuilder<> B(Call.getNextNode());
  B.CreateStore(B.CreateLoad(B.getInt64Ty(), shared(B)), History);
}

Value *Predictor::byte(IRBuilder<> &B, Value *Offset) const {
  return B.CreateGEP(B.getInt8Ty(), Table, Offset);
}

void Predictor::ask(Instruction &I, function_ref<void(IRBuilder<> &, Value *)> Add) const {
  auto Found = Asked.find(&I);
  if (Found == Asked.end())
    return;
  IRBuilder<> B(&I);
  // Branches of a program share the table. A number that is odd keeps them apart.
  uint64_t Own = xxh3_64bits(F.getName()) + Found->second * 0x9e3779b97f4a7c15;
  Value *Before = B.CreateLoad(B.getInt64Ty(), History);
  Value *At = B.CreateAnd(B.CreateXor(B.CreateAnd(B.CreateShl(Before, FLICK_TIMED_BRANCH_SHIFT),
                                                  FLICK_TIMED_BRANCH_COUNT - 1),
                                      Own >> 40 & (FLICK_TIMED_BRANCH_COUNT - 1)),
                          FLICK_TIMED_BRANCH_COUNT - 1);
  if (auto *Branch = dyn_cast<BranchInst>(&I)) {
    Value *Taken = B.CreateZExt(Branch->getCondition(), B.getInt64Ty());
    direction(B, Taken, At, Add);
    B.CreateStore(B.CreateAdd(B.CreateShl(Before, 1), Taken), History);
    return;
  }
  Value *To;
  if (auto *Switch = dyn_cast<SwitchInst>(&I))
    To = B.CreateZExtOrTrunc(Switch->getCondition(), B.getInt64Ty());
  else {
    auto *Call = dyn_cast<CallBase>(&I);
    Value *Address = Call ? Call->getCalledOperand() : cast<IndirectBrInst>(I).getAddress();
    Value *Number = B.CreatePtrToInt(Address, B.getInt64Ty());
    To = B.CreateXor(B.CreateLShr(Number, 4), B.CreateLShr(Number, 12));
  }
  target(B, To, At, Add);
  B.CreateStore(B.CreateXor(B.CreateShl(Before, 2), To), History);
}

/// A counter of two bits, and the bit of the direction, choose the cost and the counter's next
/// state.
void Predictor::direction(IRBuilder<> &B, Value *Taken, Value *At,
                          function_ref<void(IRBuilder<> &, Value *)> Add) const {
  Value *Counter = byte(B, B.CreateAdd(At, B.getInt64(FLICK_TIMED_BRANCH_COUNTERS)));
  Value *State = B.CreateZExt(B.CreateLoad(B.getInt8Ty(), Counter), B.getInt64Ty());
  Value *Case = B.CreateAdd(State, B.CreateShl(Taken, 1));
  Add(B, B.CreateGEP(B.getInt64Ty(), Table, Case));
  Value *Next = byte(B, B.CreateAdd(Case, B.getInt64(FLICK_TIMED_BRANCH_NEXT)));
  B.CreateStore(B.CreateLoad(B.getInt8Ty(), Next), Counter);
}

/// The target is as the last time, or it is a wrong prediction.
void Predictor::target(IRBuilder<> &B, Value *To, Value *At,
                       function_ref<void(IRBuilder<> &, Value *)> Add) const {
  Value *Last = byte(B, B.CreateAdd(At, B.getInt64(FLICK_TIMED_BRANCH_TARGETS)));
  Value *Low = B.CreateTrunc(To, B.getInt8Ty());
  Value *Wrong = B.CreateICmpNE(B.CreateLoad(B.getInt8Ty(), Last), Low);
  // The second pair is that of a wrong prediction.
  Add(B, B.CreateGEP(B.getInt64Ty(), Table, B.CreateShl(B.CreateZExt(Wrong, B.getInt64Ty()), 1)));
  B.CreateStore(Low, Last);
}

} // namespace flick
