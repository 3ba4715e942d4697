#include "Recurrences.h"

#include "llvm/Analysis/LoopIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace flick {
namespace {

/// Values that a loop hands on to its next iteration; loops with more are not looked at, and
/// neither are those with more instructions than that.
constexpr unsigned MostCarried = 24, MostInstructions = 4000;

/// Cycles by class of a usual core, to find out which chain is the longest. What it takes is the
/// platform's.
double usual(HostClass C) {
  switch (C) {
  case Mul:
  case Fp:
    return 3;
  case FpMul:
    return 4;
  case Load:
    return 5;
  case Div:
  case FpDiv:
    return 14;
  case Atomic:
    return 18;
  case Int:
  case Vector:
    return 1;
  default:
    return 0;
  }
}

/// The operations between an operand's value and the result.
struct Step {
  SmallVector<HostClass, 2> Of;
};

/// Where a callee runs so often in each iteration, how long a chain is cannot be seen.
constexpr double OftenCalled = 0.5;

bool isCall(const Instruction &I) { return isa<CallBase>(I) && !isa<IntrinsicInst>(I); }

HostClass scalarClass(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
    return Fp;
  case Instruction::FMul:
    return FpMul;
  case Instruction::Mul:
    return Mul;
  default:
    return classOf(I) == Vector ? Int : classOf(I);
  }
}

bool isFree(const Instruction &I) {
  // An address is part of its access.
  if (isa<GetElementPtrInst>(I))
    return all_of(I.users(), [](const User *U) { return isa<LoadInst, StoreInst>(U); });
  return isa<PHINode, FreezeInst, BitCastInst, TruncInst, ZExtInst, PtrToIntInst, IntToPtrInst,
             ExtractValueInst>(I);
}

Step stepOf(const Instruction &I, const Use &Operand) {
  if (isFree(I))
    return {};
  if (auto *Known = dyn_cast<IntrinsicInst>(&I)) {
    Intrinsic::ID ID = Known->getIntrinsicID();
    if (ID == Intrinsic::fmuladd && !hasFusedProducts(*I.getFunction()))
      return Operand.getOperandNo() == 2 ? Step{{Fp}} : Step{{FpMul, Fp}};
    if (ID == Intrinsic::fmuladd || ID == Intrinsic::fma)
      return {{FpMul}};
    if (ID == Intrinsic::sqrt)
      return {{FpDiv}};
    // It changes a bit of the number.
    if (ID == Intrinsic::fabs || ID == Intrinsic::copysign)
      return {{Int}};
    return {{I.getType()->isFPOrFPVectorTy() ? Fp : scalarClass(I)}};
  }
  // What a callee computes is not known.
  if (isa<CallBase>(I))
    return {};
  HostClass C = scalarClass(I);
  if (C == Div || (C == Mul && !I.getType()->isVectorTy())) {
    // A product or quotient by a constant is shifts, additions and products in turn.
    ProductParts Parts = partsOf(I);
    Step All;
    All.Of.append(Parts.Int, Int);
    All.Of.append(Parts.Mul, Mul);
    All.Of.append(Parts.Div, Div);
    return All;
  }
  return {{C}};
}

/// The longest way to a value from where a chain begins.
struct Way {
  double Long = 0;
  const Use *Last = nullptr;
};

class Search {
public:
  Search(const Loop &L, const LoopInfo &Loops) : L(L) {
    for (PHINode &Phi : L.getHeader()->phis())
      Carried.push_back(&Phi);
    LoopBlocksRPO Order(const_cast<Loop *>(&L));
    Order.perform(&Loops);
    for (BasicBlock *Block : Order)
      if (Loops.getLoopFor(Block) == &L)
        for (Instruction &I : *Block)
          All.push_back(&I);
  }

  ChainCounts run(bool Calls) {
    ChainCounts None{};
    if (Calls || Carried.empty() || Carried.size() > MostCarried || All.size() > MostInstructions)
      return None;
    for (PHINode *From : Carried)
      Ways.push_back(waysFrom(*From));
    return longest();
  }

  /// Whether no value of the chain that was found comes from an earlier run of the loop, through
  /// registers.
  bool beginsAnew() const {
    const Loop *Around = L.getParentLoop();
    SmallVector<const Value *> Open;
    SmallPtrSet<const Value *, 16> Seen;
    for (const PHINode *Phi : OfChain)
      for (auto [Value, Block] : zip(Phi->incoming_values(), Phi->blocks()))
        if (!L.contains(Block))
          Open.push_back(Value);
    while (!Open.empty()) {
      const Value *V = Open.pop_back_val();
      if (!Seen.insert(V).second || isa<Constant>(V))
        continue;
      auto *I = dyn_cast<Instruction>(V);
      // The caller may have it from an earlier call.
      if (!I && !Around)
        return false;
      if (!I || isa<LoadInst>(I) || (Around && !Around->contains(I)))
        continue;
      if (L.contains(I))
        return false;
      Open.append(I->value_op_begin(), I->value_op_end());
    }
    return true;
  }

private:
  /// From one value that is carried to another.
  struct Edge {
    unsigned From, To;
    double Long;
    const Value *End;
  };

  const Loop &L;
  SmallVector<PHINode *> Carried;
  SmallVector<Instruction *> All;
  SmallVector<DenseMap<const Value *, Way>> Ways;
  /// The values that the longest chain hands on.
  SmallVector<const PHINode *> OfChain;

