#include "TimedUnit.h"
#include "HostTime.h"
#include "flick_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace flick {

TimedUnit::TimedUnit(Module &M) : M(M), Context(M.getContext()) {
  Long = Type::getInt64Ty(Context);
  Pair = FixedVectorType::get(Long, 2);
  Pointer = PointerType::getUnqual(Context);
  Clock = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_CLOCK, Pair));
  Clock->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
  // The map, and what masks its index.
  Map = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_MAP, StructType::get(Pointer, Long)));
  Lines = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_LINES, Pointer));
  Lines->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
  // Their lengths are known when all functions are done.
  Costs = new GlobalVariable(M, Pair, false, GlobalValue::PrivateLinkage, nullptr, "flick.costs");
  Runs = new GlobalVariable(M, Pair, false, GlobalValue::PrivateLinkage, nullptr, "flick.runs");
  Unlikely = MDBuilder(Context).createBranchWeights(1, 1 << 20);
  // Libflick has them since 1.7: an older one refuses the program before it looks at them.
  Level = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_ORDER_LEVEL, Type::getInt8Ty(Context)));
  Level->setLinkage(GlobalValue::ExternalWeakLinkage);
  Full = cold(FLICK_TIMED_FULL, {Long});
  Atomic = cold(FLICK_ORDER_ATOMIC, {});
  cast<Function>(Atomic.getCallee())->setLinkage(GlobalValue::ExternalWeakLinkage);
  RecordAccess = cold(FLICK_TIMED_ACCESS, {Pointer, Long, Long});
  Memory =
      M.getOrInsertFunction(FLICK_TIMED_MEMORY, Type::getVoidTy(Context), Pointer, Pointer, Long);
  Library =
      M.getOrInsertFunction(FLICK_TIMED_LIBRARY, Type::getVoidTy(Context), Pointer, Long, Pointer);
  for (FunctionCallee Callee : {Memory, Library})
    cast<Function>(Callee.getCallee())->setDoesNotThrow();
}

Value *TimedUnit::costOf(const BlockCounts &Counts, const std::optional<NxpCounts> &OnNxp,
                         unsigned Chain, const Flow &Of) {
  Chains.push_back(uint16_t(std::min(Chain, unsigned(UINT16_MAX))));
  Flows.push_back(ConstantDataArray::get(Context, Of));
  Blocks.push_back(ConstantDataArray::get(Context, Counts));
  NxpBlocks.push_back(nxpBlock(OnNxp));
  return ConstantExpr::getInBoundsGetElementPtr(Pair, Costs,
                                                ConstantInt::get(Long, Blocks.size() - 1));
}

unsigned TimedUnit::addLoops(ArrayRef<ChainCounts> All) {
  unsigned First = unsigned(Loops.size());
  for (const ChainCounts &Counts : All) {
    std::array<uint32_t, HostClasses> Row;
    transform(Counts, Row.begin(), inUnits);
    Loops.push_back(ConstantDataArray::get(Context, Row));
  }
  return First;
}

/// Of a `LoopRun`.
static constexpr unsigned PairsOfRun = 2;

Constant *TimedUnit::runOf(unsigned Loop) {
  return ConstantExpr::getInBoundsGetElementPtr(Pair, Runs,
                                                ConstantInt::get(Long, PairsOfRun * Loop));
}

uint32_t TimedUnit::inUnits(double Count) {
  return uint32_t(std::min(Count * FLICK_TIMED_FLOW_UNIT + 0.5, double(UINT32_MAX)));
}

GlobalVariable *TimedUnit::callee(StringRef Name) {
  GlobalVariable *&Record = Callees[Name];
  if (!Record) {
    Constant *Value = ConstantStruct::getAnon({text(Name), ConstantInt::get(Long, 0)});
    Record = new GlobalVariable(M, Value->getType(), false, GlobalValue::PrivateLinkage, Value,
                                "flick.callee");
  }
  return Record;
}

void TimedUnit::function(Function &F) {
  // Its unit's own copy may not be the one that is linked.
  if (F.hasLocalLinkage() && F.hasComdat())
    return;
  StringRef Code = F.getFnAttribute(RefusedAttribute).getValueAsString();
  Functions.push_back(ConstantStruct::getAnon({&F, text(F.getName()), text(Code)}));
}

