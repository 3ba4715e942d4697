#include "NxpCount.h"

#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineBranchProbabilityInfo.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/PseudoSourceValue.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using namespace llvm;

namespace flick {
namespace {

/// As crates/timing/src/platform/core_model.rs has them, then what else there is to count.
enum Class {
  Int,
  Mul,
  Div,
  Load,
  Store,
  Branch,
  Jump,
  Fp,
  FpMul,
  FpDiv,
  Atomic,
  Address,
  Bit,
  System,
  Taken,
  StackLoad,
  StackStore,
};
static_assert(StackStore + 1 == FLICK_TIMED_NXP_COUNTS);

bool beginsWithOneOf(StringRef Name, ArrayRef<StringRef> Beginnings) {
  return any_of(Beginnings, [&](StringRef Beginning) { return Name.starts_with(Beginning); });
}

/// Of an instruction that neither accesses memory nor branches; Name is LLVM's for it.
Class classOfName(StringRef Name) {
  if (beginsWithOneOf(Name, {"FENCE", "CSRR", "ECALL", "EBREAK", "WriteF", "ReadF", "SwapF"}))
    return System;
  if (Name.starts_with("MUL"))
    return Mul;
  if (beginsWithOneOf(Name, {"DIV", "REM"}))
    return Div;
  if (beginsWithOneOf(Name, {"FMUL", "FMADD", "FMSUB", "FNMADD", "FNMSUB"}))
    return FpMul;
  if (beginsWithOneOf(Name, {"FDIV", "FSQRT"}))
    return FpDiv;
  if (Name.starts_with("F"))
    return Fp;
  if (beginsWithOneOf(Name, {"ADD_UW", "SH1ADD", "SH2ADD", "SH3ADD", "SLLI_UW"}))
    return Address;
  if (beginsWithOneOf(Name,
                      {"ANDN", "ORN", "XNOR", "CLZ", "CTZ", "CPOP", "MAX", "MIN", "SEXT_", "ZEXT_",
                       "ROL", "ROR", "ORC_B", "REV8", "BCLR", "BEXT", "BINV", "BSET", "CZERO"}))
    return Bit;
  return Int;
}

bool isOfStack(const MachineInstr &I) {
  return any_of(I.memoperands(), [](const MachineMemOperand *Operand) {
    const PseudoSourceValue *Value = Operand->getPseudoValue();
    return Value && (Value->kind() == PseudoSourceValue::FixedStack ||
                     Value->kind() == PseudoSourceValue::Stack);
  });
}

class NxpCount : public MachineFunctionPass {
public:
  static char ID;
  explicit NxpCount(UnitCode &Code) : MachineFunctionPass(ID), Code(Code) {}

  StringRef getPassName() const override { return "Flick: count RV64 code"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<MachineBlockFrequencyInfoWrapperPass>();
    Usage.addRequired<MachineBranchProbabilityInfoWrapperPass>();
    Usage.addRequired<MachineDominatorTreeWrapperPass>();
    Usage.addRequired<MachineLoopInfoWrapperPass>();
    Usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

  bool runOnMachineFunction(MachineFunction &F) override {
    std::optional<uint32_t> Number = numberOf(F.getFunction());
    if (!Number)
      return false;
    auto &Frequencies = getAnalysis<MachineBlockFrequencyInfoWrapperPass>().getMBFI();
    auto &Dominators = getAnalysis<MachineDominatorTreeWrapperPass>().getDomTree();
    auto &Loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    CodeFunction &Out = Code[*Number];
    Out = {};
    DenseMap<const MachineBasicBlock *, unsigned> Indices;
    for (MachineBasicBlock &Block : F)
      Indices[&Block] = Indices.size();
    DenseMap<const MachineLoop *, unsigned> Numbers;
    Out.Loops.push_back(0);
    for (const MachineLoop *Loop : Loops.getLoopsInPreorder()) {
      Numbers[Loop] = Out.Loops.size();
      Out.Loops.push_back(Numbers.lookup(Loop->getParentLoop()));
    }
    for (MachineBasicBlock &Block : F) {
      CodeBlock Mine = count(Block);
      Mine.Frequency = Frequencies.getBlockFreqRelativeToEntryBlock(&Block);
      Mine.Loop = Numbers.lookup(Loops.getLoopFor(&Block));
      auto *Node = Dominators.getNode(&Block);
      auto *Above = Node ? Node->getIDom() : nullptr;
      Mine.Dominator = Indices.lookup(Above ? Above->getBlock() : &Block);
      Out.Blocks.push_back(std::move(Mine));
    }
    return false;
  }

private:
  UnitCode &Code;

  CodeBlock count(MachineBasicBlock &Block) {
    auto &Probabilities = getAnalysis<MachineBranchProbabilityInfoWrapperPass>().getMBPI();
    const TargetInstrInfo &Names = *Block.getParent()->getSubtarget().getInstrInfo();
    CodeBlock Out;
    // What follows a branch that is taken is not reached.
    double Reached = 1;
    auto Add = [&](Class C) { Out.Counts[C] += Reached; };
    for (const MachineInstr &I : Block.instrs()) {
      if (I.isPseudoProbe()) {
        Out.Probes.push_back(probeOf(I.getOperand(0).getImm(), I.getOperand(1).getImm()));
        continue;
      }
      if (I.isMetaInstruction() || I.isBundle())
        continue;
      StringRef Name = Names.getName(I.getOpcode());
      if (beginsWithOneOf(Name, {"AMO", "LR_", "SC_"})) {
        Add(Atomic);
      } else if (I.isConditionalBranch()) {
        Add(Branch);
        for (const MachineOperand &Operand : I.operands())
          if (Operand.isMBB() && Block.isSuccessor(Operand.getMBB())) {
            BranchProbability Taken = Probabilities.getEdgeProbability(&Block, Operand.getMBB());
            double Share = double(Taken.getNumerator()) / Taken.getDenominator();
            Out.Counts[Class::Taken] += Reached * Share;
            Reached *= 1 - Share;
          }
      } else if (I.isBranch() || I.isCall() || I.isReturn()) {
        Add(Jump);
      } else if (I.mayLoad() && !I.isInlineAsm()) {
        Add(Load);
        if (isOfStack(I))
          Add(StackLoad);
      } else if (I.mayStore() && !I.isInlineAsm()) {
        Add(Store);
        if (isOfStack(I))
          Add(StackStore);
      } else {
        Add(classOfName(Name));
      }
    }
    return Out;
  }
};

char NxpCount::ID = 0;

} // namespace

MachineFunctionPass *createNxpCountPass(UnitCode &Code) { return new NxpCount(Code); }

} // namespace flick