  DenseMap<const Value *, Way> waysFrom(PHINode &From) {
    DenseMap<const Value *, Way> Known;
    Known[&From] = {};
    for (Instruction *I : All) {
      if (I->getParent() == L.getHeader() && isa<PHINode>(I))
        continue;
      std::optional<Way> Best;
      for (const Use &Operand : I->operands()) {
        auto Found = Known.find(Operand.get());
        if (Found == Known.end())
          continue;
        double Long = Found->second.Long;
        for (HostClass C : stepOf(*I, Operand).Of)
          Long += usual(C);
        if (!Best || Long > Best->Long)
          Best = Way{Long, &Operand};
      }
      if (Best)
        Known[I] = *Best;
    }
    return Known;
  }

  SmallVector<Edge> edges() const {
    SmallVector<Edge> Edges;
    for (unsigned To = 0; To < Carried.size(); ++To)
      for (unsigned From = 0; From < Carried.size(); ++From) {
        std::optional<Edge> Best;
        for (auto [Value, Block] : zip(Carried[To]->incoming_values(), Carried[To]->blocks())) {
          auto Found = Ways[From].find(Value.get());
          if (L.contains(Block) && Found != Ways[From].end() &&
              (!Best || Found->second.Long > Best->Long))
            Best = Edge{From, To, Found->second.Long, Value.get()};
        }
        if (Best)
          Edges.push_back(*Best);
      }
    return Edges;
  }

  /// The cycle of the highest mean. The longest walk of as many edges as there are values has a
  /// cycle in it, for each value that it may end at (Karp 1978).
  ChainCounts longest() {
    SmallVector<Edge> Edges = edges();
    unsigned N = Carried.size();
    using Row = SmallVector<std::pair<double, const Edge *>>;
    SmallVector<Row> Walks(N + 1, Row(N, {-1, nullptr}));
    for (auto &Walk : Walks[0])
      Walk.first = 0;
    for (unsigned Step = 1; Step <= N; ++Step)
      for (const Edge &E : Edges)
        if (double From = Walks[Step - 1][E.From].first;
            From >= 0 && From + E.Long > Walks[Step][E.To].first)
          Walks[Step][E.To] = {From + E.Long, &E};
    double Mean = 0;
    SmallVector<const Edge *> Best;
    for (unsigned End = 0; End < N; ++End) {
      if (Walks[N][End].first < 0)
        continue;
      // From the end to the beginning, until a value comes again.
      SmallVector<const Edge *> Path;
      SmallVector<int> Seen(N, -1);
      unsigned At = End;
      for (unsigned Step = N; Seen[At] < 0; --Step) {
        Seen[At] = int(Path.size());
        if (Step == 0)
          break;
        Path.push_back(Walks[Step][At].second);
        At = Path.back()->From;
      }
      ArrayRef<const Edge *> Cycle = ArrayRef(Path).drop_front(unsigned(std::max(Seen[At], 0)));
      if (Cycle.empty() || Cycle.back()->From != Cycle.front()->To)
        continue;
      double Long = 0;
      for (const Edge *E : Cycle)
        Long += E->Long;
      if (Long / double(Cycle.size()) > Mean) {
        Mean = Long / double(Cycle.size());
        Best.assign(Cycle.begin(), Cycle.end());
      }
    }
    ChainCounts Counts{};
    for (const Edge *E : Best) {
      count(*E, 1.0 / double(Best.size()), Counts);
      OfChain.push_back(Carried[E->To]);
    }
    return Counts;
  }

  /// Adds the operations on the way that is an edge.
  void count(const Edge &E, double Part, ChainCounts &Counts) const {
    const DenseMap<const Value *, Way> &Known = Ways[E.From];
    const Value *At = E.End;
    while (const Use *Last = Known.lookup(At).Last) {
      for (HostClass C : stepOf(*cast<Instruction>(Last->getUser()), *Last).Of)
        Counts[C] += Part;
      At = Last->get();
    }
  }
};

} // namespace

Recurrences::Recurrences(const LoopInfo &Loops, const BlockFrequencyInfo &Frequencies,
                         ScalarEvolution &Counts) {
  for (Loop *L : const_cast<LoopInfo &>(Loops).getLoopsInPreorder()) {
    double Header = double(Frequencies.getBlockFreq(L->getHeader()).getFrequency());
    bool Calls = false;
    for (const BasicBlock *Block : L->blocks()) {
      double Frequency = double(Frequencies.getBlockFreq(Block).getFrequency());
      double Each = Header > 0 ? Frequency / Header : 1;
      if (Loops.getLoopFor(Block) == L)
        Places[Block] = {unsigned(Chains.size() + 1), Each};
      Calls |= Each >= OftenCalled && any_of(*Block, isCall);
    }
    Search Found(*L, Loops);
    Chains.push_back(Found.run(Calls));
    // No value of it is of the loop's own, so it is known before the first iteration.
    const SCEV *Repeats = L->isInnermost() ? Counts.getBackedgeTakenCount(L) : nullptr;
    if (Repeats && !isa<SCEVCouldNotCompute>(Repeats) &&
        any_of(Chains.back(), [](double Count) { return Count > 0; }) && Found.beginsAnew())
      Runs.push_back({L, unsigned(Chains.size() - 1), Repeats});
  }
}

} // namespace flick
