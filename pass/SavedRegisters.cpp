#include "SavedRegisters.h"

#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

#include <cmath>

using namespace llvm;

namespace flick {
namespace {

/// One saved register of a function.
struct Saved {
  MCPhysReg Register;
  /// The more often the instructions that name it are executed, the more.
  double Weight = 0;
  /// It is named, and each place that names it may name another.
  bool IsUsed = false, IsFixed = false;
};

/// s0, s1, … s11 as far as the function may use them, in this order. LLVM's own headers with the
/// registers' numbers are not installed, so they are known by their names.
SmallVector<Saved> savedRegisters(const MachineFunction &F) {
  const MachineRegisterInfo &Registers = F.getRegInfo();
  const TargetRegisterInfo &Target = *F.getSubtarget().getRegisterInfo();
  SmallVector<Saved> Found;
  for (const MCPhysReg *Its = Registers.getCalleeSavedRegs(); *Its; ++Its) {
    StringRef Name = Target.getName(*Its);
    bool IsInteger = Name.starts_with("X"), IsReturnAddress = Name == "X1";
    if (IsInteger && !IsReturnAddress && !Registers.isReserved(*Its))
      Found.push_back({*Its});
  }
  return Found;
}

class Order : public MachineFunctionPass {
public:
  static char ID;
  Order() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Flick: order of saved registers"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<MachineBlockFrequencyInfoWrapperPass>();
    Usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

  bool runOnMachineFunction(MachineFunction &F) override {
    SmallVector<Saved> All = savedRegisters(F);
    weigh(F, All);
    SmallVector<Saved> Movable;
    for (const Saved &S : All)
      if (S.IsUsed && !S.IsFixed)
        Movable.push_back(S);
    SmallVector<Saved> ByWeight(Movable);
    stable_sort(ByWeight, [](const Saved &A, const Saved &B) { return A.Weight > B.Weight; });
    DenseMap<MCPhysReg, MCPhysReg> New;
    for (auto [From, To] : zip(ByWeight, Movable))
      if (From.Register != To.Register)
        New[From.Register] = To.Register;
    if (New.empty())
      return false;
    rename(F, New);
    return true;
  }

private:
  void weigh(const MachineFunction &F, MutableArrayRef<Saved> All) {
    const MachineBlockFrequencyInfo &Frequencies =
        getAnalysis<MachineBlockFrequencyInfoWrapperPass>().getMBFI();
    DenseMap<MCPhysReg, Saved *> Of;
    for (Saved &S : All)
      Of[S.Register] = &S;
    for (const MachineBasicBlock &Block : F) {
      // Estimates for loops in loops would outweigh all other uses.
      double Weight = std::sqrt(Frequencies.getBlockFreqRelativeToEntryBlock(&Block));
      for (const MachineInstr &I : Block.instrs()) {
        if (I.isDebugInstr())
          continue;
        for (const MachineOperand &Operand : I.operands()) {
          if (Operand.isRegMask())
            // A call with a convention of its own may keep some of them alone.
            for (Saved &S : All)
              S.IsFixed |= Operand.clobbersPhysReg(S.Register);
          if (!Operand.isReg() || !Operand.getReg().isPhysical())
            continue;
          auto Its = Of.find(Operand.getReg());
          if (Its == Of.end())
            continue;
          Its->second->IsUsed = true;
          Its->second->IsFixed |= !Operand.isRenamable();
          Its->second->Weight += Weight;
        }
      }
    }
  }

  static void rename(MachineFunction &F, const DenseMap<MCPhysReg, MCPhysReg> &New) {
    for (MachineBasicBlock &Block : F) {
      for (MachineInstr &I : Block.instrs())
        for (MachineOperand &Operand : I.operands())
          if (Operand.isReg() && Operand.getReg().isPhysical()) {
            auto To = New.find(Operand.getReg());
            if (To == New.end())
              continue;
            bool IsRenamable = Operand.isRenamable();
            Operand.setReg(To->second);
            Operand.setIsRenamable(IsRenamable);
          }
      SmallVector<std::pair<MCPhysReg, LaneBitmask>> Moved;
      for (const auto &[From, To] : New)
        if (Block.isLiveIn(From)) {
          Block.removeLiveIn(From);
          Moved.push_back({To, LaneBitmask::getAll()});
        }
      for (const auto &[To, Lanes] : Moved)
        Block.addLiveIn(To, Lanes);
      Block.sortUniqueLiveIns();
    }
  }
};

char Order::ID = 0;

} // namespace

FunctionPass *orderSavedRegisters() { return new Order(); }

} // namespace flick
