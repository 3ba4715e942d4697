// LLVM's own pipeline and code generator for riscv64, in memory.
#include "Arity.h"
#include "Jumps.h"
#include "NxpCount.h"
#include "NxpHalf.h"
#include "SavedRegisters.h"
#include "flick_abi.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Instrumentation/BoundsChecking.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/PartiallyInlineLibCalls.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/EntryExitInstrumenter.h"

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

// Beside the instruction set. `relax` lets the image link shorten calls. Code written for x86-64
// accesses memory at any alignment, so the NxP must; to load bytes instead is slow to run and to
// compile.
constexpr StringLiteral MoreFeatures = ",+64bit,+relax,+unaligned-scalar-mem";

Error failure(const Twine &What) {
  return createStringError("[" FLICK_CODE_FAILED_TOOL "] the RISC-V compile failed: " + What);
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
  std::unique_ptr<TargetMachine> Machine(
      T->createTargetMachine(NxpTriple, "generic-rv64", Wanted.Features + MoreFeatures.str(),
                             Options, Reloc::PIC_, CodeModel::Medium, Effort));
  if (!Machine)
    return failure("no target machine");
  return Machine;
}

/// LLVM has no functions that convert wider integers (`_BitInt`) to floating point and back; its
/// code generator for x86-64 computes instead, and that for RISC-V does so only if an option says
/// so.
void expandWideConversions() {
  if (cl::Option *Bits = cl::getRegisteredOptions().lookup("expand-fp-convert-bits"))
    static_cast<cl::opt<unsigned> *>(Bits)->setValue(128);
}

/// A pass manager's analyses, with what LLVM shall know of the library.
class Analyses {
public:
  Analyses(TargetMachine &Machine, const TargetLibraryInfoImpl &Library,
           const PipelineTuningOptions &Tuning)
      : Builder(&Machine, Tuning) {
    Functions.registerPass([&] { return TargetLibraryAnalysis(Library); });
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  }

  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  PassBuilder Builder;
};

void optimise(Module &N, TargetMachine &Machine, const TargetLibraryInfoImpl &Library,
              const NxpOptions &Options) {
  OptimizationLevel Level = Options.Level;
  // As clang does it.
  PipelineTuningOptions Tuning;
  Tuning.LoopUnrolling = Tuning.LoopInterleaving = Options.Unroll;
  Tuning.LoopVectorization = Options.Vectorize;
  Analyses Manager(Machine, Library, Tuning);
  if (Options.LocalBounds)
    Manager.Builder.registerScalarOptimizerLateEPCallback(
        [](FunctionPassManager &Passes, OptimizationLevel) {
          Passes.addPass(BoundsCheckingPass());
        });
  ModulePassManager Passes = Level == OptimizationLevel::O0
                                 ? Manager.Builder.buildO0DefaultPipeline(Level)
                                 : Manager.Builder.buildPerModuleDefaultPipeline(Level);
  Passes.addPass(
      createModuleToFunctionPassAdaptor(EntryExitInstrumenterPass(/*PostInlining=*/true)));
  if (Level != OptimizationLevel::O0)
    // The code generator has this, too, but does not find the names any more.
    Passes.addPass(createModuleToFunctionPassAdaptor(PartiallyInlineLibCallsPass()));
  Passes.run(N, Manager.Modules);
}

/// What lists and parts of values have brought into functions behind the optimiser.
void tidy(const SetVector<Function *> &Changed, TargetMachine &Machine) {
  TargetLibraryInfoImpl None(Triple(NxpTriple.str()));
  None.disableAllFunctions(); // calls are made for good
  Analyses Manager(Machine, None, PipelineTuningOptions());
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(InstCombinePass());
  for (Function *F : Changed)
    if (!F->hasOptNone())
      Passes.run(*F, Manager.Functions);
}

