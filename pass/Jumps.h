// Where jumps through registers lead, for the translator. The code generator alone knows: which are
// jumps to labels, by tables of a switch, or tail calls, and which blocks are left of a program's.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Pass.h"
#include <map>
#include <vector>

namespace llvm {
class MCStreamer;
class MCSymbol;
} // namespace llvm

namespace flick {

/// The jumps of a function, together if they have the same targets, by the numbers of the blocks
/// that these are. A tail call has none.
struct JumpGroup {
  llvm::SmallVector<llvm::MCSymbol *> Targets, Jumps;
};
using FunctionJumps = std::map<std::vector<int>, JumpGroup>;

/// Gives each jump through a register, and what it leads to, a label. For the last pass before code
/// is emitted.
llvm::FunctionPass *markJumps(FunctionJumps &Jumps);

/// Writes the section FLICK_SEC_JUMPS. For the first pass behind the one that emits code.
llvm::FunctionPass *writeJumps(const FunctionJumps &Jumps, llvm::MCStreamer &Streamer);

} // namespace flick
