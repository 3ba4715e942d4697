#include "HostHalf.h"
#include "Calls.h"
#include "GateDebug.h"
#include "Hooks.h"
#include "Legality.h"
#include "LibraryNames.h"
#include "PinnedNames.h"
#include "Placement.h"
#include "Signature.h"
#include "flick_abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <map>

using namespace llvm;

namespace flick {

/// The section of marked variables of a tile; without one: of those that have none. Its name is one
/// in C, so that the linker gives its bounds.
static std::string dataSection(StringRef Tile) {
  if (Tile.empty())
    return FLICK_SEC_NXP_DATA;
  std::string Name = FLICK_SEC_TILE_DATA_PREFIX;
  for (unsigned char C : Tile)
    Name += isAlnum(C) ? std::string(1, C) : formatv("_{0:x-2}", unsigned(C)).str();
  return Name;
}

bool isDataSection(StringRef Section) {
  return Section == FLICK_SEC_NXP_DATA || Section.starts_with(FLICK_SEC_TILE_DATA_PREFIX);
}

/// The record of a tile's variables.
static std::string tileRecord(StringRef Tile, StringRef Section) {
  std::string Label =
      ".Lflick_data_of_" + Section.drop_front(strlen(FLICK_SEC_TILE_DATA_PREFIX)).str();
  return formatv("\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n"
                 "{0}:\n\t.asciz\t{1}\n"
                 "\t.section\t" FLICK_SEC_TILE_DATA ",\"awR\",@progbits\n"
                 "\t.p2align\t3\n"
                 "\t.weak\t__start_{2}\n\t.hidden\t__start_{2}\n\t.quad\t__start_{2}\n"
                 "\t.weak\t__stop_{2}\n\t.hidden\t__stop_{2}\n\t.quad\t__stop_{2}\n"
                 "\t.quad\t{0}\n",
                 Label, asmString(Tile), Section)
      .str();
}

void placeData(Plan &P) {
  std::map<std::string, std::string> Sections;
  for (auto &[V, Tile] : P.NxpData) {
    if (V->hasCommonLinkage())
      V->setLinkage(GlobalValue::ExternalLinkage);
    // One section holds them all, so it is writable.
    V->setConstant(false);
    std::string Section = dataSection(Tile);
    V->setSection(Section);
    Sections[Section] = Tile;
  }
  for (auto &[Section, Tile] : Sections)
    P.M.appendModuleInlineAsm("\t.section\t" + Section +
                              ",\"aw\",@progbits\n"
                              "\t.p2align\t12\n" +
                              (Tile.empty() ? "" : tileRecord(Tile, Section)) + "\t.text\n");
}

namespace {

class HostHalf {
public:
  explicit HostHalf(Plan &P) : P(P), M(P.M), Pinned(M), Debug(M) {}

  void run(StringRef Object) {
    dropMarks(M);
    for (Function *F : P.DeclareOnly) {
      F->deleteBody();
      F->setLinkage(GlobalValue::ExternalLinkage);
    }
    // Names first: gates and records use them.
    for (auto &[F, Mine] : P.Functions)
      if (Mine.R == Role::Nxp && Mine.Recorded)
        gate(F);
    for (auto &[V, Name] : P.Exported)
      if (!Gated.contains(V))
        exportSymbol(V, Name);
    for (auto &[F, Mine] : P.Functions)
      if (Mine.R != Role::Nxp && Mine.Recorded)
        recordBoth(F);
    for (auto &[F, Mine] : P.Functions)
      if (Mine.R == Role::Nxp && !Mine.Recorded)
        innerHostClone(*F);
    for (GlobalVariable *V : P.ThreadLocals)
      accessor(V);
    if (P.Functions.empty())
      return;
    embed(Object);
    Kept.append(P.NeededOnHost.begin(), P.NeededOnHost.end());
    appendToCompilerUsed(M, Kept);
    Text += Debug.unit() + strings() + "\t.text\n";
    if (isIntelSyntax(M))
      Text = "\t.att_syntax prefix\n" + Text + "\t.intel_syntax noprefix\n";
    M.appendModuleInlineAsm(Text);
  }

private:
  Plan &P;
  Module &M;
  PinnedNames Pinned;
  GateDebug Debug;
  std::string Text;
  unsigned Count = 0;
  std::map<std::string, unsigned> StringIndex;
  std::vector<std::string> Strings;
  SmallVector<GlobalValue *> Kept;
  SmallPtrSet<const GlobalValue *, 16> Gated;

