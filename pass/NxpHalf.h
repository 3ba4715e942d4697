// The RISC-V half, as a module of its own in the same context.
#pragma once

#include "NxpCount.h"
#include "NxpOptions.h"
#include "Plan.h"

#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace flick {

constexpr llvm::StringLiteral NxpTriple = "riscv64-unknown-linux-gnu";

/// Clones the members of the plan and turns them into NxP code, not yet optimised.
std::unique_ptr<llvm::Module> makeNxpHalf(const Plan &P, llvm::OptimizationLevel Level);

// Its steps, for functions of the cloned module:

/// Replaces what means something else on RV64: inline assembly, `va_copy`, fused multiply-add,
/// library intrinsics, annotations.
void lowerBody(llvm::Function &F);

/// Replaces addresses of thread-locals by calls of the accessors that NameOf gives.
void lowerThreadLocals(llvm::Module &N,
                       llvm::function_ref<std::string(llvm::GlobalVariable &)> NameOf);

/// Makes every call that may leave the unit by `__flick_call_*` or a stub; adds the stubs.
/// SymbolOf gives the symbol of a callee for other units.
void rewriteCalls(llvm::Module &N, const llvm::SetVector<llvm::Function *> &NxpCode,
                  llvm::function_ref<std::string(const llvm::GlobalValue &)> SymbolOf);

/// Gives functions and calls types by which RV64's convention suits the crossing; lowers
/// `va_start`.
void adoptConvention(llvm::Module &N);

/// Removes the attributes of x86-64 and adds none of RISC-V: the target machine has them.
void cleanAttributes(llvm::Module &N);

/// Optimises and compiles to a relocatable RV64 ELF.
llvm::Expected<std::string> compileNxp(llvm::Module &N, const NxpOptions &Options);

/// Compiles as far, and counts the code.
llvm::Error countNxp(llvm::Module &N, const NxpOptions &Options, UnitCode &Code);

} // namespace flick
