// Which saved registers a function keeps its values in. The translator has host registers for the
// first of them alone, so the values that are used most are to be there.
#pragma once

#include "llvm/Pass.h"

namespace flick {

/// Exchanges the saved integer registers of a function, so that s0, s1, s2, … are those that are
/// used most, weighted by how often each block is executed. For a place behind register allocation
/// and before the prologue is made.
llvm::FunctionPass *orderSavedRegisters();

} // namespace flick
