// Attributes of x86-64 and of instrumentation that the NxP half does not carry.
#include "Hooks.h"
#include "NxpHalf.h"
#include "Probes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace flick {

static bool survives(StringRef Key) {
  if (Key.starts_with("no-builtin"))
    return true;
  return StringSwitch<bool>(Key)
      .Cases("no-trapping-math", "denormal-fp-math", "denormal-fp-math-f32", true)
      .Cases("no-infs-fp-math", "no-nans-fp-math", "no-signed-zeros-fp-math", true)
      .Cases("alloc-family", "frame-pointer", "no-jump-tables", NumberAttribute, TileAttribute,
             true)
      .Default(false);
}

static AttributeList clean(LLVMContext &Ctx, const AttributeList &Old, unsigned Count,
                           bool Definition) {
  AttrBuilder Fn(Ctx, Old.getFnAttrs());
  for (const Attribute &A : Old.getFnAttrs())
    if (A.isStringAttribute() && !survives(A.getKindAsString()) && !isForBoth(A))
      Fn.removeAttribute(A.getKindAsString());
  for (auto Kind :
       {Attribute::StackProtect, Attribute::StackProtectReq, Attribute::StackProtectStrong,
        Attribute::SafeStack, Attribute::ShadowCallStack, Attribute::SanitizeAddress,
        Attribute::SanitizeThread, Attribute::SanitizeMemory, Attribute::SanitizeHWAddress,
        Attribute::SanitizeMemTag, Attribute::NoCfCheck, Attribute::NonLazyBind,
        Attribute::FnRetThunkExtern, Attribute::JumpTable, Attribute::StackAlignment})
    Fn.removeAttribute(Kind);
  AttrBuilder Ret(Ctx, Old.getRetAttrs());
  Ret.removeAttribute(Attribute::InReg);
  SmallVector<AttributeSet> Parameters;
  for (unsigned I = 0; I < Count; ++I) {
    AttrBuilder Parameter(Ctx, Old.getParamAttrs(I));
    Parameter.removeAttribute(Attribute::InReg);
    Parameter.removeAttribute(Attribute::StackAlignment);
    if (Definition) {
      // The caller may be host code, which extends to 32 bits at most.
      Parameter.removeAttribute(Attribute::SExt);
      Parameter.removeAttribute(Attribute::ZExt);
    }
    Parameters.push_back(AttributeSet::get(Ctx, Parameter));
  }
  return AttributeList::get(Ctx, AttributeSet::get(Ctx, Fn), AttributeSet::get(Ctx, Ret),
                            Parameters);
}

void cleanAttributes(Module &N) {
  LLVMContext &Ctx = N.getContext();
  for (Function &F : N) {
    if (F.isIntrinsic())
      continue;
    F.setAttributes(clean(Ctx, F.getAttributes(), F.arg_size(), !F.isDeclaration()));
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(Call))
        Call->setAttributes(clean(Ctx, Call->getAttributes(), Call->arg_size(), false));
  }
}

} // namespace flick