  std::string stringLabel(StringRef S) {
    auto [It, New] = StringIndex.insert({S.str(), Strings.size()});
    if (New)
      Strings.push_back(S.str());
    return ".Lflick_string" + std::to_string(It->second);
  }

  std::string strings() const {
    std::string Out = "\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n";
    for (size_t I = 0; I < Strings.size(); ++I)
      Out += ".Lflick_string" + std::to_string(I) + ":\n\t.asciz\t" + asmString(Strings[I]) + "\n";
    return Out;
  }

  void bind(StringRef Symbol, GlobalValue::LinkageTypes Linkage, GlobalValue::VisibilityTypes V) {
    std::string Name = asmSymbol(Symbol);
    Text += (GlobalValue::isWeakForLinker(Linkage) ? "\t.weak\t" : "\t.globl\t") + Name + "\n";
    if (V == GlobalValue::HiddenVisibility)
      Text += "\t.hidden\t" + Name + "\n";
    else if (V == GlobalValue::ProtectedVisibility)
      Text += "\t.protected\t" + Name + "\n";
  }

  /// A section of F's group, if it has one: what belongs to an inline function is linked or dropped
  /// with it.
  static std::string section(StringRef Name, StringRef Flags, const Function &F) {
    std::string Out = formatv("\t.section\t{0},\"{1}", Name, Flags).str();
    const Comdat *Group = F.getComdat();
    if (!Group)
      return Out + "\",@progbits\n";
    bool Shared = Group->getSelectionKind() != Comdat::NoDeduplicate;
    return Out + "G\",@progbits," + asmSymbol(Group->getName()) + (Shared ? ",comdat\n" : "\n");
  }

  void record(unsigned Flags, const Function &F, StringRef Nxp, StringRef Entry,
              StringRef HostClone, StringRef Name, unsigned Index, const Choice *Chosen = nullptr) {
    Signature Sig = signatureOf(F);
    if (Sig.PlainDefinition)
      Flags |= FLICK_GATE_PLAIN;
    if (F.isVarArg())
      Flags |= FLICK_GATE_VARIADIC;
    std::string NameLabel = stringLabel(Name);
    if (StringRef Tile = Chosen ? StringRef(Chosen->Tile) : ""; !Tile.empty()) {
      Flags |= FLICK_GATE_TILE | (Chosen->Reason == "mark" ? 0 : FLICK_GATE_TILE_BY_FILE);
      // Two strings behind each other, which the linker must not take apart.
      NameLabel = ".Lflick_name" + std::to_string(Index);
      Text += "\t.section\t.rodata,\"a\",@progbits\n" + NameLabel + ":\n\t.asciz\t" +
              asmString(Name) + "\n\t.asciz\t" + asmString(Tile) + "\n";
    }
    Text += section(FLICK_SEC_GATES, "awR", F);
    Text += formatv("\t.p2align\t3\n"
                    ".Lflick_record{0}:\n"
                    "\t.quad\t{1}\n"
                    "\t.quad\t{2}\n\t.hidden\t{2}\n"
                    "\t.quad\t{3}\n"
                    "\t.quad\t{4}\n"
                    "\t.quad\t{5}\n"
                    "\t.quad\t{6}\n"
                    "\t.long\t{7}\n\t.long\t0\n"
                    "\t.quad\t{8}\n\t.weak\t{8}\n\t.hidden\t{8}\n",
                    Index, FLICK_RT_LAZY, asmSymbol(Nxp), asmSymbol(Entry), asmSymbol(HostClone),
                    NameLabel, stringLabel(Sig.Text), Flags, asmSymbol(codeSymbol(Nxp)))
                .str();
  }

