#include "Jumps.h"
#include "flick_abi.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCSectionELF.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSymbolELF.h"

using namespace llvm;

namespace flick {
namespace {

bool isThroughRegister(const MachineInstr &I) {
  return I.getNumOperands() && I.getOperand(0).isReg();
}

bool isTailCall(const MachineInstr &I) { return I.isCall() && I.isReturn(); }

class Marker : public MachineFunctionPass {
public:
  static char ID;
  explicit Marker(FunctionJumps &Jumps) : MachineFunctionPass(ID), Jumps(Jumps) {}
  StringRef getPassName() const override { return "Flick: labels of jumps"; }

  bool runOnMachineFunction(MachineFunction &F) override {
    Jumps.clear();
    for (MachineBasicBlock &Block : F)
      for (MachineInstr &I : Block) {
        if (!isThroughRegister(I))
          continue;
        if (isTailCall(I))
          add({}, I);
        else if (I.isIndirectBranch())
          addBranch(I);
      }
    return !Jumps.empty();
  }

private:
  FunctionJumps &Jumps;

  void addBranch(MachineInstr &I) {
    SmallVector<MachineBasicBlock *> Blocks(I.getParent()->successors());
    // A jump that cannot be executed is not one that leads out of the function.
    if (Blocks.empty())
      return;
    sort(Blocks, [](auto *A, auto *B) { return A->getNumber() < B->getNumber(); });
    Blocks.erase(unique(Blocks), Blocks.end());
    add(Blocks, I);
  }

  void add(ArrayRef<MachineBasicBlock *> Targets, MachineInstr &I) {
    std::vector<int> Numbers;
    for (MachineBasicBlock *Block : Targets)
      Numbers.push_back(Block->getNumber());
    JumpGroup &Group = Jumps[Numbers];
    if (Group.Targets.empty())
      for (MachineBasicBlock *Block : Targets) {
        Block->setLabelMustBeEmitted();
        Group.Targets.push_back(Block->getSymbol());
      }
    MachineFunction &F = *I.getMF();
    MCSymbol *At = I.getPreInstrSymbol();
    if (!At) {
      At = F.getContext().createTempSymbol();
      I.setPreInstrSymbol(F, At);
    }
    Group.Jumps.push_back(At);
  }
};

class Writer : public MachineFunctionPass {
public:
  static char ID;
  Writer(const FunctionJumps &Jumps, MCStreamer &Streamer)
      : MachineFunctionPass(ID), Jumps(Jumps), Streamer(Streamer) {}
  StringRef getPassName() const override { return "Flick: where jumps lead"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

  bool runOnMachineFunction(MachineFunction &F) override {
    if (Jumps.empty())
      return false;
    Streamer.pushSection();
    Streamer.switchSection(section(F));
    for (const auto &[Numbers, Group] : Jumps) {
      Streamer.emitInt32(Group.Targets.size());
      Streamer.emitInt32(Group.Jumps.size());
      for (const auto *Symbols : {&Group.Targets, &Group.Jumps})
        for (const MCSymbol *Symbol : *Symbols)
          Streamer.emitSymbolValue(Symbol, 8);
    }
    Streamer.popSection();
    return false;
  }

private:
  const FunctionJumps &Jumps;
  MCStreamer &Streamer;

  /// The labels of a function in a group are dropped with it.
  static MCSection *section(const MachineFunction &F) {
    const auto *Code = static_cast<const MCSectionELF *>(F.getSection());
    const MCSymbolELF *Group = Code ? Code->getGroup() : nullptr;
    MCContext &Context = F.getContext();
    if (!Group)
      return Context.getELFSection(FLICK_SEC_JUMPS, ELF::SHT_PROGBITS, 0);
    return Context.getELFSection(FLICK_SEC_JUMPS, ELF::SHT_PROGBITS, ELF::SHF_GROUP, 0,
                                 Group->getName(), Code->isComdat());
  }
};

char Marker::ID = 0;
char Writer::ID = 0;

} // namespace

FunctionPass *markJumps(FunctionJumps &Jumps) { return new Marker(Jumps); }

FunctionPass *writeJumps(const FunctionJumps &Jumps, MCStreamer &Streamer) {
  return new Writer(Jumps, Streamer);
}

} // namespace flick
