// What RV64 code executes, by class and by the blocks of the source that it stems from.
#pragma once

#include "Probes.h"
#include "flick_abi.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include <array>
#include <vector>

namespace flick {

/// Expected numbers, by class (crates/abi/src/timed.rs).
using NxpCounts = std::array<double, FLICK_TIMED_NXP_COUNTS>;

/// A block of machine code.
struct CodeBlock {
  NxpCounts Counts{};
  /// As LLVM estimates it, in comparison with others of the function.
  double Frequency = 0;
  /// As often as it has them: of an unrolled loop more than once.
  llvm::SmallVector<Probe, 2> Probes;
  /// Index of the block through which every way here leads; its own, at the entry.
  unsigned Dominator = 0;
  /// Innermost loop: an index of CodeFunction::Loops.
  unsigned Loop = 0;
};

struct CodeFunction {
  std::vector<CodeBlock> Blocks;
  /// Of each loop the one around it. The first is the function.
  std::vector<unsigned> Loops;
};

/// By the function's number.
using UnitCode = llvm::DenseMap<uint32_t, CodeFunction>;

/// A pass behind the code generator's own that counts each function's code.
llvm::MachineFunctionPass *createNxpCountPass(UnitCode &Code);

} // namespace flick
