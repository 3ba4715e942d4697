#include "HostTime.h"
#include "HostCount.h"
#include "HostHalf.h"
#include "Sources.h"
#include "TimedCalls.h"
#include "flick_abi.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace flick {

static cl::opt<bool> TimedOption("flick-timed",
                                 cl::desc("Flick: host code counts itself (docs/timing.md)"));

bool hostCodeIsTimed() { return TimedOption; }

namespace {

/// Bytes up to which a copy of constant length is loads and stores of the function's own.
constexpr uint64_t SmallCopy = 128;

bool isInstrumented(const Function &F) {
  return !F.isDeclaration() && !F.hasAvailableExternallyLinkage() &&
         !F.hasFnAttribute(Attribute::Naked) && !F.isPresplitCoroutine();
}

/// An access that the runtime records where its address may be NxP-local.
struct Access {
  Value *Pointer;
  uint64_t Bytes;
  bool Write;
  /// How many the NxP makes of it, which has no vectors.
  uint64_t Parts = 1;
  /// Of a load: its place; and the places that the address comes from, as the runtime wants them.
  unsigned Own = 0;
  Value *From = nullptr;
  /// To a local variable of the function.
  bool Local = false;
  /// From the pointer by which `Timing::Pending` has it.
  int64_t Offset = 0;
};

/// Bytes of the lines that the runtime has a table of.
constexpr uint64_t Line = 64;

/// A local variable of so many bytes may not stay in the nearest cache.
constexpr uint64_t LargeLocal = 4096;

/// What a unit's functions share.
class Unit {
public:
  explicit Unit(Module &M) : M(M), Context(M.getContext()) {
    Long = Type::getInt64Ty(Context);
    Pair = FixedVectorType::get(Long, 2);
    Pointer = PointerType::getUnqual(Context);
    Clock = cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_CLOCK, Pair));
    Clock->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
    // The map, and what masks its index.
    Map =
        cast<GlobalVariable>(M.getOrInsertGlobal(FLICK_TIMED_MAP, StructType::get(Pointer, Long)));
    // An older libflick has none, and no platform that would need it.
    Lines = cast<GlobalVariable>(
        M.getOrInsertGlobal(FLICK_TIMED_LINES, ArrayType::get(Long, FLICK_TIMED_LINE_COUNT)));
    Lines->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
    Lines->setLinkage(GlobalValue::ExternalWeakLinkage);
    // Its length is known when all functions are done.
    Costs = new GlobalVariable(M, Pair, false, GlobalValue::PrivateLinkage, nullptr, "flick.costs");
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
    Library = M.getOrInsertFunction(FLICK_TIMED_LIBRARY, Type::getVoidTy(Context), Pointer, Long,
                                    Pointer);
    for (FunctionCallee Callee : {Memory, Library})
      cast<Function>(Callee.getCallee())->setDoesNotThrow();
  }

  Module &M;
  LLVMContext &Context;
  Type *Long;
  /// Time on the host, and what the same would take on the NxP: added in one instruction.
  FixedVectorType *Pair;
  PointerType *Pointer;
  GlobalVariable *Clock, *Map, *Lines, *Costs, *Level;
  MDNode *Unlikely;
  FunctionCallee Full, RecordAccess, Memory, Library, Atomic;

  /// Where the price of a block is, from now on.
  Value *costOf(const BlockCounts &Counts, const std::optional<NxpCounts> &OnNxp, unsigned Chain) {
    Chains.push_back(uint16_t(std::min(Chain, unsigned(UINT16_MAX))));
    Blocks.push_back(ConstantDataArray::get(Context, Counts));
    NxpBlocks.push_back(nxpBlock(OnNxp));
    return ConstantExpr::getInBoundsGetElementPtr(Pair, Costs,
                                                  ConstantInt::get(Long, Blocks.size() - 1));
  }

  /// The record of a callee; a null name for a call through a pointer.
  GlobalVariable *callee(StringRef Name) {
    GlobalVariable *&Record = Callees[Name];
    if (!Record) {
      Constant *Value = ConstantStruct::getAnon({text(Name), ConstantInt::get(Long, 0)});
      Record = new GlobalVariable(M, Value->getType(), false, GlobalValue::PrivateLinkage, Value,
                                  "flick.callee");
    }
    return Record;
  }

  /// Registers a function, for profiles.
  void function(Function &F) {
    // Its unit's own copy may not be the one that is linked.
    if (F.hasLocalLinkage() && F.hasComdat())
      return;
    StringRef Code = F.getFnAttribute(RefusedAttribute).getValueAsString();
    Functions.push_back(ConstantStruct::getAnon({&F, text(F.getName()), text(Code)}));
  }

  /// Makes the record by which the runtime knows all blocks and functions.
  void finish() {
    auto *Counts = ArrayType::get(ArrayType::get(Type::getInt16Ty(Context), 12), Blocks.size());
    auto *Classes = new GlobalVariable(M, Counts, true, GlobalValue::PrivateLinkage,
                                       ConstantArray::get(Counts, Blocks), "flick.classes");
    auto *Array = ArrayType::get(Pair, Blocks.size());
    auto *All = new GlobalVariable(M, Array, false, GlobalValue::PrivateLinkage,
                                   ConstantAggregateZero::get(Array));
    All->setAlignment(Align(16));
    All->takeName(Costs);
    Costs->replaceAllUsesWith(All);
    Costs->eraseFromParent();
    auto *Rows = ArrayType::get(StructType::get(Pointer, Pointer, Pointer), Functions.size());
    auto *Known = new GlobalVariable(M, Rows, true, GlobalValue::PrivateLinkage,
                                     ConstantArray::get(Rows, Functions), "flick.functions");
    Type *Int = Type::getInt32Ty(Context);
    Constant *Value = ConstantStruct::getAnon(
        {ConstantInt::get(Int, FLICK_TIMED_VERSION), ConstantInt::get(Int, Blocks.size()), Classes,
         All, Known, ConstantInt::get(Long, Functions.size()), nxpBlocks(), chains()});
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

private:
  SmallVector<Constant *> Blocks, NxpBlocks, Functions;
  SmallVector<uint16_t> Chains;
  StringMap<GlobalVariable *> Callees, Texts;

  /// A row of the table below: whether anything is known, and in what unit the counts are.
  Constant *nxpBlock(const std::optional<NxpCounts> &OnNxp) {
    std::array<uint32_t, 1 + FLICK_TIMED_NXP_COUNTS> Row{};
    Row[0] = OnNxp.has_value();
    if (OnNxp)
      for (auto [Count, Out] : zip(*OnNxp, drop_begin(Row)))
        Out = uint32_t(std::min(Count * FLICK_TIMED_NXP_UNIT + 0.5, double(UINT32_MAX)));
    return ConstantDataArray::get(Context, Row);
  }

  Constant *nxpBlocks() {
    auto *Table = ArrayType::get(NxpBlocks[0]->getType(), NxpBlocks.size());
    return new GlobalVariable(M, Table, true, GlobalValue::PrivateLinkage,
                              ConstantArray::get(Table, NxpBlocks), "flick.nxp.blocks");
  }

  Constant *chains() {
    Constant *Table = ConstantDataArray::get(Context, Chains);
    return new GlobalVariable(M, Table->getType(), true, GlobalValue::PrivateLinkage, Table,
                              "flick.chains");
  }

  /// A C string; null for none.
  Constant *text(StringRef Text) {
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

  /// Hardly ever called: it keeps the registers of its caller.
  FunctionCallee cold(StringRef Name, ArrayRef<Type *> Parameters) {
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
};

class Timing {
public:
  Timing(Unit &U, Function &F, const TargetTransformInfo &Costs, const UnitCode &Code)
      : U(U), F(F), Layout(F.getParent()->getDataLayout()), Costs(Costs), Code(Code), From(F) {}

  void run() {
    SmallVector<BasicBlock *> Blocks;
    for (BasicBlock &Block : F)
      Blocks.push_back(&Block);
    Grows = any_of(instructions(F), [](const Instruction &I) {
      auto *Local = dyn_cast<AllocaInst>(&I);
      return Local && !Local->isStaticAlloca();
    });
    SmallVector<std::optional<NxpCounts>> OnNxp;
    Estimate There(Code, F);
    for (BasicBlock *Block : Blocks)
      OnNxp.push_back(There.of(*Block));
    dropProbes(F);
    SmallVector<Value *> Prices;
    for (auto [Block, Counts] : zip(Blocks, OnNxp))
      Prices.push_back(U.costOf(countBlock(*Block, Costs), Counts, From.chains(*Block)));
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    Spent = Entry.CreateAlloca(U.Pair, nullptr, "flick.spent");
    Entry.CreateStore(ConstantAggregateZero::get(U.Pair), Spent);
    for (auto [Block, Price] : zip(Blocks, Prices))
      block(*Block, Price);
    if (F.getName() == "main")
      alignStack();
    DominatorTree Tree(F);
    PromoteMemToReg({Spent}, Tree);
  }

private:
  Unit &U;
  Function &F;
  const DataLayout &Layout;
  const TargetTransformInfo &Costs;
  const UnitCode &Code;
  Sources From;
  AllocaInst *Spent = nullptr;
  LoadInst *MapLoad = nullptr, *MaskLoad = nullptr;
  Value *Lines = nullptr;
  /// By the pointer that they differ from by a constant.
  MapVector<Value *, SmallVector<Access>> Pending;
  /// Of objects that are never NxP-local: wanted in profiles, and for models of the host's own
  /// memory.
  SmallVector<Access> OnHost;
  Value *Profiled = nullptr;
  /// By the choice of an address: that of its places.
  DenseMap<PHINode *, Value *> Chosen;
  /// Its stack pointer moves while it runs.
  bool Grows = false;

  void block(BasicBlock &Block, Value *Price) {
    SmallVector<Instruction *> All;
    for (Instruction &I : Block)
      All.push_back(&I);
    IRBuilder<> B(&*(&Block == &F.getEntryBlock() ? std::next(Spent->getIterator(), 2)
                                                  : Block.getFirstInsertionPt()));
    Value *Sum =
        B.CreateAdd(B.CreateLoad(U.Pair, Spent), B.CreateAlignedLoad(U.Pair, Price, Align(16)));
    B.CreateStore(Sum, Spent);
    // The block's whole price is paid at its first call, or its end.
    bool Paid = false;
    for (Instruction *I : All) {
      if (I->isDebugOrPseudoInst() || isa<PHINode>(I) || I == Spent)
        continue;
      if (isSeen(*I)) {
        // What came before has taken its time.
        record(*I);
        atomic(*I);
      }
      note(*I);
      auto *Call = dyn_cast<CallBase>(I);
      if (Call && isCall(*Call)) {
        record(*I);
        call(*Call, Paid);
      } else if (isa<ReturnInst, ResumeInst>(I)) {
        // Nothing comes between such a call and its return, which is the callee's.
        if (I->getParent()->getTerminatingMustTailCall())
          continue;
        record(*I);
        if (Paid)
          look(*I, clock(*I), FLICK_TIMED_RETURNS);
        else
          pay(*I, FLICK_TIMED_RETURNS);
      } else if (I->isTerminator()) {
        record(*I);
      }
    }
    Pending.clear();
    OnHost.clear();
  }

  /// Whether other code may run.
  static bool isCall(const CallBase &Call) {
    return !isa<IntrinsicInst>(Call) && !Call.isInlineAsm();
  }

  /// Whether other threads may see when it happens, or a signal's handler: a loop that waits for
  /// one reads a volatile variable.
  static bool isSeen(const Instruction &I) {
    const Value *Pointer = isa<LoadInst, StoreInst>(I) ? getLoadStorePointerOperand(&I) : nullptr;
    if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      Pointer = Rmw->getPointerOperand();
    else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      Pointer = Swap->getPointerOperand();
    bool Seen = I.isAtomic() || (isa<LoadInst>(I) && I.isVolatile());
    return Pointer && Seen && !isa<AllocaInst>(getUnderlyingObject(Pointer));
  }

  /// Where threads are ordered, such an access waits for its turn, at the time that it has.
  void atomic(Instruction &Before) {
    IRBuilder<> B(&Before);
    LoadInst *Level = B.CreateLoad(B.getInt8Ty(), U.Level, "flick.level");
    // Another thread may be the first one that there is beside this one, but not in between.
    Value *Ordered = B.CreateICmpNE(B.CreateAnd(Level, FLICK_ORDERED), B.getInt8(0));
    Instruction *Then = SplitBlockAndInsertIfThen(Ordered, &Before, false, U.Unlikely);
    add(*Then);
    cold(*Then, U.Atomic, {});
  }

  /// Adds what was spent to the thread's clock: its new value.
  Value *add(Instruction &Before) {
    IRBuilder<> B(&Before);
    Value *Address = B.CreateThreadLocalAddress(U.Clock);
    Value *New =
        B.CreateAdd(B.CreateAlignedLoad(U.Pair, Address, Align(16)), B.CreateLoad(U.Pair, Spent));
    B.CreateAlignedStore(New, Address, Align(16));
    B.CreateStore(ConstantAggregateZero::get(U.Pair), Spent);
    return New;
  }

  /// Adds what was spent to the thread's clock, and has the runtime look if enough has come
  /// together; the new clock. `Why`: what comes now.
  Value *pay(Instruction &Before, uint64_t Why) {
    Value *New = add(Before);
    IRBuilder<> B(&Before);
    Value *Host = B.CreateExtractElement(New, uint64_t(0));
    look(Before, Host, Why);
    return Host;
  }

  /// The host's part of the clock.
  Value *clock(Instruction &Before) {
    IRBuilder<> B(&Before);
    return B.CreateLoad(U.Long, B.CreateThreadLocalAddress(U.Clock));
  }

  /// Has the runtime look if the clock is full.
  void look(Instruction &Before, Value *Clock, uint64_t Why) {
    IRBuilder<> B(&Before);
    Value *Positive = B.CreateICmpSGE(Clock, B.getInt64(0));
    Instruction *Then = SplitBlockAndInsertIfThen(Positive, &Before, false, U.Unlikely);
    cold(*Then, U.Full, {B.getInt64(Why | (Grows ? FLICK_TIMED_GROWS : 0))});
  }

  void cold(Instruction &Before, FunctionCallee Callee, ArrayRef<Value *> Arguments) {
    IRBuilder<> B(&Before);
    B.CreateCall(Callee, Arguments)->setCallingConv(CallingConv::PreserveMost);
  }

  void call(CallBase &Call, bool &Paid) {
    Function *Callee = Call.getCalledFunction();
    if (Callee && isMemoryFunction(Call)) {
      IRBuilder<> B(&Call);
      Value *From = Callee->getName() == "memset" ? ConstantPointerNull::get(U.Pointer)
                                                  : Call.getArgOperand(1);
      B.CreateCall(U.Memory, {Call.getArgOperand(0), From, Call.getArgOperand(2)});
      return;
    }
    StringRef Name = Callee ? Callee->getName() : StringRef();
    Value *Clock = nullptr;
    uint64_t Why = FLICK_TIMED_CALLS | (Call.isMustTailCall() ? FLICK_TIMED_LEAVES : 0);
    if (Paid)
      look(Call, Clock = clock(Call), Why);
    else
      Clock = pay(Call, Why);
    Paid = true;
    if ((Callee && isInstrumented(*Callee) && !Callee->isInterposable()) || Call.isMustTailCall() ||
        Call.doesNotReturn() || isa<CallBrInst>(Call))
      return;
    Instruction *After = Call.getNextNonDebugInstruction();
    if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
      After = &*SplitEdge(Invoke->getParent(), Invoke->getNormalDest())->getFirstInsertionPt();
    IRBuilder<> B(After);
    Value *Now = clock(*After);
    Value *Same = B.CreateICmpEQ(Now, Clock);
    Instruction *Then = SplitBlockAndInsertIfThen(Same, After, false);
    B.SetInsertPoint(Then);
    Value *Length = lengthOf(Call, B);
    B.CreateCall(U.Library, {U.callee(Name), Length, Call.getCalledOperand()});
  }

  /// Keeps an access for `record`.
  void note(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      note(I, Load->getPointerOperand(), Load->getType(), false);
    else if (auto *Store = dyn_cast<StoreInst>(&I))
      note(I, Store->getPointerOperand(), Store->getValueOperand()->getType(), true);
    else if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      note(I, Rmw->getPointerOperand(), Rmw->getType(), false);
    else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      note(I, Swap->getPointerOperand(), Swap->getNewValOperand()->getType(), false);
    else if (auto *Copy = dyn_cast<MemIntrinsic>(&I))
      note(*Copy);
    else if (auto *Known = dyn_cast<IntrinsicInst>(&I)) {
      if (Known->getIntrinsicID() == Intrinsic::masked_load)
        note(I, Known->getArgOperand(0), Known->getType(), false);
      else if (Known->getIntrinsicID() == Intrinsic::masked_store)
        note(I, Known->getArgOperand(1), Known->getArgOperand(0)->getType(), true);
    }
  }

  void note(Instruction &I, Value *Pointer, Type *T, bool Write) {
    TypeSize Size = Layout.getTypeStoreSize(T);
    if (Size.isScalable())
      return;
    auto *Vector = dyn_cast<FixedVectorType>(T);
    uint64_t Parts = Vector ? Vector->getNumElements() : 1;
    note({Pointer, Size.getFixedValue(), Write, Parts, Write ? 0 : From.place(&I)});
  }

  Constant *constant(const Sources::Given &From) const {
    return ConstantInt::get(U.Long, uint64_t(From.Places[1]) << (FLICK_TIMED_FROM_SHIFT + 6) |
                                        uint64_t(From.Places[0]) << FLICK_TIMED_FROM_SHIFT |
                                        uint64_t(From.Either) << FLICK_TIMED_EITHER_SHIFT);
  }

  /// The places that an address comes from. Where it is another one on each way to the block, so
  /// are the places.
  Value *given(Value *Address) {
    auto *Choice = dyn_cast<PHINode>(Address->stripInBoundsConstantOffsets());
    if (!Choice)
      return constant(From.of(Address));
    Value *&Known = Chosen[Choice];
    if (Known)
      return Known;
    SmallVector<Constant *> Ways;
    for (Value *Way : Choice->incoming_values())
      Ways.push_back(constant(From.of(Way)));
    if (all_equal(Ways))
      return Known = Ways[0];
    auto *Places = PHINode::Create(U.Long, Ways.size(), "flick.places", Choice->getIterator());
    for (auto [Way, Block] : zip(Ways, Choice->blocks()))
      Places->addIncoming(Way, Block);
    return Known = Places;
  }

  void note(Access A) {
    if (A.Pointer->getType()->getPointerAddressSpace() != 0 || A.Bytes == 0)
      return;
    const Value *Object = getUnderlyingObject(A.Pointer);
    A.Parts = std::min<uint64_t>(A.Parts, FLICK_TIMED_MOST_PARTS);
    A.From = given(A.Pointer);
    if (auto *Variable = dyn_cast<AllocaInst>(Object)) {
      A.Local = true;
      std::optional<TypeSize> Size = Variable->getAllocationSize(Layout);
      if (Size && !Size->isScalable() && Size->getFixedValue() >= LargeLocal)
        OnHost.push_back(A);
      return;
    }
    if (isa<Function, BlockAddress, ConstantPointerNull>(Object))
      return;
    if (auto *V = dyn_cast<GlobalVariable>(Object)) {
      if (V->isConstant() || V->isThreadLocal())
        return;
      if (!V->isDeclaration() && !isDataSection(V->getSection())) {
        OnHost.push_back(A);
        return;
      }
    }
    APInt Offset(Layout.getIndexTypeSizeInBits(A.Pointer->getType()), 0);
    Value *Base = A.Pointer->stripAndAccumulateConstantOffsets(Layout, Offset, true);
    A.Offset = Offset.getSExtValue();
    Pending[Base].push_back(A);
  }

  void note(MemIntrinsic &Copy) {
    auto *From = dyn_cast<MemTransferInst>(&Copy);
    auto *Length = dyn_cast<ConstantInt>(Copy.getLength());
    if (Length && Length->getZExtValue() <= SmallCopy) {
      uint64_t Bytes = Length->getZExtValue(), Words = divideCeil(Bytes, 8);
      if (From)
        note({From->getRawSource(), Bytes, false, Words});
      note({Copy.getRawDest(), Bytes, true, Words});
      return;
    }
    if (Copy.getDestAddressSpace() != 0 || (From && From->getSourceAddressSpace() != 0))
      return;
    IRBuilder<> B(&Copy);
    B.CreateCall(U.Memory, {Copy.getRawDest(),
                            From ? From->getRawSource() : ConstantPointerNull::get(U.Pointer),
                            B.CreateZExtOrTrunc(Copy.getLength(), U.Long)});
  }

  /// Records the accesses since the last call. Behind them, so that one that faults does so
  /// itself.
  void record(Instruction &Before) {
    for (auto &[Base, Accesses] : Pending) {
      IRBuilder<> B(&Before);
      loadMap();
      Value *Granule = B.CreateAnd(
          B.CreateLShr(B.CreatePtrToInt(Base, U.Long), FLICK_TIMED_MAP_SHIFT), MaskLoad);
      Value *Mark =
          B.CreateLoad(B.getInt8Ty(), B.CreateGEP(B.getInt8Ty(), MapLoad, Granule), "flick.mark");
      Instruction *Then =
          SplitBlockAndInsertIfThen(B.CreateICmpNE(Mark, B.getInt8(0)), &Before, false, U.Unlikely);
      record(*Then, Accesses);
    }
    Pending.clear();
    if (OnHost.empty())
      return;
    loadMap();
    Instruction *Then = SplitBlockAndInsertIfThen(Profiled, &Before, false, U.Unlikely);
    for (const Access &A : OnHost)
      record(*Then, A);
    OnHost.clear();
  }

  /// Accesses that differ by constants.
  void record(Instruction &Before, ArrayRef<Access> Accesses) {
    auto End = [](const Access &A) { return A.Offset + int64_t(A.Bytes); };
    auto Less = [](const Access &A, const Access &B) { return A.Offset < B.Offset; };
    auto [First, Last] = std::minmax_element(Accesses.begin(), Accesses.end(), Less);
    int64_t Until = First->Offset;
    for (const Access &A : Accesses)
      Until = std::max(Until, End(A));
    // If the first and the last one are in lines that cost nothing, so are those in between.
    if (uint64_t(Until - First->Offset) <= Line) {
      Instruction *Then = unlessKnown(Before, {First->Pointer, Last->Pointer});
      for (const Access &A : Accesses)
        call(*Then, A);
      return;
    }
    for (const Access &A : Accesses)
      record(Before, A);
  }

  void record(Instruction &Before, const Access &A) {
    Value *Last = A.Pointer;
    if (A.Bytes > Line) {
      IRBuilder<> B(&Before);
      Last = B.CreateConstGEP1_64(B.getInt8Ty(), A.Pointer, A.Bytes - 1);
    }
    call(*unlessKnown(Before, {A.Pointer, Last}), A);
  }

  /// Where code is that runs unless both addresses are in lines that cost nothing.
  Instruction *unlessKnown(Instruction &Before, std::array<Value *, 2> Addresses) {
    IRBuilder<> B(&Before);
    auto Differs = [&](Value *Pointer) {
      Value *Address = B.CreatePtrToInt(Pointer, U.Long);
      Value *Number = B.CreateAnd(B.CreateLShr(Address, Log2_64(Line)), FLICK_TIMED_LINE_COUNT - 1);
      Value *Known = B.CreateLoad(U.Long, B.CreateGEP(U.Long, Lines, Number), "flick.line");
      return B.CreateICmpNE(Known, B.CreateAnd(Address, -Line));
    };
    Value *Missing = Differs(Addresses[0]);
    if (Addresses[1] != Addresses[0])
      Missing = B.CreateOr(Missing, Differs(Addresses[1]));
    return SplitBlockAndInsertIfThen(Missing, &Before, false, U.Unlikely);
  }

  void call(Instruction &Before, const Access &A) {
    uint64_t What = 1ULL << 63 | uint64_t(A.Local) << 62 |
                    uint64_t(A.Own) << FLICK_TIMED_OWN_SHIFT | A.Parts << FLICK_TIMED_PARTS_SHIFT |
                    A.Bytes << 1 | A.Write;
    IRBuilder<> B(&Before);
    Value *Host = B.CreateExtractElement(B.CreateLoad(U.Pair, Spent), uint64_t(0));
    cold(Before, U.RecordAccess, {A.Pointer, B.CreateOr(A.From, What), Host});
  }

  /// Map and mask, once for the function: they change before its unit is registered, and never
  /// after.
  void loadMap() {
    if (MapLoad)
      return;
    IRBuilder<> B(Spent->getNextNode());
    MapLoad = B.CreateLoad(U.Pointer, U.Map, "flick.map");
    MaskLoad = B.CreateLoad(
        U.Long, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), U.Map, sizeof(uint64_t)), "flick.mask");
    for (LoadInst *Load : {MapLoad, MaskLoad})
      Load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(U.Context, {}));
    // The first granule holds no memory: it is marked where all of them are.
    LoadInst *First = B.CreateLoad(B.getInt8Ty(), MapLoad, "flick.profiled");
    First->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(U.Context, {}));
    Profiled = B.CreateICmpNE(First, B.getInt8(0));
    Lines = B.CreateThreadLocalAddress(U.Lines);
  }

  /// The frames of main and all that it calls are where they are, whatever the size of the
  /// environment is.
  void alignStack() {
    IRBuilder<> B(Spent);
    AllocaInst *Page = B.CreateAlloca(B.getInt8Ty(), nullptr, "flick.page");
    Page->setAlignment(Align(4096));
    auto *Use = InlineAsm::get(FunctionType::get(B.getVoidTy(), {U.Pointer}, false), "", "r", true);
    B.SetInsertPoint(Spent->getNextNode());
    B.CreateCall(Use, {Page});
  }
};

} // namespace

PreservedAnalyses HostTimePass::run(Module &M, ModuleAnalysisManager &Modules) {
  if (!TimedOption)
    return PreservedAnalyses::all();
  // Resolvers run while the program is being relocated.
  SmallPtrSet<const Function *, 4> Resolvers;
  for (const GlobalIFunc &I : M.ifuncs())
    Resolvers.insert(I.getResolverFunction());
  SmallVector<Function *> Functions;
  for (Function &F : M)
    if (isInstrumented(F) && !Resolvers.contains(&F))
      Functions.push_back(&F);
  for (Function &F : M)
    if (!is_contained(Functions, &F))
      dropProbes(F);
  if (Functions.empty())
    return PreservedAnalyses::none();
  auto &Manager = Modules.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  Unit U(M);
  for (Function *F : Functions)
    U.function(*F);
  for (Function *F : Functions)
    Timing(U, *F, Manager.getResult<TargetIRAnalysis>(*F), *Code).run();
  U.finish();
  return PreservedAnalyses::none();
}

} // namespace flick
