// What a function may contain if it is to run on the NxP.
#include "Calls.h"
#include "Legality.h"
#include "References.h"
#include "flick_abi.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace flick {

static constexpr const char *KeepOnHost = "keep this function on the host";

static std::optional<Refusal> checkType(Type *T, bool Value) {
  if (T->isX86_FP80Ty() && Value)
    return Refusal{FLICK_CODE_LONG_DOUBLE, "a value of type long double",
                   "its 80-bit format exists only on x86-64",
                   "use double, or " + std::string(KeepOnHost)};
  if (T->isX86_MMXTy() || T->isX86_AMXTy())
    return Refusal{FLICK_CODE_X86_INTRINSIC, "an MMX or AMX value", "only x86-64 has it",
                   KeepOnHost};
  bool Bad = T->isFP128Ty() || T->isPPC_FP128Ty() || T->isTokenTy() || T->isTargetExtTy() ||
             isa<ScalableVectorType>(T) || (T->isPointerTy() && T->getPointerAddressSpace() != 0);
  if (Bad) {
    std::string Spelled;
    raw_string_ostream(Spelled) << *T;
    return Refusal{FLICK_CODE_NO_RV64_FORM, "a value of type " + Spelled,
                   "it has no form on the NxP", KeepOnHost};
  }
  for (Type *Part : T->subtypes())
    if (auto R = checkType(Part, Value))
      return R;
  return std::nullopt;
}

std::optional<Refusal> checkType(Type *T) { return checkType(T, true); }

namespace {

class BodyChecker {
public:
  explicit BodyChecker(Function &F) : F(F), Layout(F.getDataLayout()) {}

  std::vector<Refusal> run() {
    checkFunction();
    // What it consists of need not be refused one by one.
    if (F.isPresplitCoroutine())
      return std::move(Out);
    for (const Instruction &I : instructions(F))
      checkInstruction(I);
    return std::move(Out);
  }

private:
  Function &F;
  const DataLayout &Layout;
  std::vector<Refusal> Out;
  SmallPtrSet<Type *, 16> Seen;
  SmallPtrSet<Type *, 16> SeenObjects;
  SmallPtrSet<const Constant *, 16> SeenConstants;

  void add(const char *Code, std::string What, std::string Why, std::string Help = KeepOnHost,
           const Instruction *At = nullptr) {
    Out.push_back({Code, std::move(What), std::move(Why), std::move(Help), At});
  }

  void checkType(Type *T, const Instruction *At) {
    if (!Seen.insert(T).second)
      return;
    if (auto R = flick::checkType(T)) {
      R->At = At;
      Out.push_back(*R);
    }
  }

  /// What lies in memory: nothing computes with its members here, and where they are both sides
  /// know, long double (16 bytes, aligned so) included.
  void checkObject(Type *T, const Instruction *At) {
    if (!SeenObjects.insert(T).second)
      return;
    if (auto R = flick::checkType(T, !T->isAggregateType())) {
      R->At = At;
      Out.push_back(*R);
    }
  }

  void checkFunction() {
    if (F.getCallingConv() != CallingConv::C && F.getCallingConv() != CallingConv::X86_64_SysV &&
        F.getCallingConv() != CallingConv::Fast)
      add(FLICK_CODE_NO_RV64_FORM, "an x86-64 calling convention",
          "the NxP has no such convention");
    if (F.hasFnAttribute(Attribute::ReturnsTwice))
      add(FLICK_CODE_RETURNS_TWICE, "a definition that returns twice",
          "its second return cannot cross");
    if (F.isPresplitCoroutine())
      add(FLICK_CODE_NO_RV64_FORM, "a coroutine", "its frame is suspended and resumed by host code",
          "move the work between two suspensions into a function of its own and place that");
    for (const User *U : F.users())
      if (const auto *Call = dyn_cast<IntrinsicInst>(U);
          Call && Intrinsic::getBaseName(Call->getIntrinsicID()).starts_with("llvm.coro."))
        add(FLICK_CODE_NO_RV64_FORM, "a part of a coroutine",
            "its frame is suspended and resumed by host code");
    if (F.hasFnAttribute(Attribute::Naked))
      add(FLICK_CODE_NO_RV64_FORM, "a naked function", "its body is assembly");
    if (F.hasFnAttribute("no_caller_saved_registers"))
      add(FLICK_CODE_NO_RV64_FORM, "the attribute no_caller_saved_registers",
          "it speaks of x86-64 registers");
    if (!F.hasLocalLinkage() && isHeapFunction(cName(F)))
      add(FLICK_CODE_NO_RV64_FORM, "the definition of '" + cName(F).str() + "'",
          "Flick's runtime calls the program's allocator itself, also while it crosses");
    if (F.hasGC())
      add(FLICK_CODE_NO_RV64_FORM, "a garbage collector", "it has no form for the NxP");
    for (const User *U : F.users())
      if (isa<GlobalIFunc>(U))
        add(FLICK_CODE_NO_RV64_FORM, "the resolver of an ifunc",
            "the loader runs it before the program starts");
    for (const Argument &A : F.args()) {
      checkType(A.getType(), nullptr);
      if (A.hasByValAttr())
        checkType(A.getParamByValType(), nullptr);
    }
    checkType(F.getReturnType(), nullptr);
  }

