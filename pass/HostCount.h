// What a basic block of host code executes, by class (crates/abi/src/timed.rs).
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/BasicBlock.h"

#include <array>

namespace flick {

/// Indices of BlockCounts.
enum HostClass { Int, Mul, Div, Load, Store, Branch, Call, Fp, FpMul, FpDiv, Vector, Atomic };
constexpr unsigned HostClasses = Atomic + 1;

using BlockCounts = std::array<uint16_t, HostClasses>;

HostClass classOf(const llvm::Instruction &I);

/// What a product or quotient of integers becomes.
struct ProductParts {
  unsigned Int, Mul, Div;
};
ProductParts partsOf(const llvm::Instruction &I);

BlockCounts countBlock(const llvm::BasicBlock &Block, const llvm::TargetTransformInfo &Costs);

/// Operations that the core issues for a block: those of `countBlock`, where a comparison and its
/// branch, or a load and the only operation that uses it, are one.
unsigned countIssued(const llvm::BasicBlock &Block, const llvm::TargetTransformInfo &Costs);

/// Whether a product whose result is added at once is one instruction there.
bool hasFusedProducts(const llvm::Function &F);

} // namespace flick
