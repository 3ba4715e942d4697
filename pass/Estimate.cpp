#include "Estimate.h"
#include "Aliases.h"
#include "CallerModule.h"
#include "Legality.h"
#include "NxpHalf.h"
#include "Placement.h"
#include "References.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace flick {

namespace {

/// Nobody has asked for this code: what the compiler says of it is of no interest.
class Silence {
public:
  explicit Silence(LLVMContext &Context) : Context(Context), Own(Context.getDiagnosticHandler()) {
    Context.setDiagnosticHandler(std::make_unique<Silent>(Failed));
  }
  ~Silence() { Context.setDiagnosticHandler(std::move(Own)); }
  Silence(const Silence &) = delete;

  bool failed() const { return Failed; }

private:
  struct Silent : DiagnosticHandler {
    explicit Silent(bool &Failed) : Failed(Failed) {}
    bool &Failed;

    bool handleDiagnostics(const DiagnosticInfo &Info) override {
      Failed |= Info.getSeverity() == DS_Error;
      return true;
    }
  };

  LLVMContext &Context;
  std::unique_ptr<DiagnosticHandler> Own;
  bool Failed = false;
};

/// CloneModule maps initialisers before it has the bodies that the labels are in.
std::unique_ptr<Module> copyWithLabels(const Module &M) {
  auto IsLabelTable = [](const GlobalValue *V) {
    auto *Variable = dyn_cast<GlobalVariable>(V);
    return Variable && Variable->hasInitializer() && holdsLabels(*Variable);
  };
  ValueToValueMapTy Map;
  std::unique_ptr<Module> Copy =
      CloneModule(M, Map, [&](const GlobalValue *V) { return !IsLabelTable(V); });
  for (const GlobalVariable &V : M.globals())
    if (IsLabelTable(&V)) {
      auto *Mine = cast<GlobalVariable>(Map[&V]);
      Mine->setInitializer(MapValue(V.getInitializer(), Map));
      Mine->setLinkage(V.getLinkage());
    }
  return Copy;
}

} // namespace

UnitCode estimateNxp(Module &M, OptimizationLevel Level) {
  Expected<NxpOptions> Options = readNxpOptions(Level);
  if (!Options) {
    consumeError(Options.takeError());
    return UnitCode();
  }
  Silence Silent(M.getContext());
  std::unique_ptr<Module> All = copyWithLabels(M);
  dropMarks(*All);
  resolveAliases(*All);
  Plan P(*All);
  for (Function &F : *All)
    if (!F.isDeclaration() && !F.hasAvailableExternallyLinkage() &&
        !cName(F).starts_with("__flick_"))
      P.Choices[&F] = {Side::Nxp, "", false};
  P.Hash = unitHash(*All);
  if (!decideMembers(P) || P.Functions.empty())
    return UnitCode();
  for (auto &[F, Mine] : P.Functions)
    addProbes(*F);
  callFromModule(P);
  collectReferences(P);
  NxpHalf Half = makeNxpHalf(P, Options->Level);
  UnitCode Code;
  // What cannot be compiled cannot be placed; a build that places it says why.
  if (Error E = countNxp(Half, *Options, Code)) {
    consumeError(std::move(E));
    return UnitCode();
  }
  return Silent.failed() ? UnitCode() : Code;
}

namespace {

/// Distributes a function's code among the probes that host code has, too.
class Distribution {
public:
  Distribution(const CodeFunction &Code, const DenseMap<Probe, unsigned> &Counted,
               const DenseSet<uint32_t> &Functions)
      : Code(Code), Counted(Counted), Functions(Functions) {}

  DenseMap<Probe, NxpCounts> run() {
    DenseMap<Probe, double> Weight;
    DenseMap<Probe, unsigned> Copies;
    for (const CodeBlock &Block : Code.Blocks)
      for (const Probe &P : Block.Probes) {
        Weight[P] += std::max(Block.Frequency, Least);
        Copies[P] += 1;
      }
    DenseMap<Probe, NxpCounts> Out;
    for (unsigned At = 0; At < Code.Blocks.size(); ++At) {
      std::optional<unsigned> Anchor = anchorOf(At);
      if (!Anchor)
        continue;
      // The probe that shows most exactly how often the block runs.
      const Probe *Best = nullptr;
      for (const Probe &P : Code.Blocks[*Anchor].Probes)
        if (Counted.contains(P) && (!Best || Copies[P] < Copies[*Best]))
          Best = &P;
      const CodeBlock &Block = Code.Blocks[At];
      NxpCounts &Sum = Out.try_emplace(*Best, NxpCounts{}).first->second;
      for (size_t I = 0; I < Sum.size(); ++I)
        Sum[I] += Block.Counts[I] * std::max(Block.Frequency, Least) / Weight[*Best];
    }
    return Out;
  }

private:
  static constexpr double Least = 1e-9;

