// LLVM's own pipeline and code generator for riscv64, in memory.
#include "NxpHalf.h"
#include "flick_abi.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

extern "C" {
void LLVMInitializeRISCVTargetInfo();
void LLVMInitializeRISCVTarget();
void LLVMInitializeRISCVTargetMC();
void LLVMInitializeRISCVAsmPrinter();
void LLVMInitializeRISCVAsmParser();
}

namespace flick {
namespace {

// FLICK_NXP_MARCH, spelt as features; `relax` lets the image link shorten calls. Code written for
// x86-64 accesses memory at any alignment, so the NxP must; to load bytes instead is slow to run
// and to compile.
constexpr StringLiteral Features =
    "+64bit,+m,+a,+f,+d,+zicsr,+zifencei,+relax,+unaligned-scalar-mem";

Error failure(const Twine &What) {
  return createStringError("[FLK0103] the RISC-V compile failed: " + What);
}

Expected<std::unique_ptr<TargetMachine>> makeMachine(const NxpOptions &Wanted) {
  OptimizationLevel Level = Wanted.Level;
  LLVMInitializeRISCVTargetInfo();
  LLVMInitializeRISCVTarget();
  LLVMInitializeRISCVTargetMC();
  LLVMInitializeRISCVAsmPrinter();
  LLVMInitializeRISCVAsmParser();
  std::string Why;
  const Target *T = TargetRegistry::lookupTarget(NxpTriple.str(), Why);
  if (!T)
    return failure(Why);
  TargetOptions Options;
  Options.AllowFPOpFusion = FPOpFusion::Strict;
  Options.MCOptions.ABIName = "lp64d";
  CodeGenOptLevel Effort = Level == OptimizationLevel::O0   ? CodeGenOptLevel::None
                           : Level == OptimizationLevel::O1 ? CodeGenOptLevel::Less
                           : Level == OptimizationLevel::O3 ? CodeGenOptLevel::Aggressive
                                                            : CodeGenOptLevel::Default;
  std::unique_ptr<TargetMachine> Machine(T->createTargetMachine(
      NxpTriple, "generic-rv64", (Features + (Wanted.Uncompressed ? "" : ",+c")).str(), Options,
      Reloc::PIC_, CodeModel::Medium, Effort));
  if (!Machine)
    return failure("no target machine");
  return Machine;
}

void optimise(Module &N, TargetMachine &Machine, OptimizationLevel Level) {
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  PassBuilder Builder(&Machine);
  TargetLibraryInfoImpl Library(Triple(N.getTargetTriple()));
  Functions.registerPass([&] { return TargetLibraryAnalysis(Library); });
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Components);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  ModulePassManager Passes = Level == OptimizationLevel::O0
                                 ? Builder.buildO0DefaultPipeline(Level)
                                 : Builder.buildPerModuleDefaultPipeline(Level);
  Passes.run(N, Modules);
}

/// Undefined symbols must be the module's own, or functions that libnxp has for the code generator:
/// anything else would cross to the host without anybody having looked at its signature.
Error checkUndefined(StringRef Object, const StringSet<> &Known) {
  auto File = object::ObjectFile::createObjectFile(MemoryBufferRef(Object, "NxP object"));
  if (!File)
    return File.takeError();
  std::string Unknown;
  for (const object::SymbolRef &Symbol : (*File)->symbols()) {
    auto Flags = Symbol.getFlags();
    auto Name = Symbol.getName();
    if (!Flags)
      return Flags.takeError();
    if (!Name)
      return Name.takeError();
    if ((*Flags & object::SymbolRef::SF_Undefined) && !Name->empty() && !Known.contains(*Name))
      Unknown += (Unknown.empty() ? "" : ", ") + Name->str();
  }
  if (!Unknown.empty())
    return failure("the code generator wants functions that libnxp lacks: " + Unknown);
  return Error::success();
}

} // namespace

Expected<std::string> compileNxp(Module &N, const NxpOptions &Options) {
  auto Machine = makeMachine(Options);
  if (!Machine)
    return Machine.takeError();
  N.setDataLayout((*Machine)->createDataLayout());
  std::string Broken;
  raw_string_ostream BrokenStream(Broken);
  if (verifyModule(N, &BrokenStream))
    return failure("the NxP half is not valid: " + BrokenStream.str());

  StringSet<> Known;
  for (StringRef Name : {FLICK_RT_XCALL, FLICK_NXP_LIBRARY})
    Known.insert(Name);
  for (const GlobalValue &V : N.global_values())
    Known.insert(cName(V));

  applyOptions(N, Options);
  optimise(N, **Machine, Options.Level);

  SmallString<0> Object;
  raw_svector_ostream Stream(Object);
  legacy::PassManager Passes;
  TargetLibraryInfoImpl Library(Triple(N.getTargetTriple()));
  Passes.add(new TargetLibraryInfoWrapperPass(Library));
  if ((*Machine)->addPassesToEmitFile(Passes, Stream, nullptr, CodeGenFileType::ObjectFile))
    return failure("no object emission");
  Passes.run(N);
  if (Error E = checkUndefined(Object, Known))
    return E;
  return std::string(Object);
}

} // namespace flick