void TimedUnit::finish() {
  auto *Counts =
      ArrayType::get(ArrayType::get(Type::getInt16Ty(Context), HostClasses), Blocks.size());
  auto *Classes = new GlobalVariable(M, Counts, true, GlobalValue::PrivateLinkage,
                                     ConstantArray::get(Counts, Blocks), "flick.classes");
  Costs = pairs(Costs, Blocks.size());
  Runs = pairs(Runs, PairsOfRun * Loops.size());
  auto *Rows = ArrayType::get(StructType::get(Pointer, Pointer, Pointer), Functions.size());
  auto *Known = new GlobalVariable(M, Rows, true, GlobalValue::PrivateLinkage,
                                   ConstantArray::get(Rows, Functions), "flick.functions");
  Type *Int = Type::getInt32Ty(Context);
  Constant *Value = ConstantStruct::getAnon(
      {ConstantInt::get(Int, FLICK_TIMED_VERSION), ConstantInt::get(Int, Blocks.size()), Classes,
       Costs, Known, ConstantInt::get(Long, Functions.size()), nxpBlocks(), chains(),
       table(Flows, "flick.flows"), table(Loops, "flick.loops"),
       ConstantInt::get(Long, Loops.size()), Runs});
  auto *Record = new GlobalVariable(M, Value->getType(), true, GlobalValue::PrivateLinkage, Value,
                                    "flick.timed");
  Function *F = Function::Create(FunctionType::get(Type::getVoidTy(Context), false),
                                 GlobalValue::InternalLinkage, "flick.timed.register", M);
  F->setDoesNotThrow();
  IRBuilder<> B(BasicBlock::Create(Context, "", F));
  B.CreateCall(M.getOrInsertFunction(FLICK_TIMED_UNIT, B.getVoidTy(), Pointer), {Record});
  B.CreateRetVoid();
  // Before the program's own constructors; 1 is the first that there is.
  appendToGlobalCtors(M, F, 1);
}

Constant *TimedUnit::nxpBlock(const std::optional<NxpCounts> &OnNxp) {
  std::array<uint32_t, 1 + FLICK_TIMED_NXP_COUNTS> Row{};
  Row[0] = OnNxp.has_value();
  if (OnNxp)
    for (auto [Count, Out] : zip(*OnNxp, drop_begin(Row)))
      Out = uint32_t(std::min(Count * FLICK_TIMED_NXP_UNIT + 0.5, double(UINT32_MAX)));
  return ConstantDataArray::get(Context, Row);
}

GlobalVariable *TimedUnit::pairs(GlobalVariable *Before, size_t Count) {
  auto *Array = ArrayType::get(Pair, Count);
  auto *All = new GlobalVariable(M, Array, false, GlobalValue::PrivateLinkage,
                                 ConstantAggregateZero::get(Array));
  All->setAlignment(Align(16));
  All->takeName(Before);
  Before->replaceAllUsesWith(All);
  Before->eraseFromParent();
  return All;
}

Constant *TimedUnit::table(ArrayRef<Constant *> Rows, StringRef Name) {
  if (Rows.empty())
    return ConstantPointerNull::get(Pointer);
  auto *Table = ArrayType::get(Rows[0]->getType(), Rows.size());
  return new GlobalVariable(M, Table, true, GlobalValue::PrivateLinkage,
                            ConstantArray::get(Table, Rows), Name);
}

Constant *TimedUnit::chains() {
  Constant *Table = ConstantDataArray::get(Context, Chains);
  return new GlobalVariable(M, Table->getType(), true, GlobalValue::PrivateLinkage, Table,
                            "flick.chains");
}

Constant *TimedUnit::text(StringRef Text) {
  if (Text.empty())
    return ConstantPointerNull::get(Pointer);
  GlobalVariable *&V = Texts[Text];
  if (!V) {
    Constant *Bytes = ConstantDataArray::getString(Context, Text);
    V = new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage, Bytes,
                           "flick.text");
    V->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  }
  return V;
}

FunctionCallee TimedUnit::cold(StringRef Name, ArrayRef<Type *> Parameters) {
  FunctionCallee Callee =
      M.getOrInsertFunction(Name, FunctionType::get(Type::getVoidTy(Context), Parameters, false));
  auto *F = cast<Function>(Callee.getCallee());
  F->setCallingConv(CallingConv::PreserveMost);
  F->addFnAttr(Attribute::Cold);
  // By way of the procedure linkage table the first call would go through the dynamic linker,
  // which does not keep r10.
  F->addFnAttr(Attribute::NonLazyBind);
  F->setDoesNotThrow();
  return Callee;
}

} // namespace flick
