#include "NxpHalf.h"
#include "Aliases.h"
#include "LibraryNames.h"
#include "References.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace flick {
namespace {

class Maker {
public:
  Maker(const Plan &P, OptimizationLevel Level) : P(P), Level(Level) {}

  NxpHalf run() {
    alignCopiedConstants();
    ValueToValueMapTy Map;
    N = CloneModule(P.M, Map, [&](const GlobalValue *V) { return isCloned(V); });
    SetVector<Function *> NxpCode;
    for (auto &[F, Mine] : P.Functions) {
      auto *Code = cast<Function>(Map[F]);
      NxpCode.insert(Code);
      Origins[Code] = F;
    }
    copyLabelTables(Map);
    replaceIFuncs();
    rememberSymbols(Map);
    cleanModule();
    for (Function *F : NxpCode)
      lowerBody(*F);
    lowerThreadLocals(
        *N, [&](GlobalVariable &V) { return P.accessorOf(*originOf<GlobalVariable>(V)); });
    hideAliases(Map);
    separateTiles(NxpCode);
    for (Function *F : NxpCode)
      prepare(*F, P.Functions.find(Origins[F])->second);
    cleanVariables();
    groupLabelTables();
    for (auto &[V, Symbol] : Renamed)
      V->setName(Symbol);
    removeUnused(*N);
    cleanAttributes(*N);
    return {std::move(N), std::move(Symbols), hostLibrary(P.M)};
  }

private:
  const Plan &P;
  OptimizationLevel Level;
  std::unique_ptr<Module> N;
  DenseMap<Function *, Function *> Origins;
  DenseMap<const GlobalValue *, GlobalValue *> VariableOrigins;
  StringMap<NxpSymbols> Symbols;
  std::vector<std::pair<WeakVH, std::string>> Renamed;
  SmallVector<GlobalVariable *> LabelTables;

  template <typename T> T *originOf(const T &V) { return cast<T>(VariableOrigins.lookup(&V)); }

  /// A constant whose value the optimiser may use, though the object lives in the host half.
  bool isKnownConstant(const GlobalVariable &V) const {
    return Level != OptimizationLevel::O0 && V.isConstant() && V.hasDefinitiveInitializer() &&
           !V.isThreadLocal() && !V.hasAppendingLinkage() && !refersToGlobals(V.getInitializer());
  }

  static bool refersToGlobals(const Constant *C) {
    if (isa<GlobalValue>(C) || isa<BlockAddress>(C) || isa<ConstantExpr>(C))
      return true;
    if (isa<ConstantData>(C))
      return false;
    return any_of(C->operands(), [](const Use &Op) { return refersToGlobals(cast<Constant>(Op)); });
  }

  /// LLVM uses a constant in place of a variable that is only a copy of it, if it can align the
  /// constant like the variable. It aligns no object that lives elsewhere, so this does.
  void alignCopiedConstants() {
    constexpr uint64_t Most = 16;
    for (auto &[F, Mine] : P.Functions)
      for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (!Call)
          continue;
        Align Needed;
        for (Value *Argument : Call->args())
          if (auto *Variable = dyn_cast<AllocaInst>(Argument->stripPointerCasts()))
            Needed = std::max(Needed, Variable->getAlign());
        Needed = std::min(Needed, Align(Most));
        for (Value *Argument : Call->args()) {
          auto *Constant = dyn_cast<GlobalVariable>(Argument->stripPointerCasts());
          if (Constant && Constant->hasLocalLinkage() && isKnownConstant(*Constant) &&
              Constant->getAlign().valueOrOne() < Needed)
            Constant->setAlignment(Needed);
        }
      }
  }

  bool isCloned(const GlobalValue *V) const {
    if (auto *F = dyn_cast<Function>(V))
      return P.Functions.contains(const_cast<Function *>(F));
    auto *Variable = dyn_cast<GlobalVariable>(V);
    if (!Variable || isLabelTable(*Variable))
      return false;
    return (P.Copied.contains(const_cast<GlobalVariable *>(Variable)) ||
            isKnownConstant(*Variable));
  }

  bool isLabelTable(const GlobalVariable &V) const {
    return P.Copied.contains(const_cast<GlobalVariable *>(&V)) && holdsLabels(V);
  }

  /// CloneModule maps initialisers before it has the bodies that the labels are in.
  void copyLabelTables(ValueToValueMapTy &Map) {
    for (GlobalVariable *V : P.Copied)
      if (isLabelTable(*V)) {
        auto *Mine = cast<GlobalVariable>(Map[V]);
        Mine->setInitializer(MapValue(V->getInitializer(), Map));
        Mine->setLinkage(GlobalValue::InternalLinkage);
        Mine->setConstant(true); // checked to be never written
        LabelTables.push_back(Mine);
      }
  }

  /// Labels of a function in a group are dropped with it.
  void groupLabelTables() {
    for (GlobalVariable *V : LabelTables)
      if (const BlockAddress *Label = labelIn(V->getInitializer()))
        V->setComdat(Label->getFunction()->getComdat());
  }

