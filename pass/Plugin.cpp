// Flick's LLVM pass: splits a unit by placement (docs/compiler.md, "The pass").
#include "Aliases.h"
#include "CallerModule.h"
#include "CommandLine.h"
#include "Diagnostics.h"
#include "Estimate.h"
#include "Hooks.h"
#include "HostCheck.h"
#include "HostHalf.h"
#include "HostTime.h"
#include "Legality.h"
#include "LibraryNames.h"
#include "NxpHalf.h"
#include "Placement.h"
#include "References.h"
#include "Remarks.h"
#include "Requests.h"
#include "flick_abi.h"

#include "llvm/IR/PassTimingInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/Timer.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace flick {
namespace {

/// A step as `-ftime-report` lists it.
template <typename Step> auto timed(const char *Name, Step Run) {
  NamedRegionTimer Timer(Name, Name, "flick", "Flick: the split by placement", TimePassesIsEnabled);
  return Run();
}

class SplitPass : public PassInfoMixin<SplitPass> {
public:
  /// Code: where the pass that times host code finds what the same is on the NxP.
  SplitPass(OptimizationLevel Level, std::shared_ptr<UnitCode> Code)
      : Level(Level), Code(std::move(Code)) {}
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &Analyses) {
    restoreCommandLine(M);
    RequestsMade Requests = timed("requests", [&] { return makeRequests(M); });
    if (Requests == RequestsMade::Failed)
      return PreservedAnalyses::none();
    PreservedAnalyses Preserved = placed(M, Analyses);
    if (Requests == RequestsMade::None)
      return Preserved;
    // Nobody is to see the marks, nor functions that they alone keep.
    dropMarks(M);
    return PreservedAnalyses::none();
  }

private:
  OptimizationLevel Level;
  std::shared_ptr<UnitCode> Code;

  PreservedAnalyses placed(Module &M, ModuleAnalysisManager &Analyses) {
    if (!hostCodeIsTimed() || Triple(M.getTargetTriple()).getArch() != Triple::x86_64)
      return split(M, Analyses) ? PreservedAnalyses::none() : PreservedAnalyses::all();
    numberFunctions(M);
    *Code = timed("estimate", [&] { return estimateNxp(M, Level); });
    DenseMap<uint32_t, size_t> Blocks;
    for (const Function &F : M)
      if (std::optional<uint32_t> Number = numberOf(F))
        Blocks[*Number] = F.size();
    split(M, Analyses);
    // As they are on the other side: where their blocks are still the front end's.
    for (Function &F : M)
      if (std::optional<uint32_t> Number = numberOf(F);
          Number && Blocks.lookup(*Number) == F.size())
        addProbes(F);
    return PreservedAnalyses::none();
  }

  /// True if the module was changed.
  bool split(Module &M, ModuleAnalysisManager &Analyses) {
    Expected<PlacementOptions> Options = readPlacementOptions();
    if (!Options) {
      SmallVector<StringRef> Lines;
      std::string Text = toString(Options.takeError());
      StringRef(Text).split(Lines, '\n');
      for (StringRef Line : Lines)
        report(M, Line);
      return false;
    }
    M.setSourceFileName(originalName(M.getSourceFileName()));
    Plan P(M);
    if (!timed("choose", [&] { return choosePlacement(P, *Options); }))
      return false;
    bool Wanted = any_of(P.Choices, [](auto &C) { return C.second.Where != Side::Host; });
    if (Wanted && Triple(M.getTargetTriple()).getArch() != Triple::x86_64) {
      report(M, "[" FLICK_CODE_NO_RV64_FORM "] the target " + M.getTargetTriple() +
                    ": Flick places functions of x86-64 programs only; compile without -m32 or "
                    "--target");
      return false;
    }
    if (Wanted)
      P.Hash = timed("hash", [&] { return unitHash(M); });
    bool Changed = Wanted && resolveAliases(M);
    if (Wanted) // whether or not it changes something
      addHooks(M, Analyses);
    if (!timed("decide", [&] { return decideMembers(P); }))
      return Changed;
    if (!P.Functions.empty() && !refusedOption().empty()) {
      const Function &First = *P.Functions.begin()->first;
      report(First, {FLICK_CODE_UNHANDLED_OPTION, "an option is not handled together with NxP code",
                     ("this file is compiled with " + refusedOption()).str(),
                     "compile it without this option, or place nothing of it"});
      return Changed;
    }
    emitRemarks(P);
    std::string Lines = placeLines(P);
    Changed |= !P.NxpData.empty() || !Lines.empty();
    if (!P.Functions.empty() || !P.DeclareOnly.empty()) {
      std::string Object;
      if (!P.Functions.empty()) {
        Expected<NxpOptions> Nxp = readNxpOptions(Level);
        if (!Nxp) {
          report(M, toString(Nxp.takeError()));
          return Changed;
        }
        NxpHalf Half = timed("NxP half", [&] {
          callFromModule(P);
          collectReferences(P);
          return makeNxpHalf(P, Nxp->Level);
        });
        Expected<std::string> Compiled =
            timed("NxP compile", [&] { return compileNxp(Half, *Nxp); });
        if (!Compiled) {
          report(M, toString(Compiled.takeError()));
          return true;
        }
        Object = std::move(*Compiled);
      }
      timed("host half", [&] { makeHostHalf(P, Object); });
      Changed = true;
    }
    placeData(P);
    if (!Lines.empty())
      addPlaceLines(M, Lines);
    std::string Broken;
    raw_string_ostream Stream(Broken);
    if (Changed && verifyModule(M, &Stream))
      report(M, "[" FLICK_CODE_FAILED_TOOL "] the host half is not valid: " + Stream.str());
    return Changed;
  }
};

} // namespace
} // namespace flick

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "flick", "1", [](PassBuilder &Builder) {
            auto Code = std::make_shared<flick::UnitCode>();
            Builder.registerPipelineStartEPCallback(
                [=](ModulePassManager &Passes, OptimizationLevel Level) {
                  Passes.addPass(flick::SplitPass(Level, Code));
                });
            Builder.registerOptimizerLastEPCallback(
                [=](ModulePassManager &Passes, OptimizationLevel) {
                  Passes.addPass(flick::LateNamesPass());
                  Passes.addPass(flick::HostCloneHooksPass());
                  Passes.addPass(flick::HostTimePass(Code));
                  Passes.addPass(flick::HostCheckPass());
                });
          }};
}