  /// The translation of NxP code, which the link makes unless it is told not to.
  static std::string codeSymbol(StringRef Nxp) {
    Nxp.consume_front(FLICK_NXP_PREFIX);
    return (FLICK_CODE_PREFIX + Nxp).str();
  }

  /// For a symbol that assembly defines. LLVM takes two strong declarations for two functions.
  static GlobalValue::LinkageTypes declared(GlobalValue::LinkageTypes Defined) {
    return GlobalValue::isInterposableLinkage(Defined) ? GlobalValue::ExternalWeakLinkage
                                                       : GlobalValue::ExternalLinkage;
  }

  /// F's body becomes the host clone, its name a gate.
  void gate(Function *F) {
    std::string Name = cName(*F).str();
    std::string Symbol = P.symbolOf(*F), HostClone = P.hostCloneSymbolOf(*F),
                Nxp = P.nxpSymbolOf(*F);
    auto Linkage = F->getLinkage();
    SmallVector<std::string, 1> Library = libraryNames(*F);
    // What the code generator calls by name must find it.
    bool Static = F->hasLocalLinkage();
    bool PinnedStatic = Static && (Pinned.contains(*F) || !Library.empty());
    auto Visibility = Static ? GlobalValue::HiddenVisibility : F->getVisibility();
    unsigned Index = Count++;
    auto Chosen = P.Choices.find(F);
    std::string Entry = ".Lflick_gate" + std::to_string(Index);

    auto *Gate =
        Function::Create(F->getFunctionType(), declared(Linkage), F->getAddressSpace(), "", &M);
    Gate->setAttributes(F->getAttributes());
    Gate->setCallingConv(F->getCallingConv());
    Gate->setVisibility(Visibility);
    Gate->setDSOLocal(Static || F->isDSOLocal());
    Gate->setUnnamedAddr(F->getUnnamedAddr());
    if (!Library.empty())
      trustNoName(*Gate);
    guardFromItself(*F, Library);
    replaceAliases(F, Gate);
    // Host clones call host clones, but not one that the linker drops in favour of another unit's,
    // and not where the optimiser shall see the name of what is called.
    bool ByHostClones =
        bindsLocally(*F) && Library.empty() &&
        (!F->hasComdat() || F->getComdat()->getSelectionKind() == Comdat::NoDeduplicate);
    F->replaceUsesWithIf(Gate, [&](const Use &U) {
      return !isa<BlockAddress>(U.getUser()) && !(ByHostClones && P.isCallByNxp(U));
    });
    Gated.insert(F);

    std::string Section = F->hasSection() ? F->getSection().str() : ".text." + Name;
    makeHostClone(*F, HostClone);
    Gate->setName(Library.empty() ? Symbol : Name);
    if (Gate->getName() != Symbol)
      nameLater(*Gate, Symbol);
    if (givesAddressLater(*F))
      setGivenAddress(*F, Symbol);
    Kept.push_back(F);

    std::string AsmName = asmSymbol(Symbol);
    Text += section(asmString(Section), "ax", *F);
    bind(Symbol, Static ? GlobalValue::ExternalLinkage : Linkage, Visibility);
    unsigned Shift = std::max(4u, F->getAlign() ? Log2(*F->getAlign()) : 0);
    Text += formatv("\t.p2align\t{0}\n\t.type\t{1},@function\n", Shift, AsmName).str();
    if (PinnedStatic)
      Text += formatv("\t.type\t{0},@function\n{0}:\n", asmSymbol(Name)).str();
    Text += formatv("{0}:\n{1}:\n"
                    "\t.cfi_startproc\n"
                    "\tendbr64\n"
                    "\tleaq\t.Lflick_record{2}(%rip), %r11\n"
                    "\tjmpq\t*(%r11)\n"
                    "\t.cfi_endproc\n",
                    AsmName, Entry, Index)
                .str();
    Text += Debug.gate(Symbol, Entry, plainName(Name), codeSymbol(Nxp),
                       GlobalValue::isWeakForLinker(Linkage));
    for (auto &[Alias, Binding] : Aliases) {
      bind(Alias, Binding.first, Binding.second);
      Text += formatv("\t.type\t{0},@function\n\t.set\t{0}, {1}\n", asmSymbol(Alias), Entry).str();
    }
    Aliases.clear();
    record(FLICK_GATE_NXP, *F, Nxp, Entry, HostClone, Name, Index,
           Chosen == P.Choices.end() ? nullptr : &Chosen->second);
  }

