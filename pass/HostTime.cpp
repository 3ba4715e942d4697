#include "HostTime.h"
#include "HostCount.h"
#include "HostHalf.h"
#include "OverlappedRuns.h"
#include "Predictor.h"
#include "Recurrences.h"
#include "Sources.h"
#include "TimedCalls.h"
#include "TimedUnit.h"
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

class Timing {
public:
  Timing(TimedUnit &U, Function &F, const TargetTransformInfo &Costs, const Recurrences &Loops,
         ScalarEvolution &Counts, Predictor &Branches)
      : U(U), F(F), Layout(F.getParent()->getDataLayout()), Costs(Costs), From(F), Loops(Loops),
        Counts(Counts), Branches(Branches) {}

  /// With estimates by block.
  void run(ArrayRef<std::optional<NxpCounts>> OnNxp) {
    SmallVector<BasicBlock *> Blocks;
    for (BasicBlock &Block : F)
      Blocks.push_back(&Block);
    Grows = any_of(instructions(F), [](const Instruction &I) {
      auto *Local = dyn_cast<AllocaInst>(&I);
      return Local && !Local->isStaticAlloca();
    });
    unsigned FirstLoop = U.addLoops(Loops.chains());
    SmallVector<Value *> Prices;
    for (auto [Block, Counts] : zip(Blocks, OnNxp)) {
      Recurrences::Place At = Loops.of(*Block);
      Flow Of{countIssued(*Block, Costs), At.OfLoop ? At.OfLoop + FirstLoop : 0,
              TimedUnit::inUnits(At.Each)};
      Prices.push_back(U.costOf(countBlock(*Block, Costs), Counts, From.chains(*Block), Of));
    }
    // What comes now is not the function's own.
    SmallVector<SmallVector<Instruction *>> Own;
    for (BasicBlock *Block : Blocks)
      Own.emplace_back(map_range(*Block, [](Instruction &I) { return &I; }));
    OverlappedRuns Runs(U, Loops.runs(), FirstLoop, Counts, Costs);
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    Spent = Entry.CreateAlloca(U.Pair, nullptr, "flick.spent");
    Entry.CreateStore(ConstantAggregateZero::get(U.Pair), Spent);
    Branches.begin(Entry);
    for (auto [Block, All, Price] : zip(Blocks, Own, Prices))
      block(*Block, All, Price);
    Runs.charge(Spent);
    if (F.getName() == "main")
      alignStack();
    DominatorTree Tree(F);
    PromoteMemToReg({Spent}, Tree);
  }

private:
  TimedUnit &U;
  Function &F;
  const DataLayout &Layout;
  const TargetTransformInfo &Costs;
  Sources From;
  const Recurrences &Loops;
  ScalarEvolution &Counts;
  Predictor &Branches;
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

  void block(BasicBlock &Block, ArrayRef<Instruction *> All, Value *Price) {
    IRBuilder<> B(&*(&Block == &F.getEntryBlock() ? std::next(Spent->getIterator(), 2)
                                                  : Block.getFirstInsertionPt()));
    spend(B, Price);
    // The block's whole price is paid at its first call, or its end.
    bool Paid = false;
    for (Instruction *I : All) {
      if (I->isDebugOrPseudoInst() || isa<PHINode>(I))
        continue;
      if (isSeen(*I)) {
        // What came before has taken its time.
        record(*I);
        atomic(*I);
      }
      note(*I);
      if (Branches.asks(*I)) {
        IRBuilder<> B(I);
        Value *Before = B.CreateLoad(U.Pair, Spent);
        Value *After = Branches.ask(*I, Before);
        B.CreateStore(After, Spent);
      }
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

  /// Adds the pair at an address to what the function has spent.
  void spend(IRBuilder<> &B, Value *Price) {
    Value *Sum =
        B.CreateAdd(B.CreateLoad(U.Pair, Spent), B.CreateAlignedLoad(U.Pair, Price, Align(16)));
    B.CreateStore(Sum, Spent);
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
    Lines = B.CreateLoad(U.Pointer, B.CreateThreadLocalAddress(U.Lines), "flick.lines");
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

/// By block: what stands for it in RV64 code of the function.
static SmallVector<std::optional<NxpCounts>> estimates(Function &F, const UnitCode &Code) {
  SmallVector<std::optional<NxpCounts>> All;
  Estimate There(Code, F);
  for (BasicBlock &Block : F)
    All.push_back(There.of(Block));
  return All;
}

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
  TimedUnit U(M);
  for (Function *F : Functions)
    U.function(*F);
  for (Function *F : Functions) {
    SmallVector<std::optional<NxpCounts>> OnNxp = estimates(*F, *Code);
    // A probe keeps the iterations of some loops from being counted.
    dropProbes(*F);
    const LoopInfo &OfFunction = Manager.getResult<LoopAnalysis>(*F);
    ScalarEvolution &Counts = Manager.getResult<ScalarEvolutionAnalysis>(*F);
    Counts.forgetAllLoops();
    Recurrences Loops(OfFunction, Manager.getResult<BlockFrequencyAnalysis>(*F), Counts);
    Predictor Branches(*F, OfFunction, Counts);
    Timing(U, *F, Manager.getResult<TargetIRAnalysis>(*F), Loops, Counts, Branches).run(OnNxp);
  }
  U.finish();
  return PreservedAnalyses::none();
}

} // namespace flick