  void replaceIFuncs() {
    for (GlobalIFunc &I : make_early_inc_range(N->ifuncs())) {
      auto *F = Function::Create(cast<FunctionType>(I.getValueType()), GlobalValue::ExternalLinkage,
                                 "", N.get());
      F->takeName(&I);
      I.replaceAllUsesWith(F);
      I.eraseFromParent();
    }
  }

  /// Those that the linker may give to another object, or not.
  void hideAliases(ValueToValueMapTy &Map) {
    for (GlobalAlias &A : P.M.aliases())
      if (auto *Mine = cast_or_null<GlobalValue>(Map.lookup(&A)))
        if (!A.isThreadLocal())
          hideIdentity(*Mine);
  }

  void rememberSymbols(ValueToValueMapTy &Map) {
    for (GlobalValue &V : P.M.global_values()) {
      GlobalValue *Mine = isa<GlobalIFunc>(V) ? N->getNamedValue(V.getName())
                                              : cast_or_null<GlobalValue>(Map.lookup(&V));
      if (!Mine)
        continue;
      auto *F = dyn_cast<Function>(&V);
      if (auto *Called = dyn_cast<Function>(Mine))
        Symbols[Called->getName()] = {P.symbolOf(V), F ? P.nxpSymbolOf(*F) : ""};
      VariableOrigins[Mine] = &V;
      // The host linker may drop its group, with the code that uses it.
      auto *Object = dyn_cast<GlobalObject>(&V);
      if (Object && Object->hasComdat() && V.hasLocalLinkage() && Mine->isDeclaration())
        Mine->setLinkage(GlobalValue::ExternalWeakLinkage);
      if (P.Exported.contains(&V) && !isa<Function>(Mine))
        Renamed.push_back({WeakVH(Mine), P.symbolOf(V)});
      if (F && Mine->isDeclaration() && !F->isDeclarationForLinker() && !libraryNames(*F).empty())
        trustNoName(*cast<Function>(Mine));
    }
  }