  const CodeFunction &Code;
  const DenseMap<Probe, unsigned> &Counted;
  const DenseSet<uint32_t> &Functions;

  bool isCounted(unsigned At) const {
    return any_of(Code.Blocks[At].Probes, [&](const Probe &P) { return Counted.contains(P); });
  }

  /// Of a function that host code calls, where the NxP has it inlined: it is counted there.
  bool isElsewhere(unsigned At) const {
    const auto &Probes = Code.Blocks[At].Probes;
    return !Probes.empty() &&
           none_of(Probes, [&](const Probe &P) { return Functions.contains(P.Function); });
  }

  bool isIn(unsigned At, unsigned Loop) const {
    for (unsigned Mine = Code.Blocks[At].Loop;; Mine = Code.Loops[Mine])
      if (Mine == Loop || Mine == 0)
        return Mine == Loop;
  }

  /// The block from whose executions those of this block follow: itself, or one in the same loop,
  /// or else in the next one around it; before others one through which every way here leads.
  std::optional<unsigned> anchorOf(unsigned At) const {
    if (isCounted(At))
      return At;
    if (isElsewhere(At))
      return std::nullopt;
    for (unsigned Loop = Code.Blocks[At].Loop;; Loop = Code.Loops[Loop]) {
      for (unsigned Above = At; Code.Blocks[Above].Dominator != Above;) {
        Above = Code.Blocks[Above].Dominator;
        if (!isIn(Above, Loop))
          break;
        if (isCounted(Above))
          return Above;
        if (isElsewhere(Above))
          return std::nullopt;
      }
      std::optional<unsigned> Best;
      for (unsigned Other = 0; Other < Code.Blocks.size(); ++Other)
        if (isIn(Other, Loop) && isCounted(Other) &&
            (!Best || Code.Blocks[Other].Frequency > Code.Blocks[*Best].Frequency))
          Best = Other;
      if (Best || Loop == 0)
        return Best;
    }
  }
};

} // namespace

Estimate::Estimate(const UnitCode &Code, const Function &F) : Code(Code), Number(numberOf(F)) {
  for (const Instruction &I : instructions(F))
    if (auto *Mine = dyn_cast<PseudoProbeInst>(&I)) {
      Probe P = probeOf(Mine->getFuncGuid()->getZExtValue(), Mine->getIndex()->getZExtValue());
      Counted[P] += 1;
      Functions.insert(P.Function);
    }
}

const DenseMap<Probe, NxpCounts> &Estimate::costsIn(uint32_t Function) {
  auto [It, New] = Known.try_emplace(Function);
  if (New)
    if (auto Its = Code.find(Function); Its != Code.end())
      It->second = Distribution(Its->second, Counted, Functions).run();
  return It->second;
}

std::optional<NxpCounts> Estimate::of(const BasicBlock &Block) {
  if (!Number || !Code.contains(*Number))
    return std::nullopt;
  NxpCounts Out{};
  for (const Instruction &I : Block) {
    auto *Mine = dyn_cast<PseudoProbeInst>(&I);
    if (!Mine)
      continue;
    Probe P = probeOf(Mine->getFuncGuid()->getZExtValue(), Mine->getIndex()->getZExtValue());
    // Where the NxP calls what the host has inlined, the callee's own code has it.
    for (uint32_t Function : {*Number, P.Function}) {
      const DenseMap<Probe, NxpCounts> &Costs = costsIn(Function);
      auto It = Costs.find(P);
      if (It == Costs.end())
        continue;
      for (size_t Class = 0; Class < Out.size(); ++Class)
        Out[Class] += It->second[Class];
      break;
    }
  }
  return Out;
}

} // namespace flick
