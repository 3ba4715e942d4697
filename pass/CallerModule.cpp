#include "CallerModule.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace flick {

/// dlsym(3): RTLD_NEXT; dlopen(3): the caller's search path; and the caller's namespace.
static bool asksForCaller(const Function &F) {
  return F.isDeclaration() && !F.isVarArg() &&
         StringSwitch<bool>(cName(F))
             .Cases("dlsym", "dlvsym", "dlopen", "dlmopen", "dl_iterate_phdr", true)
             .Default(false);
}

static Function *makeCaller(Function &F) {
  Module &M = *F.getParent();
  auto *Caller =
      Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage, cName(F) + ".caller", M);
  Caller->setCallingConv(F.getCallingConv());
  Caller->addFnAttr(Attribute::NoInline);
  // Constructors that dlopen runs may throw.
  Caller->setUWTableKind(UWTableKind::Default);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "", Caller));
  SmallVector<Value *> Arguments(make_pointer_range(Caller->args()));
  CallInst *Call = B.CreateCall(&F, Arguments);
  Call->setCallingConv(F.getCallingConv());
  Call->setTailCallKind(CallInst::TCK_NoTail);
  if (Call->getType()->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Call);
  return Caller;
}

void callFromModule(Plan &P) {
  DenseMap<Function *, Function *> Callers;
  for (auto &[F, Mine] : P.Functions)
    for (Instruction &I : instructions(*F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee || !asksForCaller(*Callee))
        continue;
      Function *&Caller = Callers[Callee];
      if (!Caller)
        Caller = makeCaller(*Callee);
      Call->setCalledFunction(Caller);
    }
}

} // namespace flick