/// A call may set another rounding mode, which the code generator does not know: it takes two equal
/// operations, one in front of a call and one behind it, for one. What can raise an exception it
/// leaves alone.
void keepOnSideOfCalls(Module &N) {
  for (Function &F : N)
    for (Instruction &I : instructions(F)) {
      auto *Strict = dyn_cast<ConstrainedFPIntrinsic>(&I);
      if (!Strict || Strict->getExceptionBehavior() != fp::ebIgnore ||
          Strict->getRoundingMode().value_or(RoundingMode::Dynamic) != RoundingMode::Dynamic)
        continue;
      auto *Trap = MDString::get(N.getContext(), *convertExceptionBehaviorToStr(fp::ebMayTrap));
      Strict->setArgOperand(Strict->arg_size() - 1, MetadataAsValue::get(N.getContext(), Trap));
    }
}

/// The first passes of TargetMachine::addPassesToEmitFile: all but those that emit code. Null where
/// there are none.
MachineModuleInfoWrapperPass *addCodeGenerator(legacy::PassManager &Passes,
                                               LLVMTargetMachine &Machine) {
  auto *Info = new MachineModuleInfoWrapperPass(&Machine);
  TargetPassConfig *Config = Machine.createPassConfig(Passes);
  Config->setDisableVerify(true);
  if (Machine.getOptLevel() != CodeGenOptLevel::None)
    Config->insertPass(&StackSlotColoringID, orderSavedRegisters());
  Passes.add(Config);
  Passes.add(Info);
  if (Config->addISelPasses())
    return nullptr;
  Config->addMachinePasses();
  Config->setInitialized();
  return Info;
}

/// TargetMachine::addPassesToEmitFile, with two passes around the one that emits code. What they
/// share is in `Jumps`.
bool addPassesToEmit(legacy::PassManager &Passes, LLVMTargetMachine &Machine,
                     raw_pwrite_stream &Out, FunctionJumps &Jumps) {
  auto *Info = addCodeGenerator(Passes, Machine);
  if (!Info)
    return false;
  auto Streamer = Machine.createMCStreamer(Out, nullptr, CodeGenFileType::ObjectFile,
                                           Info->getMMI().getContext());
  if (!Streamer) {
    consumeError(Streamer.takeError());
    return false;
  }
  MCStreamer &Its = **Streamer;
  AsmPrinter *Printer = Machine.getTarget().createAsmPrinter(Machine, std::move(*Streamer));
  if (!Printer)
    return false;
  Passes.add(markJumps(Jumps));
  Passes.add(Printer);
  Passes.add(writeJumps(Jumps, Its));
  Passes.add(createFreeMachineFunctionPass());
  return true;
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

/// Exception tables lead to types and to the personality routine by way of words that the code
/// generator puts into writable data, for a linker with copy relocations. They are constants.
constexpr StringLiteral RelocatedData = ".data.rel.ro";

bool handlesExceptions(const Module &N) {
  return any_of(N, [](const Function &F) { return F.hasPersonalityFn(); });
}

/// Nothing else of NxP code is in `.data`: variables have their home on the host.
Error makeTablesConstant(MutableArrayRef<char> Bytes) {
  using ELF = object::ELF64LE;
  auto File = object::ELFFile<ELF>::create(StringRef(Bytes.data(), Bytes.size()));
  if (!File)
    return File.takeError();
  auto Sections = File->sections();
  if (!Sections)
    return Sections.takeError();
  std::optional<uint32_t> Name;
  SmallVector<const ELF::Shdr *> Tables;
  for (const ELF::Shdr &Section : *Sections) {
    auto Its = File->getSectionName(Section);
    if (!Its)
      return Its.takeError();
    if (*Its == RelocatedData)
      Name = Section.sh_name;
    else if (*Its == ".data" || Its->starts_with(".data.DW.ref."))
      Tables.push_back(&Section);
  }
  for (const ELF::Shdr *Section : Tables) {
    if (!Name)
      return failure("it has writable data");
    auto *Mine = Bytes.data() + (reinterpret_cast<const char *>(Section) - Bytes.data());
    reinterpret_cast<ELF::Shdr *>(Mine)->sh_name = *Name;
  }
  return Error::success();
}

/// Marks functions that want more than their callers hand over by their types, and those that may
/// run on another tile than their callers: the image link leads no call by name to them
/// (STO_RISCV_VARIANT_CC, RISC-V ELF psABI).
std::string variantConventions(const Module &N) {
  std::string Text;
  for (const Function &F : N)
    if (!F.isDeclarationForLinker() && !F.hasLocalLinkage() &&
        (F.hasFnAttribute(TileAttribute) ||
         any_of(F.args(), [](const Argument &A) { return A.hasNestAttr(); })))
      Text += ("\t.variant_cc\t\"" + cName(F) + "\"\n").str();
  return Text;
}

} // namespace

