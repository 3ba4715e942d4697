// Globals that NxP code refers to, and who owns them.
#pragma once

#include "Plan.h"

#include "llvm/IR/Constants.h"

namespace flick {

/// A mark on a local variable or a member, which front ends spell as an intrinsic call.
bool isAnnotation(const llvm::Instruction &I);

/// V's initialiser contains label addresses.
bool holdsLabels(const llvm::GlobalVariable &V);

/// A label address in C, or null.
const llvm::BlockAddress *labelIn(const llvm::Constant *C);

/// Every use of V is a load; nothing can have changed its initial value.
bool isNeverWritten(const llvm::GlobalVariable &V);

/// Fills Exported, Copied and ThreadLocals from the members of the plan.
void collectReferences(Plan &P);

} // namespace flick