  void cleanModule() {
    N->setModuleInlineAsm("");
    for (StringRef Name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                           "llvm.global_dtors", "llvm.global.annotations", "llvm.embedded.object"})
      if (GlobalVariable *V = N->getNamedGlobal(Name))
        if (V->use_empty())
          V->eraseFromParent();
    SmallVector<NamedMDNode *> Gone;
    for (NamedMDNode &Md : N->named_metadata())
      if (Md.getName() != "llvm.dbg.cu" && Md.getName() != "llvm.ident")
        Gone.push_back(&Md);
    for (NamedMDNode *Md : Gone)
      N->eraseNamedMetadata(Md);
    keepDebugInfoOfFunctions();
    // The flags are a target's; keep what describes the source and the debug information.
    for (const char *Key : {"wchar_size", "Dwarf Version", "Debug Info Version", "uwtable",
                            "debug-info-assignment-tracking", "frame-pointer", "MaxTLSAlign",
                            "SemanticInterposition"}) {
      SmallVector<Module::ModuleFlagEntry> Flags;
      P.M.getModuleFlagsMetadata(Flags);
      for (const auto &Flag : Flags)
        if (Flag.Key->getString() == Key)
          N->addModuleFlag(Flag.Behavior, Key, Flag.Val);
    }
    N->addModuleFlag(Module::Error, "target-abi", MDString::get(N->getContext(), "lp64d"));
    N->addModuleFlag(Module::Error, "SmallDataLimit", 0u);
    N->setPICLevel(PICLevel::BigPIC);
    N->setTargetTriple(NxpTriple);
  }

  /// Variables at namespace scope have their place, and their debug information, in the host half.
  /// Static variables of functions keep theirs, with the host's symbol in the place of an address.
  void keepDebugInfoOfFunctions() {
    DenseMap<const Metadata *, std::string> Symbols;
    for (auto &[Mine, Origin] : VariableOrigins)
      if (auto *Variable = dyn_cast<GlobalVariable>(Mine)) {
        SmallVector<DIGlobalVariableExpression *> All;
        Variable->getDebugInfo(All);
        for (DIGlobalVariableExpression *One : All)
          Symbols[One->getVariable()] = P.symbolOf(*Origin);
      }
    for (DICompileUnit *Unit : N->debug_compile_units()) {
      SmallVector<Metadata *> Locals;
      for (DIGlobalVariableExpression *One : Unit->getGlobalVariables()) {
        DIGlobalVariable *V = One->getVariable();
        if (isa_and_nonnull<DILocalScope>(V->getScope()) && Symbols.contains(V))
          Locals.push_back(withSymbol(*One, Symbols[V]));
      }
      Unit->replaceGlobalVariables(MDTuple::get(N->getContext(), Locals));
      Unit->replaceEnumTypes(nullptr);
      Unit->replaceRetainedTypes(nullptr);
      Unit->replaceImportedEntities(nullptr);
      Unit->replaceMacros(nullptr);
    }
  }

  static Metadata *withSymbol(const DIGlobalVariableExpression &One, StringRef Symbol) {
    DIGlobalVariable *V = One.getVariable();
    auto *Named = DIGlobalVariable::getDistinct(
        V->getContext(), V->getScope(), V->getName(), Symbol, V->getFile(), V->getLine(),
        V->getType(), V->isLocalToUnit(), V->isDefinition(), V->getStaticDataMemberDeclaration(),
        V->getTemplateParams(), V->getAlignInBits(), V->getAnnotations());
    return DIGlobalVariableExpression::get(V->getContext(), Named, One.getExpression());
  }

  /// The linkage that its code has; host code may call it, though this module does not show it.
  void prepare(Function &F, const Member &Mine) {
    Function *Origin = Origins[&F];
    // An inline function stays one to the optimiser, which inlines more of static ones with one
    // call.
    bool Inline = !Mine.Recorded &&
                  (Origin->hasLinkOnceODRLinkage() || Origin->hasAvailableExternallyLinkage());
    if (Inline)
      Symbols[F.getName()].Code += ".flick." + P.Hash;
    bool Shared = Mine.Recorded && Origin->isWeakForLinker();
    F.setLinkage(Inline                     ? GlobalValue::LinkOnceODRLinkage
                 : !Mine.Recorded           ? GlobalValue::InternalLinkage
                 : !Shared                  ? GlobalValue::ExternalLinkage
                 : Origin->isInterposable() ? GlobalValue::WeakAnyLinkage
                                            : GlobalValue::WeakODRLinkage);
    // What another module may replace is so for the optimiser as in the host half.
    F.setVisibility(GlobalValue::DefaultVisibility);
    F.setDSOLocal(!Mine.Recorded || Origin->isDSOLocal() || Origin->hasLocalLinkage());
    // One copy of an inline function is enough, whichever unit's the host linker takes.
    F.setComdat(Shared && Origin->hasComdat() ? N->getOrInsertComdat(P.nxpSymbolOf(*Origin))
                                              : nullptr);
    F.setSection("");
    F.setPrefixData(nullptr);
    F.setPrologueData(nullptr);
    F.setPartition("");
    // Its own name is there to see, those of its aliases are not.
    SmallVector<std::string, 1> Aliases = libraryNames(*Origin);
    llvm::erase(Aliases, cName(*Origin));
    guardFromItself(F, Aliases);
  }

  /// Functions of other tiles are unknown to the optimiser, as are those of other units: behind
  /// their addresses there is only a declaration. Else calls through constant pointers would become
  /// direct ones.
  void separateTiles(const SetVector<Function *> &NxpCode) {
    for (Function *F : NxpCode) {
      const Function &Origin = *Origins[F];
      if (P.tileOf(Origin).empty())
        continue;
      auto *Far = Function::Create(F->getFunctionType(), GlobalValue::ExternalLinkage,
                                   F->getAddressSpace(), "flick.far." + F->getName(), N.get());
      Far->setAttributes(F->getAttributes());
      Far->setCallingConv(F->getCallingConv());
      Symbols[Far->getName()] = {P.symbolOf(Origin), ""};
      F->removeDeadConstantUsers();
      F->replaceUsesWithIf(Far, [&](const Use &U) {
        if (isa<BlockAddress>(U.getUser()))
          return false;
        auto *Call = dyn_cast<CallBase>(U.getUser());
        return !Call || !Call->isCallee(&U) ||
               P.isElsewhere(*Origins.lookup(Call->getFunction()), Origin);
      });
      F->addFnAttr(TileAttribute);
    }
  }

  void cleanVariables() {
    for (GlobalVariable &V : N->globals()) {
      auto *Origin = dyn_cast_or_null<GlobalVariable>(VariableOrigins.lookup(&V));
      V.setComdat(nullptr);
      V.setPartition("");
      V.eraseMetadata(LLVMContext::MD_dbg);
      V.setAttributes({});
      if (Origin && P.Copied.contains(Origin))
        continue;
      V.setSection("");
      V.setVisibility(GlobalValue::DefaultVisibility);
      V.setDSOLocal(false);
      if (!V.isDeclaration())
        V.setLinkage(GlobalValue::AvailableExternallyLinkage);
      else if (!V.hasExternalWeakLinkage())
        V.setLinkage(GlobalValue::ExternalLinkage);
    }
    for (Function &F : *N)
      if (F.isDeclaration() && !F.isIntrinsic()) {
        F.setVisibility(GlobalValue::DefaultVisibility);
        F.setComdat(nullptr);
        F.setSection("");
        F.clearMetadata();
        F.setDSOLocal(false);
      }
  }
};

} // namespace

NxpHalf makeNxpHalf(const Plan &P, OptimizationLevel Level) { return Maker(P, Level).run(); }

} // namespace flick
