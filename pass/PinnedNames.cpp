#include "PinnedNames.h"
#include "Plan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace flick {

PinnedNames::PinnedNames(Module &M) : AsmText(M.getModuleInlineAsm()) {
  SmallVector<GlobalValue *, 8> Found;
  collectUsedGlobalVariables(M, Found, /*CompilerUsed=*/false);
  collectUsedGlobalVariables(M, Found, /*CompilerUsed=*/true);
  Used.insert(Found.begin(), Found.end());
}

bool PinnedNames::contains(const GlobalValue &V) const {
  if (Used.contains(&V))
    return true;
  StringRef Name = cName(V), Asm = AsmText;
  auto Continues = [](char C) { return isAlnum(C) || C == '_' || C == '.' || C == '$'; };
  for (size_t At = Asm.find(Name); !Name.empty() && At != StringRef::npos;
       At = Asm.find(Name, At + 1))
    if ((At == 0 || !Continues(Asm[At - 1])) &&
        (At + Name.size() == Asm.size() || !Continues(Asm[At + Name.size()])))
      return true;
  return false;
}

} // namespace flick
