// What LLVM knows of the C library by name, and what it must not do by a name that changes.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace flick {

/// LLVM's knowledge of the host's library, as clang has it: NxP code calls the same functions.
const llvm::TargetLibraryInfoImpl &hostLibrary(const llvm::Module &M);

bool isLibraryName(llvm::StringRef Name, const llvm::Module &M);

/// The names of F that LLVM knows: its own and those of its aliases.
llvm::SmallVector<std::string, 1> libraryNames(const llvm::Function &F);

/// Keeps the optimiser from making, out of F's body, calls of F. It goes by the function's name,
/// which does not do for a function that has another name while it is optimised.
void guardFromItself(llvm::Function &F, llvm::ArrayRef<std::string> Names);

/// Keeps the optimiser from believing that a declaration with a library function's name does what
/// that function does, where the program itself defines it.
void trustNoName(llvm::Function &Declaration);

/// F is Symbol for the linker, and has its own name as long as the optimiser may go by it.
void nameLater(llvm::Function &F, llvm::StringRef Symbol);

/// Carries out `nameLater`.
class LateNamesPass : public llvm::PassInfoMixin<LateNamesPass> {
public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

} // namespace flick
