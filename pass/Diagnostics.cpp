#include "Diagnostics.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace flick {

static std::string textOf(const Refusal &R) {
  return "[" + std::string(R.Code) + "] " + R.What + ": " + R.Why + "; " + R.Help;
}

void report(const Function &F, const Refusal &R) {
  std::string Text = textOf(R);
  LLVMContext &Ctx = F.getContext();
  if (const auto *Call = dyn_cast_or_null<CallBase>(R.At))
    if (Call->isInlineAsm() && Call->getMetadata("srcloc")) {
      Ctx.diagnose(DiagnosticInfoInlineAsm(*Call, Text));
      return;
    }
  // Without a location clang finds the definition of the named function by itself.
  DiagnosticLocation At;
  if (R.At && R.At->getDebugLoc())
    At = DiagnosticLocation(R.At->getDebugLoc());
  Ctx.diagnose(DiagnosticInfoUnsupported(F, Text, At));
}

void report(Module &M, const SourcePlace &Place, const Twine &Message) {
  if (Place.Line == 0)
    return report(M, Message);
  LLVMContext &Ctx = M.getContext();
  DIFile *File = DIFile::get(Ctx, Place.File, "");
  DISubprogram *At =
      DISubprogram::getDistinct(Ctx, File, "", "", File, Place.Line, nullptr, Place.Line, nullptr,
                                0, 0, DINode::FlagZero, DISubprogram::SPFlagZero, nullptr);
  // The diagnostic wants a function, if only to look for a place that we already have.
  auto *Carrier = Function::Create(FunctionType::get(Type::getVoidTy(Ctx), false),
                                   GlobalValue::ExternalLinkage, "__flick_diagnostic", M);
  Ctx.diagnose(DiagnosticInfoUnsupported(*Carrier, Message, DiagnosticLocation(At)));
  Carrier->eraseFromParent();
}

void report(Module &M, const Twine &Message) {
  M.getContext().diagnose(DiagnosticInfoInlineAsm(Message));
}

} // namespace flick
