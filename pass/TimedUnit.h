// What the functions of a unit share when their code counts itself, and the record by which the
// runtime knows the unit (crates/abi/src/timed.rs, `TimedUnit`).
#pragma once

#include "Estimate.h"
#include "HostCount.h"
#include "Recurrences.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace flick {

/// A row of the table of flows (`flick_abi::timed::Flow`).
using Flow = std::array<uint32_t, 3>;

/// What a unit's functions share.
class TimedUnit {
public:
  explicit TimedUnit(llvm::Module &M);

  llvm::Module &M;
  llvm::LLVMContext &Context;
  llvm::Type *Long;
  /// Time on the host, and what the same would take on the NxP: added in one instruction.
  llvm::FixedVectorType *Pair;
  llvm::PointerType *Pointer;
  llvm::GlobalVariable *Clock, *Map, *Lines, *Costs, *Runs, *Level;
  llvm::MDNode *Unlikely;
  llvm::FunctionCallee Full, RecordAccess, Memory, Library, Atomic;

  /// Where the price of a block is, from now on.
  llvm::Value *costOf(const BlockCounts &Counts, const std::optional<NxpCounts> &OnNxp,
                      unsigned Chain, const Flow &Of);

  /// Adds the loops of a function: the number of the first one.
  unsigned addLoops(llvm::ArrayRef<ChainCounts> All);

  /// Where it is what a run of a loop saves (flick_abi::timed, `LoopRun`).
  llvm::Constant *runOf(unsigned Loop);

  /// In units of the tables of flows and loops.
  static uint32_t inUnits(double Count);

  /// The record of a callee; a null name for a call through a pointer.
  llvm::GlobalVariable *callee(llvm::StringRef Name);

  /// Registers a function, for profiles.
  void function(llvm::Function &F);

  /// Makes the record by which the runtime knows all blocks and functions.
  void finish();

private:
  llvm::SmallVector<llvm::Constant *> Blocks, NxpBlocks, Functions, Flows, Loops;
  llvm::SmallVector<uint16_t> Chains;
  llvm::StringMap<llvm::GlobalVariable *> Callees, Texts;

  /// A row of the table below: whether anything is known, and in what unit the counts are.
  llvm::Constant *nxpBlock(const std::optional<NxpCounts> &OnNxp);

  llvm::Constant *nxpBlocks() { return table(NxpBlocks, "flick.nxp.blocks"); }

  /// An array of pairs that the runtime fills, in the place of one that had no length.
  llvm::GlobalVariable *pairs(llvm::GlobalVariable *Before, size_t Count);

  /// Rows of one type; null for none.
  llvm::Constant *table(llvm::ArrayRef<llvm::Constant *> Rows, llvm::StringRef Name);

  llvm::Constant *chains();

  /// A C string; null for none.
  llvm::Constant *text(llvm::StringRef Text);

  /// Hardly ever called: it keeps the registers of its caller.
  llvm::FunctionCallee cold(llvm::StringRef Name, llvm::ArrayRef<llvm::Type *> Parameters);
};

} // namespace flick
