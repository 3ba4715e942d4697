#include "NxpOptions.h"
#include "flick_abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/RISCVISAInfo.h"
#include "llvm/TargetParser/RISCVTargetParser.h"

using namespace llvm;

namespace flick {

static cl::opt<std::string> LevelOption("flick-nxp-level", cl::value_desc("level"),
                                        cl::desc("Flick: optimisation level of the NxP half"));
static cl::opt<std::string> MarchOption("flick-nxp-march", cl::value_desc("isa"),
                                        cl::init(FLICK_NXP_MARCH),
                                        cl::desc("Flick: instruction set of NxP code"));
static cl::opt<std::string> TuneOption("flick-nxp-tune", cl::value_desc("cpu"),
                                       cl::desc("Flick: processor that NxP code is tuned for"));
static cl::opt<cl::boolOrDefault>
    UnrollOption("flick-nxp-unroll", cl::desc("Flick: unroll loops of the NxP half, or do not"));
static cl::opt<cl::boolOrDefault>
    VectorizeOption("flick-nxp-vectorize",
                    cl::desc("Flick: the loop vectoriser for the NxP half, or none"));
static cl::opt<bool>
    LocalBoundsOption("flick-nxp-local-bounds",
                      cl::desc("Flick: checks of -fsanitize=local-bounds in the NxP half"));
static cl::opt<std::string> RefuseOption("flick-refuse", cl::value_desc("option"),
                                         cl::desc("Flick: an option that excludes NxP code"));

Expected<NxpOptions> readNxpOptions(OptimizationLevel Host) {
  auto Isa = RISCVISAInfo::parseArchString(MarchOption, /*EnableExperimentalExtension=*/false);
  if (!Isa)
    return createStringError("[" FLICK_CODE_BAD_OPTION "] -Xnxp=-march=" + MarchOption + ": " +
                             toString(Isa.takeError()));
  NxpOptions Out;
  Out.Level = Host;
  Out.Features = join((*Isa)->toFeatures(), ",");
  Out.Tune = TuneOption;
  if (!LevelOption.empty())
    Out.Level = StringSwitch<OptimizationLevel>(LevelOption)
                    .Case("0", OptimizationLevel::O0)
                    .Case("1", OptimizationLevel::O1)
                    .Case("3", OptimizationLevel::O3)
                    .Case("s", OptimizationLevel::Os)
                    .Case("z", OptimizationLevel::Oz)
                    .Default(OptimizationLevel::O2);
  auto Wanted = [&](cl::boolOrDefault Option) {
    return Option == cl::BOU_UNSET ? Out.Level.getSpeedupLevel() > 1 : Option == cl::BOU_TRUE;
  };
  Out.Unroll = Wanted(UnrollOption);
  Out.Vectorize = Wanted(VectorizeOption);
  Out.LocalBounds = LocalBoundsOption;
  if (!Out.Tune.empty() && !RISCV::parseTuneCPU(Out.Tune, /*IsRV64=*/true))
    return createStringError("[" FLICK_CODE_BAD_OPTION "] -Xnxp=-mtune=" + Out.Tune +
                             ": no RV64 processor that LLVM knows has this name; `clang-19 "
                             "--target=riscv64 -mcpu=help --print-supported-cpus` lists them");
  return Out;
}

void applyOptions(Module &N, const NxpOptions &Options) {
  for (Function &F : N) {
    if (F.isDeclaration())
      continue;
    // Vector registers that are spilled make a frame whose size is known at run time. Without a
    // frame pointer unwinders would need an expression of vlenb, which the host's do not have.
    if (StringRef(Options.Features).contains("+zve32x"))
      F.addFnAttr("frame-pointer", "all");
    if (!Options.Tune.empty())
      F.addFnAttr("tune-cpu", Options.Tune);
    if (LevelOption.empty())
      continue;
    // clang marks every function of an -O0 compile so; a user's own noinline goes with it.
    if (Options.Level != OptimizationLevel::O0 && F.hasFnAttribute(Attribute::OptimizeNone)) {
      F.removeFnAttr(Attribute::OptimizeNone);
      F.removeFnAttr(Attribute::NoInline);
    }
    F.removeFnAttr(Attribute::OptimizeForSize);
    F.removeFnAttr(Attribute::MinSize);
    if (Options.Level == OptimizationLevel::O0)
      continue;
    if (Options.Level.getSizeLevel() > 0)
      F.addFnAttr(Attribute::OptimizeForSize);
    if (Options.Level.getSizeLevel() > 1)
      F.addFnAttr(Attribute::MinSize);
  }
}

StringRef refusedOption() { return RefuseOption; }

} // namespace flick