  void checkConstant(const Constant *C, const Instruction *At) {
    if (!SeenConstants.insert(C).second)
      return;
    if (const auto *Label = dyn_cast<BlockAddress>(C)) {
      if (Label->getFunction() != &F)
        add(FLICK_CODE_NO_RV64_FORM, "the address of another function's label",
            "each side has labels of its own", KeepOnHost, At);
      return;
    }
    if (isa<DSOLocalEquivalent>(C) || isa<NoCFIValue>(C))
      add(FLICK_CODE_NO_RV64_FORM, "a control-flow-integrity reference",
          "it has no form for the NxP", KeepOnHost, At);
    if (const auto *Alias = dyn_cast<GlobalAlias>(C))
      if (Alias->isThreadLocal())
        add(FLICK_CODE_NO_RV64_FORM, "an alias of a thread-local variable", "it has no accessor",
            "use the variable itself, or " + std::string(KeepOnHost), At);
    if (const auto *V = dyn_cast<GlobalVariable>(C)) {
      if (V->hasInitializer() && holdsLabels(*V)) {
        if (!V->hasLocalLinkage() || !isNeverWritten(*V))
          add(FLICK_CODE_NO_RV64_FORM,
              "a table of label addresses that may be written or seen elsewhere",
              "each side needs its own copy of it",
              "make it static const, or " + std::string(KeepOnHost), At);
        else
          checkConstant(V->getInitializer(), At);
      }
      return;
    }
    if (isa<GlobalValue>(C))
      return;
    if (const auto *Gep = dyn_cast<GEPOperator>(C))
      checkObject(Gep->getSourceElementType(), At);
    for (const Use &Op : C->operands())
      if (const auto *Inner = dyn_cast<Constant>(Op))
        checkConstant(Inner, At);
  }

  void checkAtomic(const Instruction &I, Type *T, Align A) {
    uint64_t Size = Layout.getTypeStoreSize(T).getFixedValue();
    if (Size > 8 || A.value() < Size)
      add(FLICK_CODE_NO_RV64_FORM,
          "an atomic access of more than 64 bits or less than natural alignment", "RV64 has none",
          KeepOnHost, &I);
  }

  void checkCall(const CallBase &Call) {
    if (Call.hasFnAttr(Attribute::ReturnsTwice) && !setjmpOf(Call)) {
      std::string Name =
          Call.getCalledFunction() ? shownName(*Call.getCalledFunction()) : "a function";
      add(FLICK_CODE_RETURNS_TWICE, "a call of '" + Name + "'",
          "it returns twice, and the second time perhaps into a crossing that has ended",
          KeepOnHost, &Call);
    }
    if (Call.isInlineAsm()) {
      if (!nxpAssembly(Call))
        add(FLICK_CODE_INLINE_ASSEMBLY, "inline assembly",
            "the NxP does not run x86-64 instructions",
            "move it into a FLICK_HOST function, or " + std::string(KeepOnHost), &Call);
      return;
    }
    if (isa<IntrinsicInst>(Call)) {
      if (auto R = checkIntrinsic(Call))
        Out.push_back(*R);
      return;
    }
    if (Call.getNumOperandBundles() != 0)
      add(FLICK_CODE_NO_RV64_FORM, "a call with an operand bundle", "it has no form for the NxP",
          KeepOnHost, &Call);
    if (Call.getCallingConv() != CallingConv::C &&
        Call.getCallingConv() != CallingConv::X86_64_SysV &&
        Call.getCallingConv() != CallingConv::Fast)
      add(FLICK_CODE_NO_RV64_FORM, "a call with an x86-64 calling convention",
          "the NxP has no such convention", KeepOnHost, &Call);
    for (unsigned I = 0; I < Call.arg_size(); ++I)
      if (Call.isByValArgument(I))
        checkType(Call.getParamByValType(I), &Call);
  }

  void checkInstruction(const Instruction &I) {
    if (isForHostOnly(I))
      return;
    if (I.isEHPad() && !isa<LandingPadInst>(I))
      add(FLICK_CODE_UNWINDING_BY_HAND, "exception handling", "its form is not that of Linux",
          KeepOnHost, &I);
    checkType(I.getType(), &I);
    for (const Use &Op : I.operands()) {
      if (isa<MetadataAsValue>(Op) || isa<BasicBlock>(Op) || isa<InlineAsm>(Op))
        continue;
      checkType(Op->getType(), &I);
      if (const auto *C = dyn_cast<Constant>(Op))
        checkConstant(C, &I);
    }
    if (const auto *Gep = dyn_cast<GetElementPtrInst>(&I))
      checkObject(Gep->getSourceElementType(), &I);
    else if (const auto *Slot = dyn_cast<AllocaInst>(&I))
      checkObject(Slot->getAllocatedType(), &I);
    else if (const auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isAtomic())
      checkAtomic(I, Load->getType(), Load->getAlign());
    else if (const auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isAtomic())
      checkAtomic(I, Store->getValueOperand()->getType(), Store->getAlign());
    else if (const auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      checkAtomic(I, Rmw->getType(), Rmw->getAlign());
    else if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      checkAtomic(I, Swap->getNewValOperand()->getType(), Swap->getAlign());
    else if (isa<VAArgInst>(I))
      add(FLICK_CODE_NO_RV64_FORM, "a va_arg instruction", "the front end has not lowered it",
          KeepOnHost, &I);
    if (const auto *Call = dyn_cast<CallBase>(&I))
      checkCall(*Call);
  }
};

} // namespace

std::vector<Refusal> checkBody(Function &F) { return BodyChecker(F).run(); }

} // namespace flick
