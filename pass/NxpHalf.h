// The RISC-V half, as a module of its own in the same context.
#pragma once

#include "NxpCount.h"
#include "NxpOptions.h"
#include "Plan.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace flick {

constexpr llvm::StringLiteral NxpTriple = "riscv64-unknown-linux-gnu";

/// The function has a tile: calls of other units go to its gate.
constexpr llvm::StringLiteral TileAttribute = "flick-tile";

/// What a function of the NxP half is called for the linker.
struct NxpSymbols {
  /// Its gate's or host function's symbol.
  std::string Host;
  /// Its code's.
  std::string Code;
};

/// As long as it is optimised, functions have the names of the source, and calls are calls by them:
/// so LLVM finds what it knows of the C library, as in the host half. Afterwards `settle` makes of
/// it what the image link expects.
struct NxpHalf {
  std::unique_ptr<llvm::Module> N;
  /// By the functions' names in N.
  llvm::StringMap<NxpSymbols> Symbols;
  /// The host's library, whose functions N calls.
  const llvm::TargetLibraryInfoImpl &Library;
};

/// Clones the members of the plan, for the optimiser.
NxpHalf makeNxpHalf(const Plan &P, llvm::OptimizationLevel Level);

/// Gives symbols to functions, crossings to calls and RV64's form to what the optimiser left.
llvm::Error settle(NxpHalf &Half);

// Steps before the optimiser, for functions of the cloned module:

/// Replaces what the optimiser must not see in x86-64's form: inline assembly, `setjmp`,
/// `va_copy`, annotations.
void lowerBody(llvm::Function &F);

/// Replaces addresses of thread-locals by calls of the accessors that NameOf gives.
void lowerThreadLocals(llvm::Module &N,
                       llvm::function_ref<std::string(llvm::GlobalVariable &)> NameOf);

// Steps behind it:

/// Replaces intrinsics and instructions for which RV64 has none by calls of the C library's
/// functions, and multiplications with additions that must not be fused.
void lowerArithmetic(llvm::Function &F, const llvm::TargetLibraryInfoImpl &Library);

/// Makes every call that may leave the unit by `__flick_call_*` or a stub; adds the stubs.
/// SymbolOf gives the symbol of a callee for other units.
llvm::Error rewriteCalls(llvm::Module &N, const llvm::SetVector<llvm::Function *> &NxpCode,
                         llvm::function_ref<std::string(const llvm::GlobalValue &)> SymbolOf);

/// Gives functions and calls types by which RV64's convention suits the crossing; lowers
/// `va_start`. The functions that it changed.
llvm::SetVector<llvm::Function *> adoptConvention(llvm::Module &N);

/// Removes the attributes of x86-64 and adds none of RISC-V: the target machine has them.
void cleanAttributes(llvm::Module &N);

/// Optimises, settles and compiles to a relocatable RV64 ELF.
llvm::Expected<std::string> compileNxp(NxpHalf &Half, const NxpOptions &Options);

/// Removes declarations and variables that nothing uses.
void removeUnused(llvm::Module &N);

/// Compiles as far, and counts the code.
llvm::Error countNxp(NxpHalf &Half, const NxpOptions &Options, UnitCode &Code);

} // namespace flick