/// The machine that the module is for from now on.
static Expected<std::unique_ptr<TargetMachine>> retarget(Module &N, const NxpOptions &Options) {
  auto Machine = makeMachine(Options);
  if (!Machine)
    return Machine.takeError();
  N.setDataLayout((*Machine)->createDataLayout());
  std::string Broken;
  raw_string_ostream BrokenStream(Broken);
  if (verifyModule(N, &BrokenStream))
    return failure("the NxP half is not valid: " + BrokenStream.str());
  return Machine;
}

/// For the code generator.
static Error makeReady(NxpHalf &Half, TargetMachine &Machine, const NxpOptions &Options) {
  Module &N = *Half.N;
  applyOptions(N, Options);
  optimise(N, Machine, Half.Library, Options);
  if (Error E = settle(Half))
    return E;
  SetVector<Function *> Changed = adoptConvention(N);
  if (Options.Level != OptimizationLevel::O0 && !Changed.empty())
    tidy(Changed, Machine);
  keepOnSideOfCalls(N);
  expandWideConversions();
  std::string Broken;
  raw_string_ostream BrokenStream(Broken);
  if (verifyModule(N, &BrokenStream))
    return failure("the NxP half is not valid any more: " + BrokenStream.str());
  return Error::success();
}

Expected<std::string> compileNxp(NxpHalf &Half, const NxpOptions &Options) {
  Module &N = *Half.N;
  auto Machine = retarget(N, Options);
  if (!Machine)
    return Machine.takeError();

  bool Handles = handlesExceptions(N);
  if (Handles)
    N.appendModuleInlineAsm(("\t.section\t" + RelocatedData + ",\"aw\",@progbits\n").str());
  if (Error E = makeReady(Half, **Machine, Options))
    return E;
  N.appendModuleInlineAsm(arityRecords(N));
  N.appendModuleInlineAsm(variantConventions(N));

  StringSet<> Known;
  // Landing pads that go on unwinding: a host function whose registers agree.
  for (StringRef Name : {"_Unwind_Resume", FLICK_RT_XCALL, FLICK_NXP_LIBRARY})
    Known.insert(Name);
  for (const GlobalValue &V : N.global_values())
    Known.insert(cName(V));

  SmallString<0> Object;
  raw_svector_ostream Stream(Object);
  legacy::PassManager Passes;
  TargetLibraryInfoImpl Library(Triple(N.getTargetTriple()));
  Passes.add(new TargetLibraryInfoWrapperPass(Library));
  FunctionJumps Jumps;
  if (!addPassesToEmit(Passes, static_cast<LLVMTargetMachine &>(**Machine), Stream, Jumps))
    return failure("no object emission");
  Passes.run(N);
  if (Error E = checkUndefined(Object, Known))
    return E;
  if (Handles)
    if (Error E = makeTablesConstant(Object))
      return E;
  return std::string(Object);
}

Error countNxp(NxpHalf &Half, const NxpOptions &Options, UnitCode &Code) {
  Module &N = *Half.N;
  auto Machine = retarget(N, Options);
  if (!Machine)
    return Machine.takeError();
  if (Error E = makeReady(Half, **Machine, Options))
    return E;
  legacy::PassManager Passes;
  TargetLibraryInfoImpl Library(Triple(N.getTargetTriple()));
  Passes.add(new TargetLibraryInfoWrapperPass(Library));
  if (!addCodeGenerator(Passes, static_cast<LLVMTargetMachine &>(**Machine)))
    return failure("no code generation");
  Passes.add(createNxpCountPass(Code));
  Passes.add(createFreeMachineFunctionPass());
  Passes.run(N);
  return Error::success();
}

} // namespace flick
