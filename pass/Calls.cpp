#include "Calls.h"

#include "flick_abi.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace flick {

bool isRealCall(const CallBase &Call) { return !Call.isInlineAsm() && !isa<IntrinsicInst>(Call); }

bool bindsLocally(const Function &F) {
  // The body of an inline function is good whatever the linker chooses for its name.
  return F.hasAvailableExternallyLinkage() || !F.isInterposable();
}

std::optional<SetjmpCall> setjmpOf(const CallBase &Call) {
  const Function *F = Call.getCalledFunction();
  if (!F || !F->isDeclaration() || !F->getReturnType()->isIntegerTy(32))
    return std::nullopt;
  StringRef Name = cName(*F);
  if (Call.arg_size() == 1 && (Name == "_setjmp" || Name == "setjmp"))
    return SetjmpCall{Name == "setjmp"};
  if (Call.arg_size() == 2 && (Name == "__sigsetjmp" || Name == "sigsetjmp"))
    return SetjmpCall{std::nullopt};
  return std::nullopt;
}

bool isHeapFunction(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases("malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", true)
      .Cases("posix_memalign", "valloc", "pvalloc", "reallocarray", "strdup", "strndup", true)
      .Default(false);
}

/// The call writes what does not match F's named parameters where the host has it.
static void checkVariadic(const CallBase &Call, const Function &F, CallPlan &Plan) {
  Plan.Sig = signatureOf(Call);
  bool Named = Call.arg_size() >= F.arg_size() && all_of(F.args(), [&](const Argument &A) {
                 return Call.getArgOperand(A.getArgNo())->getType() == A.getType();
               });
  if (Plan.Sig.covered() && !Named) {
    Plan.Sig.Text.clear();
    Plan.Sig.Why = "arguments that are not those of the definition";
  }
  if (!Plan.Sig.covered())
    Plan.Form = CallForm::Uncovered;
}

/// Arguments behind dots for a function that has none: on the host they are where it looks for
/// them, on the NxP floating ones are not.
static bool hasDotsForNone(const CallBase &Call, const Function &F) {
  const FunctionType &T = *Call.getFunctionType();
  return T.isVarArg() && Call.arg_size() > T.getNumParams() && !F.isVarArg();
}

/// libnxp has this function, or a way to the program's own, with results as NxP code has them.
static bool libraryReturnsFloat(const CallBase &Call, const GlobalValue &Callee) {
  static const StringSet<> Library{FLICK_NXP_LIBRARY};
  const FunctionType &T = *Call.getFunctionType();
  return T.getReturnType()->isFloatTy() && T.getNumParams() == 1 &&
         T.getParamType(0)->isFloatTy() && !T.isVarArg() && !Callee.hasLocalLinkage() &&
         Library.contains(cName(Callee));
}

CallPlan planCall(const CallBase &Call, function_ref<bool(const Function *)> HasNxpCode) {
  CallPlan Plan;
  auto *Target = Call.getCalledOperand()->stripPointerCasts();
  if (isa<Function>(Target) || isa<GlobalAlias>(Target) || isa<GlobalIFunc>(Target))
    Plan.Callee = cast<GlobalValue>(Target);
  if (auto *F = dyn_cast<Function>(Target))
    if (HasNxpCode(F) && bindsLocally(*F) && !hasDotsForNone(Call, *F)) {
      Plan.Form = CallForm::Local;
      if (F->isVarArg())
        checkVariadic(Call, *F, Plan);
      return Plan;
    }
  Plan.Sig = signatureOf(Call);
  bool Direct = Plan.Callee != nullptr;
  if (!Plan.Sig.covered())
    Plan.Form = CallForm::Uncovered;
  else if (Plan.Sig.PlainCall || (Direct && libraryReturnsFloat(Call, *Plan.Callee)))
    Plan.Form = Direct ? CallForm::Named : CallForm::Pointer;
  else
    Plan.Form = Direct ? CallForm::NamedStub : CallForm::PointerStub;
  return Plan;
}

} // namespace flick
