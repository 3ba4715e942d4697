#include "Probes.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace flick {

void numberFunctions(Module &M) {
  uint32_t Next = 1;
  for (Function &F : M)
    if (!F.isDeclaration())
      F.addFnAttr(NumberAttribute, std::to_string(Next++));
}

std::optional<uint32_t> numberOf(const Function &F) {
  uint32_t Number;
  StringRef Text = F.getFnAttribute(NumberAttribute).getValueAsString();
  if (Text.empty() || Text.getAsInteger(10, Number))
    return std::nullopt;
  return Number;
}

void addProbes(Function &F) {
  std::optional<uint32_t> Number = numberOf(F);
  if (!Number)
    return;
  Function *Intrinsic = Intrinsic::getDeclaration(F.getParent(), Intrinsic::pseudoprobe);
  uint64_t Block = 0;
  for (BasicBlock &At : F) {
    auto Where = At.getFirstNonPHIOrDbgOrAlloca();
    Block += 1;
    if (Where == At.end() || Where->isEHPad())
      continue;
    IRBuilder<> B(&At, Where);
    // A call of a function with debug information has a place.
    if (DISubprogram *Source = F.getSubprogram())
      B.SetCurrentDebugLocation(DILocation::get(F.getContext(), 0, 0, Source));
    B.CreateCall(Intrinsic,
                 {B.getInt64(*Number), B.getInt64(Block), B.getInt32(0), B.getInt64(~0ULL)});
  }
}

Probe probeOf(uint64_t Guid, uint64_t Index) {
  return {static_cast<uint32_t>(Guid), static_cast<uint32_t>(Index)};
}

void dropProbes(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (isa<PseudoProbeInst>(I))
      I.eraseFromParent();
  F.removeFnAttr(NumberAttribute);
}

} // namespace flick
