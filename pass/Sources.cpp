#include "Sources.h"
#include "flick_abi.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace flick {
namespace {

/// The last place stands for whatever was loaded last: libflick writes it.
constexpr unsigned Latest = FLICK_TIMED_LATEST;

/// Values that are looked at for an address. What is farther away has come back long before.
constexpr unsigned Farthest = 32;

/// The nearest loads that a value is computed from. `Chosen`: there is a choice of values on the
/// way.
SmallVector<const Instruction *, 2> nearestLoads(const Value *Address, bool *Chosen = nullptr) {
  SmallVector<const Value *> Next{Address};
  SmallPtrSet<const Value *, 16> Seen;
  SmallVector<const Instruction *, 2> Loads;
  for (size_t I = 0; I < Next.size() && I < Farthest; ++I) {
    auto *Made = dyn_cast<Instruction>(Next[I]);
    if (!Made || !Seen.insert(Made).second)
      continue;
    if (isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(Made)) {
      Loads.push_back(Made);
      continue;
    }
    if (isa<CallBase>(Made))
      continue;
    if (Chosen && isa<PHINode, SelectInst>(Made))
      *Chosen = true;
    for (const Value *Operand : Made->operands())
      Next.push_back(Operand);
  }
  return Loads;
}

} // namespace

Sources::Sources(Function &F) {
  unsigned Count = 0;
  for (const Instruction &I : instructions(F))
    if (isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(I))
      Places[&I] = 1 + Count++ % (Latest - 1);
  for (const Instruction &I : instructions(F))
    if (isa<LoadInst>(I))
      From[&I] = nearestLoads(getLoadStorePointerOperand(&I));
}

Sources::Given Sources::of(const Value *Address) const {
  Given Result;
  SmallVector<const Instruction *, 2> Loads = nearestLoads(Address, &Result.Either);
  for (auto [Load, Place] : zip(Loads, Result.Places))
    Place = place(Load);
  // A caller that hands over the address of an object, or a callee that returns it, has mostly
  // loaded that. An element of an array has a variable index.
  const Value *Object = Address->stripInBoundsConstantOffsets();
  if (Loads.empty() && isa<Argument, CallBase>(Object))
    Result.Places[0] = Latest;
  return Result;
}

unsigned Sources::chains(const BasicBlock &Block) const {
  return count_if(Block, [&](const Instruction &I) { return isa<LoadInst>(I) && isChain(I); });
}

bool Sources::isChain(const Instruction &Load) const {
  SmallVector<const Instruction *> Next{&Load};
  SmallPtrSet<const Instruction *, 16> Seen;
  for (size_t I = 0; I < Next.size() && I < Farthest; ++I) {
    auto Found = From.find(Next[I]);
    if (Found == From.end())
      continue;
    for (const Instruction *Source : Found->second) {
      if (Source == &Load)
        return true;
      if (Seen.insert(Source).second)
        Next.push_back(Source);
    }
  }
  return false;
}

} // namespace flick
