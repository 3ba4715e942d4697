// Exceptions, as far as NxP code knows them: one that comes up to an NxP frame ends in
// `std::terminate` at the crossing, so that landing pads are dead code there.
#pragma once

#include "Plan.h"

#include "llvm/IR/Instruction.h"
#include <vector>

namespace flick {

/// The instructions of F that are reached without unwinding, in their order.
std::vector<llvm::Instruction *> liveInstructions(llvm::Function &F);

/// Refusals of what throws or catches. A handler that ends in terminate or throws on what it caught
/// is a cleanup: with or without it the exception ends the program at the crossing.
void checkUnwinding(llvm::Function &F, llvm::ArrayRef<llvm::Instruction *> Live,
                    std::vector<Refusal> &Out);

/// Removes landing pads and what only they reach.
void dropUnwinding(llvm::Function &F);

} // namespace flick
