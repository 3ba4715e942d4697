#include "Predictor.h"
#include "flick_abi.h"

#include "llvm/ADT/StringExtras.h"
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

/// The code in front of a branch. Operands: $0 and $1 are rax and rcx, $2 is what the function has
/// spent, $3 the table in rdi, $4 the direction or the target in rdx, $5 the branch's own number.
std::string code(bool OfTarget) {
  auto Table = [](unsigned Offset) { return std::to_string(Offset) + "(%rdi)"; };
  auto AtPlace = [](unsigned Offset) { return std::to_string(Offset) + "(%rdi,%rax)"; };
  auto Number = [](unsigned N) { return "$$" + std::to_string(N); };
  std::string History = Table(FLICK_TIMED_BRANCH_HISTORY);
  SmallVector<std::string> Lines = {
      // Without a table nothing is predicted.
      "testq %rdi, %rdi",
      "je 1f",
      "movq " + History + ", %rax",
      // The direction becomes the lowest bit of the history.
      OfTarget ? "leaq (,%rax,4), %rcx" : "leaq (%rdx,%rax,2), %rcx",
      OfTarget ? "xorq %rdx, %rcx" : "",
      "movq %rcx, " + History,
      // The place: the history before, and the branch's number.
      "shll " + Number(FLICK_TIMED_BRANCH_SHIFT) + ", %eax",
      "xorl $5, %eax",
      "andl " + Number(FLICK_TIMED_BRANCH_MASK) + ", %eax",
  };
  if (OfTarget)
    // The target is the last one of the place.
    Lines.push_back("cmpb %dl, " + AtPlace(FLICK_TIMED_BRANCH_TARGETS));
  else
    // The counter of the place is sure of the direction.
    Lines.append({"movzbl " + AtPlace(FLICK_TIMED_BRANCH_COUNTERS) + ", %ecx", "addl %edx, %ecx",
                  "testb $$15, %cl"});
  // Else the runtime looks at longer histories, and says what that costs.
  // It sees some of those that are sure, too.
  if (!OfTarget)
    Lines.append({"jne 2f", "decq " + Table(FLICK_TIMED_BRANCH_REST)});
  unsigned Far = OfTarget ? FLICK_TIMED_BRANCH_FAR_TARGET : FLICK_TIMED_BRANCH_FAR;
  Lines.append({OfTarget ? "je 1f" : "jne 1f\n2:", "movl $5, %ecx", "call *" + Table(Far),
                "paddq (%rdi,%rcx), $2"});
  return join(Lines, "\n\t") + "\n1:";
}

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
  // Null for a thread that is not timed, or whose platform has no cost for wrong predictions.
  auto *Own = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_BRANCHES, Entry.getPtrTy()));
  Own->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
  // Libflick has it since 1.10: an older one refuses the program before it looks at it.
  Own->setLinkage(GlobalValue::ExternalWeakLinkage);
  Table = Entry.CreateLoad(Entry.getPtrTy(), Entry.CreateThreadLocalAddress(Own), "flick.branches");
  // The code calls in the midst of the function.
  F.addFnAttr(Attribute::NoRedZone);
}

Value *Predictor::ask(Instruction &I, Value *Spent) const {
  auto Found = Asked.find(&I);
  if (Found == Asked.end())
    return Spent;
  IRBuilder<> B(&I);
  // Branches of a program share the table. A number that is odd keeps them apart.
  uint64_t Own = xxh3_64bits(F.getName()) + Found->second * 0x9e3779b97f4a7c15;
  Value *Number = B.getInt32(uint32_t(Own >> 32));
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
  auto *Text =
      InlineAsm::get(Type, code(!isa<BranchInst>(I)),
                     "=&{ax},=&{cx},=&x,{di},{dx},i,2,~{memory},~{dirflag},~{fpsr},~{flags}", true);
  return B.CreateExtractValue(B.CreateCall(Text, {Table, What, Number, Spent}), 2);
}

} // namespace flick
