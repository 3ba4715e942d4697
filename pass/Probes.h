// Which block of the source an instruction stems from, kept through the optimiser and the code
// generator: LLVM's pseudo probes. They stand in the blocks of a function before any optimisation,
// make no code, and are copied, merged and dropped with the code around them.
#pragma once

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>
#include <tuple>

namespace flick {

/// A block of a function of this unit, before any optimisation.
struct Probe {
  uint32_t Function, Block;

  bool operator==(const Probe &Other) const {
    return Function == Other.Function && Block == Other.Block;
  }
};

/// A function attribute: the function's number.
inline constexpr llvm::StringLiteral NumberAttribute = "flick-number";

/// Gives each function that is defined here a number, which stays whatever its name becomes.
void numberFunctions(llvm::Module &M);
std::optional<uint32_t> numberOf(const llvm::Function &F);

/// Puts a probe into each block of the function.
void addProbes(llvm::Function &F);

/// The probe that an intrinsic's operands describe.
Probe probeOf(uint64_t Guid, uint64_t Index);

/// Removes what the functions above have added.
void dropProbes(llvm::Function &F);

} // namespace flick

namespace llvm {
template <> struct DenseMapInfo<flick::Probe> {
  static flick::Probe getEmptyKey() { return {~0u, ~0u}; }
  static flick::Probe getTombstoneKey() { return {~0u, ~1u}; }
  static unsigned getHashValue(const flick::Probe &P) {
    return DenseMapInfo<uint64_t>::getHashValue(uint64_t(P.Function) << 32 | P.Block);
  }
  static bool isEqual(const flick::Probe &A, const flick::Probe &B) { return A == B; }
};
} // namespace llvm
