#include "Remarks.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LLVMRemarkStreamer.h"

using namespace llvm;

namespace flick {
namespace {

constexpr const char *PassName = "flick";

using Argument = DiagnosticInfoOptimizationBase::Argument;

bool isWanted(const LLVMContext &Context) {
  return Context.getLLVMRemarkStreamer() ||
         Context.getDiagHandlerPtr()->isAnyRemarkEnabled(PassName);
}

/// Why a function has NxP code, in the words of `flick place --explain`.
std::string reasonFor(const Member &Mine, const Choice *Chosen) {
  if (!Chosen)
    return Mine.R == Role::BothInline ? "inline, and NxP code calls it"
                                      : "small, calls nothing on the host, and NxP code calls it";
  auto [Kind, Entry] = StringRef(Chosen->Reason).split(':');
  if (Kind == "name")
    return ("named at " + Entry).str();
  if (Kind == "glob")
    return ("matches the pattern at " + Entry).str();
  return Kind == "random" ? "chosen by --flick-place=random" : "marked in the source";
}

void emitPlaced(const Function &F, const Member &Mine, const Choice *Chosen) {
  std::string Side = Mine.R == Role::Nxp ? "the NxP" : "both sides";
  if (Mine.R == Role::Nxp && Chosen && !Chosen->Tile.empty())
    Side += ", on the tile " + Chosen->Tile;
  OptimizationRemark Remark(PassName, "Placed", &F);
  Remark << "'" << Argument("Function", shownName(F)) << "' placed on " << Argument("Side", Side)
         << ": " << Argument("Reason", reasonFor(Mine, Chosen));
  F.getContext().diagnose(Remark);
}

void emitRefused(const Function &F, const Refusal &R) {
  // Where the refusal speaks of an instruction with a place in the source, there.
  DiagnosticLocation At(F.getSubprogram());
  if (R.At && R.At->getDebugLoc())
    At = DiagnosticLocation(R.At->getDebugLoc());
  OptimizationRemarkMissed Remark(PassName, "Refused", At, &F.getEntryBlock());
  Remark << "'" << Argument("Function", shownName(F)) << "' stays on the host: ["
         << Argument("Code", R.Code) << "] " << Argument("What", R.What) << ": "
         << Argument("Why", R.Why) << "; " << Argument("Help", R.Help);
  F.getContext().diagnose(Remark);
}

} // namespace

void emitRemarks(const Plan &P) {
  if (!isWanted(P.M.getContext()))
    return;
  for (auto &[F, Mine] : P.Functions) {
    auto Chosen = P.Choices.find(F);
    emitPlaced(*F, Mine, Chosen == P.Choices.end() ? nullptr : &Chosen->second);
  }
  for (auto &[F, Why] : P.Refused)
    if (!P.Functions.contains(F))
      emitRefused(*F, Why);
}

} // namespace flick
