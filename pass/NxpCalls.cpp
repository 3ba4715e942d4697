// Calls that may leave the unit: `__flick_call_g`, and stubs that hand over a signature.
#include "Calls.h"
#include "NxpHalf.h"
#include "flick_abi.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace flick {
namespace {

class Rewriter {
public:
  Rewriter(Module &N, const SetVector<Function *> &NxpCode,
           function_ref<std::string(const GlobalValue &)> SymbolOf)
      : N(N), NxpCode(NxpCode), SymbolOf(SymbolOf) {}

  Error run() {
    SmallVector<CallBase *> Calls;
    for (Function *F : NxpCode)
      for (Instruction &I : instructions(*F))
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isRealCall(*Call))
          Calls.push_back(Call);
    for (CallBase *Call : Calls)
      if (Error E = rewrite(Call))
        return E;
    N.appendModuleInlineAsm(StubText);
    return Error::success();
  }

private:
  Module &N;
  const SetVector<Function *> &NxpCode;
  function_ref<std::string(const GlobalValue &)> SymbolOf;
  StringMap<Function *> Stubs;
  std::string StubText;

  Error rewrite(CallBase *Call) {
    CallPlan Made = planCall(
        *Call, [&](const Function *F) { return NxpCode.contains(const_cast<Function *>(F)); });
    switch (Made.Form) {
    case CallForm::Local:
      return Error::success();
    case CallForm::Named:
      Call->setCalledOperand(named(*Made.Callee, *Call));
      break;
    case CallForm::Pointer:
      break;
    case CallForm::NamedStub:
    case CallForm::PointerStub:
      Call = throughStub(Call, Made);
      break;
    case CallForm::Uncovered: // the legality check refuses those of the source
      return createStringError("[" FLICK_CODE_FAILED_TOOL "] the optimiser made a call of '" +
                               (Made.Callee ? cName(*Made.Callee) : "a pointer") +
                               "', and the crossing does not cover " + Made.Sig.Why);
    }
    withoutExtension(*Call);
    return Error::success();
  }

  /// Host code extends results to 32 bits at most, and leaves what it likes above those of 8
  /// and 16.
  template <typename Callable> static void withoutExtension(Callable &Called) {
    Called.removeRetAttr(Attribute::SExt);
    Called.removeRetAttr(Attribute::ZExt);
  }

  Function *named(GlobalValue &Callee, const CallBase &Call) {
    auto *F = dyn_cast<Function>(&Callee);
    std::string Symbol = SymbolOf(Callee);
    if (Symbol.empty()) // made by a lowering, not cloned
      Symbol = cName(Callee).str();
    bool Heap = F && F->isDeclaration() && isHeapFunction(Symbol);
    std::string Name = FLICK_CALL_PREFIX + (Heap ? FLICK_RT_HEAP_PREFIX + Symbol : Symbol);
    Function *Out = N.getFunction(Name);
    if (Out)
      return Out;
    Out = Function::Create(Call.getFunctionType(),
                           Callee.hasExternalWeakLinkage() ? GlobalValue::ExternalWeakLinkage
                                                           : GlobalValue::ExternalLinkage,
                           Name, N);
    if (F && F->getFunctionType() == Call.getFunctionType())
      Out->setAttributes(F->getAttributes());
    withoutExtension(*Out);
    return Out;
  }

  CallBase *throughStub(CallBase *Call, const CallPlan &Made) {
    LLVMContext &Ctx = N.getContext();
    FunctionType *Old = Call->getFunctionType();
    SmallVector<Type *> Types{PointerType::get(Ctx, 0)};
    append_range(Types, Old->params());
    SmallVector<Value *> Arguments{Call->getCalledOperand()};
    append_range(Arguments, Call->args());
    auto *Typed = FunctionType::get(Old->getReturnType(), Types, Old->isVarArg());
    Function *Stub = stub(Made.Sig.Text);
    CallBase *New;
    if (auto *Invoke = dyn_cast<InvokeInst>(Call)) {
      New = InvokeInst::Create(Typed, Stub, Invoke->getNormalDest(), Invoke->getUnwindDest(),
                               Arguments, "", Call->getIterator());
    } else {
      auto *Plain = CallInst::Create(Typed, Stub, Arguments, "", Call->getIterator());
      Plain->setTailCallKind(cast<CallInst>(Call)->getTailCallKind());
      New = Plain;
    }

    // A direct callee's own attributes count, too; the stub has none.
    AttributeList Mine = Call->getAttributes(), Theirs;
    if (auto *F = dyn_cast_or_null<Function>(Made.Callee); F && F->getFunctionType() == Old)
      Theirs = F->getAttributes();
    auto Merge = [&](AttributeSet A, AttributeSet B) { return A.addAttributes(Ctx, B); };
    AttributeSet Fn = Merge(Theirs.getFnAttrs(), Mine.getFnAttrs())
                          .removeAttribute(Ctx, Attribute::AllocSize); // it counts parameters
    AttrBuilder Nest(Ctx);
    Nest.addAttribute(Attribute::Nest);
    SmallVector<AttributeSet> Parameters{AttributeSet::get(Ctx, Nest)};
    for (unsigned I = 0; I < Call->arg_size(); ++I)
      Parameters.push_back(Merge(Theirs.getParamAttrs(I), Mine.getParamAttrs(I)));
    New->setAttributes(
        AttributeList::get(Ctx, Fn, Merge(Theirs.getRetAttrs(), Mine.getRetAttrs()), Parameters));
    New->setCallingConv(CallingConv::C);
    New->copyMetadata(*Call);
    if (isa<FPMathOperator>(New))
      New->copyFastMathFlags(Call);
    New->takeName(Call);
    Call->replaceAllUsesWith(New);
    Call->eraseFromParent();
    return New;
  }

  /// t2 holds the target; the stub adds the signature in t1 and leaves the image.
  Function *stub(StringRef Signature) {
    Function *&Out = Stubs[Signature];
    if (Out)
      return Out;
    unsigned Index = Stubs.size() - 1;
    std::string Name = FLICK_STUB_PREFIX + std::to_string(Index);
    Out = Function::Create(FunctionType::get(Type::getVoidTy(N.getContext()), false),
                           GlobalValue::ExternalLinkage, Name, N);
    Out->setDSOLocal(true);
    StubText += formatv("\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n"
                        ".Lflick_signature{0}:\n\t.asciz\t\"{1}\"\n"
                        "\t.text\n\t.p2align\t1\n\t.type\t{2},@function\n"
                        "{2}:\n"
                        "\t.cfi_startproc\n"
                        ".Lflick_at{0}:\n"
                        "\tauipc\tt1, %pcrel_hi(.Lflick_signature{0})\n"
                        "\taddi\tt1, t1, %pcrel_lo(.Lflick_at{0})\n"
                        ".Lflick_exit{0}:\n"
                        "\tauipc\tt3, %got_pcrel_hi({3})\n"
                        "\tld\tt3, %pcrel_lo(.Lflick_exit{0})(t3)\n"
                        "\tjr\tt3\n"
                        "\t.cfi_endproc\n"
                        "\t.size\t{2}, .-{2}\n",
                        Index, Signature, Name, FLICK_RT_XCALL)
                    .str();
    return Out;
  }
};

} // namespace

Error rewriteCalls(Module &N, const SetVector<Function *> &NxpCode,
                   function_ref<std::string(const GlobalValue &)> SymbolOf) {
  return Rewriter(N, NxpCode, SymbolOf).run();
}

} // namespace flick
