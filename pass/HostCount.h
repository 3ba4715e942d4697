// What a basic block of host code executes, by class (crates/abi/src/timed.rs).
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/BasicBlock.h"

#include <array>

namespace flick {

using BlockCounts = std::array<uint16_t, 12>;

BlockCounts countBlock(const llvm::BasicBlock &Block, const llvm::TargetTransformInfo &Costs);

} // namespace flick
