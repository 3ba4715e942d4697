#include "Calls.h"

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

bool isHeapFunction(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases("malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", true)
      .Cases("posix_memalign", "valloc", "pvalloc", "reallocarray", "strdup", "strndup", true)
      .Default(false);
}

CallPlan planCall(const CallBase &Call, function_ref<bool(const Function *)> HasNxpCode) {
  CallPlan Plan;
  auto *Target = Call.getCalledOperand()->stripPointerCasts();
  if (isa<Function>(Target) || isa<GlobalAlias>(Target) || isa<GlobalIFunc>(Target))
    Plan.Callee = cast<GlobalValue>(Target);
  if (auto *F = dyn_cast<Function>(Target))
    if (HasNxpCode(F) && bindsLocally(*F)) {
      Plan.Form = CallForm::Local;
      return Plan;
    }
  Plan.Sig = signatureOf(Call);
  bool Direct = Plan.Callee != nullptr;
  if (!Plan.Sig.covered())
    Plan.Form = CallForm::Uncovered;
  else if (Plan.Sig.PlainCall)
    Plan.Form = Direct ? CallForm::Named : CallForm::Pointer;
  else
    Plan.Form = Direct ? CallForm::NamedStub : CallForm::PointerStub;
  return Plan;
}

} // namespace flick
