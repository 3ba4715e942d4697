#include "CommandLine.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace flick {

static cl::opt<std::string> CommandLineOption("flick-command-line", cl::value_desc("words"),
                                              cl::desc("Flick: the command line to record"));

/// Operand of DICompileUnit that holds the flags.
constexpr unsigned FlagsOperand = 2;

void restoreCommandLine(Module &M) {
  if (CommandLineOption.empty())
    return;
  LLVMContext &Ctx = M.getContext();
  auto *Words = MDString::get(Ctx, CommandLineOption);
  if (NamedMDNode *Record = M.getNamedMetadata("llvm.commandline")) {
    Record->clearOperands();
    Record->addOperand(MDNode::get(Ctx, Words));
  }
  for (DICompileUnit *Unit : M.debug_compile_units())
    if (MDString *Flags = Unit->getRawFlags(); Flags && Flags == Unit->getOperand(FlagsOperand))
      Unit->replaceOperandWith(FlagsOperand, Words);
}

} // namespace flick
