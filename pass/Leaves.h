// Functions that NxP code can have a copy of without ever calling the host in it.
#pragma once

#include "Plan.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace flick {

/// Few enough instructions for a copy that nobody asked for.
bool isSmall(const llvm::Function &F);

/// Those functions of M, among the ones that MayBeCopied allows, whose calls all lead to such
/// functions or to libnxp's. One that can call itself is none: its work may be any amount.
llvm::DenseSet<const llvm::Function *>
leavesOf(llvm::Module &M, llvm::function_ref<bool(llvm::Function &)> MayBeCopied);

} // namespace flick
