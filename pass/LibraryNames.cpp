#include "LibraryNames.h"
#include "Plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/TargetParser/Triple.h"
#include <map>

using namespace llvm;

namespace flick {

const TargetLibraryInfoImpl &hostLibrary(const Module &M) {
  static std::map<std::string, TargetLibraryInfoImpl> Known;
  auto [It, New] = Known.try_emplace(M.getTargetTriple(), Triple(M.getTargetTriple()));
  return It->second;
}

bool isLibraryName(StringRef Name, const Module &M) {
  LibFunc Which;
  return hostLibrary(M).getLibFunc(Name, Which);
}

SmallVector<std::string, 1> libraryNames(const Function &F) {
  const Module &M = *F.getParent();
  SmallVector<std::string, 1> Out;
  auto Add = [&](const GlobalValue &V) {
    if (isLibraryName(cName(V), M))
      Out.push_back(cName(V).str());
  };
  Add(F);
  for (const GlobalAlias &A : M.aliases())
    if (A.getAliaseeObject() == &F)
      Add(A);
  return Out;
}

void guardFromItself(Function &F, ArrayRef<std::string> Names) {
  for (const std::string &Name : Names)
    F.addFnAttr("no-builtin-" + Name);
  // In these two LLVM makes none of the three out of loops.
  if (is_contained(Names, "memset") || is_contained(Names, "memcpy"))
    for (StringRef Builtin : {"no-builtin-memset", "no-builtin-memcpy", "no-builtin-memmove"})
      F.addFnAttr(Builtin);
}

void trustNoName(Function &Declaration) {
  // InferFunctionAttrs leaves alone what is not optimised. Nothing else reads this of a
  // declaration, and calls are still simplified by name, as clang does it for a definition.
  for (auto Kind : {Attribute::AlwaysInline, Attribute::InlineHint, Attribute::MinSize,
                    Attribute::OptimizeForSize, Attribute::OptimizeForDebugging})
    Declaration.removeFnAttr(Kind);
  Declaration.addFnAttr(Attribute::OptimizeNone);
  Declaration.addFnAttr(Attribute::NoInline);
}

static constexpr StringLiteral SymbolAttribute = "flick-symbol";

void nameLater(Function &F, StringRef Symbol) { F.addFnAttr(SymbolAttribute, Symbol); }

PreservedAnalyses LateNamesPass::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (Attribute Symbol = F.getFnAttribute(SymbolAttribute); Symbol.isValid()) {
      F.setName(Symbol.getValueAsString());
      F.removeFnAttr(SymbolAttribute);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace flick