  static void makeHostClone(Function &F, const std::string &Name) {
    F.setName(Name);
    F.setLinkage(GlobalValue::InternalLinkage);
    F.setVisibility(GlobalValue::DefaultVisibility);
    F.setDSOLocal(true);
  }

  /// The host clone of an inline function that only host clones call. It stays one to the
  /// optimiser, which inlines more of static functions with one call than of others.
  void innerHostClone(Function &F) {
    bool Inline = F.hasLinkOnceODRLinkage();
    std::string Name = F.getName().str();
    std::string HostClone = P.hostCloneSymbolOf(F) + (Inline ? ".flick." + P.Hash : "");
    bool Library = isLibraryName(Name, M);
    makeHostClone(F, Library ? Name : HostClone);
    if (Library)
      nameLater(F, HostClone);
    F.setComdat(nullptr);
    if (Inline) {
      F.setLinkage(GlobalValue::LinkOnceODRLinkage);
      F.setVisibility(GlobalValue::HiddenVisibility);
    }
  }

  std::vector<
      std::pair<std::string, std::pair<GlobalValue::LinkageTypes, GlobalValue::VisibilityTypes>>>
      Aliases;

  /// Aliases of F lead to the gate, which only assembly defines.
  void replaceAliases(Function *F, Function *Gate) {
    for (GlobalAlias &A : make_early_inc_range(M.aliases())) {
      if (A.getAliasee()->stripPointerCastsAndAliases() != F)
        continue;
      std::string Symbol = P.symbolOf(A);
      bool Static = A.hasLocalLinkage();
      if (Static && !P.Exported.contains(&A)) {
        A.replaceAllUsesWith(Gate);
        A.eraseFromParent();
        continue;
      }
      auto Visibility = Static ? GlobalValue::HiddenVisibility : A.getVisibility();
      auto *Name = Function::Create(F->getFunctionType(), declared(A.getLinkage()),
                                    F->getAddressSpace(), "", &M);
      Name->setAttributes(F->getAttributes());
      Name->setCallingConv(F->getCallingConv());
      Name->setVisibility(Visibility);
      Name->setDSOLocal(Static || A.isDSOLocal());
      if (isLibraryName(Symbol, M))
        trustNoName(*Name);
      Aliases.push_back(
          {Symbol, {Static ? GlobalValue::ExternalLinkage : A.getLinkage(), Visibility}});
      A.replaceAllUsesWith(Name);
      Gated.insert(&A);
      A.eraseFromParent();
      Name->setName(Symbol);
    }
  }

  void exportSymbol(GlobalValue *V, const std::string &Name) {
    auto *F = dyn_cast<Function>(V);
    if (Pinned.contains(*V) || (F && !libraryNames(*F).empty())) {
      auto *A = GlobalAlias::create(V->getValueType(), V->getAddressSpace(),
                                    GlobalValue::ExternalLinkage, Name, V, &M);
      A->setVisibility(GlobalValue::HiddenVisibility);
      A->setDSOLocal(true);
      Kept.push_back(V); // else the optimiser may give V the alias's name
      return;
    }
    V->setLinkage(GlobalValue::ExternalLinkage);
    V->setVisibility(GlobalValue::HiddenVisibility);
    V->setDSOLocal(true);
    V->setName(Name);
  }

