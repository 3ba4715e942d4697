#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <array>

namespace flick {

/// Where the addresses of a function's accesses come from: the places of the loads that have given
/// them, as libflick's model of an out-of-order core needs it (`flick_abi::timed::ACCESS`).
class Sources {
public:
  explicit Sources(llvm::Function &F);

  /// The place of a load; 0 for other instructions.
  unsigned place(const llvm::Instruction *I) const { return Places.lookup(I); }

  /// The places that an address comes from, 0 for none.
  struct Given {
    std::array<unsigned, 2> Places{};
    /// It comes from the one that was executed last, and not from both.
    bool Either = false;
  };
  Given of(const llvm::Value *Address) const;

  /// How many loads of the block have an address that the same load has given, an execution before.
  unsigned chains(const llvm::BasicBlock &Block) const;

private:
  llvm::DenseMap<const llvm::Instruction *, unsigned> Places;
  /// By load: the loads that its address comes from.
  llvm::DenseMap<const llvm::Instruction *, llvm::SmallVector<const llvm::Instruction *, 2>> From;

  bool isChain(const llvm::Instruction &Load) const;
};

} // namespace flick
