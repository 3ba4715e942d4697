// Globals that NxP code refers to, and who owns them.
#pragma once

#include "Plan.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"

namespace flick {

/// What the NxP half drops: a mark on a local variable or a member, which front ends spell as an
/// intrinsic call, and a profile's counter, which counts what the host runs.
bool isForHostOnly(const llvm::Instruction &I);
bool isCounter(const llvm::IntrinsicInst &I);

/// V's initialiser contains label addresses.
bool holdsLabels(const llvm::GlobalVariable &V);

/// A label address in C, or null.
const llvm::BlockAddress *labelIn(const llvm::Constant *C);

/// Every use of V is a load; nothing can have changed its initial value.
bool isNeverWritten(const llvm::GlobalVariable &V);

/// Fills Exported, Copied and ThreadLocals from the members of the plan.
void collectReferences(Plan &P);

} // namespace flick