  void recordBoth(Function *F) {
    unsigned Index = Count++;
    // The record speaks of this definition, whatever the linker chooses for F's name.
    std::string Local = "__flick_host_" + P.symbolOf(*F);
    auto *A = GlobalAlias::create(F->getValueType(), F->getAddressSpace(),
                                  GlobalValue::InternalLinkage, Local, F, &M);
    Kept.push_back(A);
    record(FLICK_GATE_BOTH, *F, P.nxpSymbolOf(*F), Local, Local, plainName(cName(*F)), Index);
  }

  /// Without the suffix that makes a static function's name unique.
  std::string plainName(StringRef Name) const {
    Name.consume_back(".flick." + P.Hash);
    return Name.str();
  }

  /// Host code that gives NxP code the address of a thread-local of the calling thread.
  void accessor(GlobalVariable *V) {
    LLVMContext &Ctx = M.getContext();
    auto *F = Function::Create(FunctionType::get(PointerType::get(Ctx, 0), false),
                               V->hasLocalLinkage() ? GlobalValue::ExternalLinkage
                                                    : GlobalValue::WeakODRLinkage,
                               P.accessorOf(*V), M);
    F->setVisibility(GlobalValue::HiddenVisibility);
    F->setDSOLocal(true);
    F->addFnAttr(Attribute::NoUnwind);
    F->setUWTableKind(UWTableKind::Default);
    IRBuilder<> B(BasicBlock::Create(Ctx, "", F));
    B.CreateRet(B.CreateThreadLocalAddress(V));
  }

  /// Module assembly is in the dialect of -masm=.
  static bool isIntelSyntax(const Module &M) {
    std::string Why;
    const std::string &Triple = M.getTargetTriple();
    const Target *T = TargetRegistry::lookupTarget(Triple, Why);
    std::unique_ptr<MCRegisterInfo> Registers(T ? T->createMCRegInfo(Triple) : nullptr);
    if (!Registers)
      return false;
    std::unique_ptr<MCAsmInfo> Info(T->createMCAsmInfo(*Registers, Triple, MCTargetOptions()));
    return Info && Info->getAssemblerDialect() == 1;
  }

  void embed(StringRef Object) {
    uint64_t Id = xxh3_64bits(Object);
    char Header[FLICK_FAT_HEADER_SIZE] = FLICK_FAT_MAGIC;
    support::endian::write32le(Header + 8, FLICK_ABI_VERSION);
    support::endian::write32le(Header + 12, FLICK_FAT_HEADER_SIZE);
    support::endian::write64le(Header + 16, Object.size());
    support::endian::write64le(Header + 24, Id);
    std::string Bytes(Header, sizeof Header);
    Bytes += Object;
    embedBufferInModule(M, MemoryBufferRef(Bytes, ""), FLICK_SEC_NXP, Align(16));
    Text += formatv("\t.section\t{0},\"awR\",@progbits\n"
                    "\t.p2align\t3\n"
                    "\t.quad\t{1:x}\n"
                    "\t.quad\t{2}\n\t.hidden\t{2}\n",
                    FLICK_SEC_UNITS, Id, FLICK_LINK_GUARD)
                .str();
  }
};

} // namespace

/// The host has no custom opcodes of RV64: there they are an illegal instruction.
static void refuseCustomAssembly(Module &M) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && isCustomAssembly(*Call)) {
        auto *Old = cast<InlineAsm>(Call->getCalledOperand());
        Call->setCalledOperand(InlineAsm::get(Old->getFunctionType(), "ud2",
                                              Old->getConstraintString(),
                                              /*hasSideEffects=*/true));
      }
}

void makeHostHalf(Plan &P, StringRef NxpObject) {
  refuseCustomAssembly(P.M);
  HostHalf(P).run(NxpObject);
}

} // namespace flick
