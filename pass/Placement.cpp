#include "Placement.h"
#include "Diagnostics.h"
#include "FunctionNames.h"
#include "flick_abi.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace flick {
namespace {

constexpr StringLiteral MarkNxp = "flick.nxp", MarkHost = "flick.host", MarkBoth = "flick.both",
                        MarkData = "flick.nxp_data";

/// Behind them is the name of a tile.
constexpr StringLiteral MarkNxpOn = "flick.nxp@", MarkDataOn = "flick.nxp_data@";

/// Behind it is the name of an accelerator. Such a function stays on the host, and asks the
/// accelerator (Requests.h).
constexpr StringLiteral MarkOn = "flick.on@";

struct Marks {
  bool Nxp = false, Host = false, Both = false, On = false, Data = false;
  /// Names of tiles, each once: of functions, and of variables.
  std::vector<std::string> Tiles, DataTiles;
  SourcePlace Place;

  unsigned sides() const { return Nxp + Host + Both + On; }
  StringRef sideName() const {
    return On               ? "FLICK_ON"
           : !Tiles.empty() ? "FLICK_NXP_ON"
           : Nxp            ? "FLICK_NXP"
           : Both           ? "FLICK_BOTH"
                            : "FLICK_HOST";
  }
  StringRef dataName() const { return DataTiles.empty() ? "FLICK_NXP_DATA" : "FLICK_NXP_DATA_ON"; }

  bool add(StringRef Text) {
    bool IsData = Text.consume_front(MarkDataOn);
    if (IsData || Text.consume_front(MarkNxpOn)) {
      (IsData ? Data : Nxp) = true;
      std::vector<std::string> &Names = IsData ? DataTiles : Tiles;
      if (!is_contained(Names, Text))
        Names.push_back(Text.str());
      return true;
    }
    bool *Mark = Text.starts_with(MarkOn) ? &On
                 : Text == MarkNxp        ? &Nxp
                 : Text == MarkHost       ? &Host
                 : Text == MarkBoth       ? &Both
                 : Text == MarkData       ? &Data
                                          : nullptr;
    if (Mark)
      *Mark = true;
    return Mark;
  }
};

constexpr StringLiteral Annotations = "llvm.global.annotations";

MapVector<GlobalValue *, Marks> readMarks(Module &M) {
  MapVector<GlobalValue *, Marks> Out;
  eachAnnotation(M, [&](GlobalValue *V, StringRef Text, const SourcePlace &Place) {
    Marks Found;
    if (!Found.add(Text))
      return;
    Marks &Mine = Out[V];
    Mine.add(Text);
    if (Mine.Place.Line == 0)
      Mine.Place = Place;
  });
  return Out;
}

/// `FLICK_NXP_DATA` on a local variable or a structure member is an intrinsic call.
bool refuseLocalMarks(Module &M) {
  bool Good = true;
  for (Function &F : M)
    if (F.getIntrinsicID() == Intrinsic::var_annotation ||
        F.getIntrinsicID() == Intrinsic::ptr_annotation)
      for (User *U : F.users()) {
        auto *Call = dyn_cast<IntrinsicInst>(U);
        StringRef Text, File;
        Marks Found;
        if (!Call || !getConstantStringInfo(Call->getArgOperand(1), Text) || !Found.add(Text))
          continue;
        getConstantStringInfo(Call->getArgOperand(2), File);
        auto *Line = dyn_cast<ConstantInt>(Call->getArgOperand(3));
        report(
            M, {originalName(File), Line ? static_cast<unsigned>(Line->getZExtValue()) : 0},
            "[" FLICK_CODE_MISPLACED_MARK
            "] a Flick mark on a local variable or a structure member: only functions and "
            "variables with static storage have a placement; mark one of those, or allocate with "
            "flick_alloc(FLICK_MEM_NXP, ...)");
        Good = false;
      }
  return Good;
}

/// MARK("a") with several names, or with an empty one.
bool refuseTiles(Plan &P, ArrayRef<std::string> Tiles, StringRef Mark, StringRef Less,
                 const std::string &Name, const SourcePlace &Place) {
  if (Tiles.size() > 1)
    report(P.M, Place,
           "[" FLICK_CODE_CONTRADICTORY_PLACEMENT "] contradictory placement of '" + Name +
               "': it is marked " + Mark + "(\"" + Tiles[0] + "\") and " + Mark + "(\"" + Tiles[1] +
               "\"); keep one mark (look at its earlier declarations, too)");
  else if (!Tiles.empty() && Tiles[0].empty())
    report(P.M, Place,
           "[" FLICK_CODE_MISPLACED_MARK "] " + Mark + " marks '" + Name +
               "' without the name of a tile; name a tile of the machine, or use " + Less);
  else
    return false;
  return true;
}

bool refuseVariable(Plan &P, GlobalVariable *V, const Marks &Mine) {
  std::string Name = shownName(*V);
  if (Mine.sides()) {
    report(P.M, Mine.Place,
           "[" FLICK_CODE_MISPLACED_MARK "] " + Mine.sideName() + " marks the variable '" + Name +
               "': it is for functions; use FLICK_NXP_DATA for variables");
    return false;
  }
  if (refuseTiles(P, Mine.DataTiles, "FLICK_NXP_DATA_ON", "FLICK_NXP_DATA", Name, Mine.Place))
    return false;
  StringRef Why = V->isThreadLocal() ? "it is thread-local"
                  : V->hasSection()  ? "it has a section of its own"
                                     : "";
  if (Why.empty())
    return true;
  report(P.M, Mine.Place,
         "[" FLICK_CODE_MISPLACED_MARK "] " + Mine.dataName() + " cannot hold '" + Name + "': " +
             Why + "; remove one of the two, or allocate with flick_alloc(FLICK_MEM_NXP, ...)");
  return false;
}

bool readFunctionMark(Plan &P, GlobalValue *V, const Marks &Mine) {
  std::string Name = shownName(*V);
  if (Mine.Data) {
    report(P.M, Mine.Place,
           "[" FLICK_CODE_MISPLACED_MARK "] " + Mine.dataName() + " marks the function '" + Name +
               "': it is for variables; use FLICK_NXP for functions");
    return false;
  }
  if (Mine.sides() > 1) {
    std::string Text;
    const char *Nxp = Mine.Tiles.empty() ? "FLICK_NXP" : "FLICK_NXP_ON";
    for (auto [Has, Mark] : {std::pair(Mine.Nxp, Nxp), std::pair(Mine.Host, "FLICK_HOST"),
                             std::pair(Mine.Both, "FLICK_BOTH"), std::pair(Mine.On, "FLICK_ON")})
      if (Has)
        Text += (Text.empty() ? "" : " and ") + std::string(Mark);
    report(P.M, Mine.Place,
           "[" FLICK_CODE_CONTRADICTORY_PLACEMENT "] contradictory placement of '" + Name +
               "': it is marked " + Text +
               "; keep one mark (look at its earlier declarations, too)");
    return false;
  }
  if (refuseTiles(P, Mine.Tiles, "FLICK_NXP_ON", "FLICK_NXP", Name, Mine.Place))
    return false;
  auto *F = dyn_cast<Function>(V);
  if (!F) {
    if (Mine.Host)
      return true;
    report(P.M, Mine.Place,
           "[" FLICK_CODE_NO_RV64_FORM "] '" + Name +
               "' cannot be placed: it is an alias or an ifunc, not code; mark " +
               "the function that it leads to");
    return false;
  }
  P.Places[F] = Mine.Place;
  if (F->isDeclaration() && !Mine.Host && !Mine.On)
    P.Expected.push_back({F, Mine.sideName().str()});
  if (!F->isDeclaration())
    P.Choices[F] = {Mine.Nxp    ? Side::Nxp
                    : Mine.Both ? Side::Both
                                : Side::Host,
                    "mark", true, Mine.Tiles.empty() ? "" : Mine.Tiles[0]};
  return true;
}

Choice choiceOf(const PlacementEntry &Entry) {
  return {Entry.Where, (Entry.Exact ? "name:" : "glob:") + Entry.At, Entry.Exact, Entry.Tile};
}

void applyEntries(Plan &P, Function &F, const PlacementOptions &Options, bool Marked) {
  const PlacementEntry *Last = nullptr;
  SmallVector<std::string> Names;
  if (!Options.Entries.empty())
    Names = functionNames(cName(F));
  for (const PlacementEntry &Entry : Options.Entries)
    if (Entry.matches(Names)) {
      if (!is_contained(P.MatchedEntries, Entry.At))
        P.MatchedEntries.push_back(Entry.At);
      Last = &Entry;
    }
  // Another unit has the definition that a pattern or chance places; this one is for inlining.
  if (Marked || (F.hasAvailableExternallyLinkage() && !(Last && Last->Exact)))
    return;
  if (Last)
    P.Choices[&F] = choiceOf(*Last);
  // What is always inlined is no call: each side has it in its callers.
  else if (Options.Random && !F.hasFnAttribute(Attribute::AlwaysInline) &&
           Options.Random->picks(cName(F)))
    P.Choices[&F] = {Side::Nxp, "random", false};
}

/// The last entry for a function of these names that decides about marked ones.
const PlacementEntry *overriding(const Function &F, const PlacementOptions &Options) {
  const PlacementEntry *Last = nullptr;
  if (none_of(Options.Entries, [](const PlacementEntry &Entry) { return Entry.Overrides; }))
    return Last;
  SmallVector<std::string> Names = functionNames(cName(F));
  for (const PlacementEntry &Entry : Options.Entries)
    if (Entry.Overrides && Entry.matches(Names))
      Last = &Entry;
  return Last;
}

/// Placement files that say so have the last word on marks.
void overrideMarks(Plan &P, const PlacementOptions &Options) {
  for (auto &[F, Chosen] : P.Choices)
    if (const PlacementEntry *Entry = overriding(*F, Options))
      Chosen = choiceOf(*Entry);
  // Another unit has the function, and is compiled with the same file.
  llvm::erase_if(P.Expected, [&](const auto &Expected) {
    const PlacementEntry *Entry = overriding(*Expected.first, Options);
    return Entry && Entry->Where == Side::Host;
  });
}

/// A thunk goes where its function goes, so that calls through it need not cross twice.
void placeThunks(Plan &P) {
  for (Function &F : P.M) {
    std::string Target = throughThunk(cName(F));
    if (F.isDeclaration() || Target == cName(F) || P.Choices.contains(&F))
      continue;
    auto It = P.Choices.find(P.M.getFunction(Target));
    if (It != P.Choices.end() && It->second.Reason == "mark") {
      Choice Chosen = It->second;
      Chosen.Firm = false;
      P.Choices[&F] = Chosen;
    }
  }
}

} // namespace

void eachAnnotation(Module &M,
                    function_ref<void(GlobalValue *, StringRef, const SourcePlace &)> Visit) {
  auto *Table = M.getNamedGlobal(Annotations);
  auto *Rows = Table ? dyn_cast<ConstantArray>(Table->getInitializer()) : nullptr;
  if (!Rows)
    return;
  for (Value *Op : Rows->operands()) {
    auto *Row = cast<ConstantStruct>(Op);
    auto *V = dyn_cast<GlobalValue>(Row->getOperand(0)->stripPointerCasts());
    StringRef Text, File;
    if (!V || !getConstantStringInfo(Row->getOperand(1), Text))
      continue;
    SourcePlace Place;
    if (getConstantStringInfo(Row->getOperand(2), File))
      Place = {originalName(File),
               static_cast<unsigned>(cast<ConstantInt>(Row->getOperand(3))->getZExtValue())};
    Visit(V, Text, Place);
  }
}

void dropMarks(Module &M) {
  auto *Table = M.getNamedGlobal(Annotations);
  auto *Rows = Table ? dyn_cast<ConstantArray>(Table->getInitializer()) : nullptr;
  if (!Rows)
    return;
  SmallVector<Constant *> Others;
  for (Value *Row : Rows->operands()) {
    StringRef Text;
    if (!getConstantStringInfo(cast<ConstantStruct>(Row)->getOperand(1), Text) ||
        !Marks().add(Text))
      Others.push_back(cast<Constant>(Row));
  }
  if (Others.size() == Rows->getNumOperands())
    return;
  if (!Others.empty()) {
    auto *Type = ArrayType::get(Rows->getType()->getElementType(), Others.size());
    auto *Left = new GlobalVariable(M, Type, Table->isConstant(), Table->getLinkage(),
                                    ConstantArray::get(Type, Others), "", Table,
                                    Table->getThreadLocalMode(), Table->getAddressSpace());
    Left->copyAttributesFrom(Table);
    Left->takeName(Table);
  }
  Table->eraseFromParent();
  Rows->destroyConstant();
  for (GlobalObject &Marked : M.global_objects())
    Marked.removeDeadConstantUsers();
}

bool choosePlacement(Plan &P, const PlacementOptions &Options) {
  P.CopyLeaves = Options.CopyLeaves;
  bool Good = refuseLocalMarks(P.M);
  for (auto &[V, Mine] : readMarks(P.M)) {
    if (auto *Var = dyn_cast<GlobalVariable>(V)) {
      if (!refuseVariable(P, Var, Mine))
        Good = false;
      else if (!Var->isDeclaration())
        P.NxpData[Var] = Mine.DataTiles.empty() ? "" : Mine.DataTiles[0];
    } else if (!readFunctionMark(P, V, Mine)) {
      Good = false;
    }
  }
  overrideMarks(P, Options);
  placeThunks(P);
  for (Function &F : P.M) {
    if (F.isDeclaration() || cName(F).starts_with("__flick_"))
      continue;
    applyEntries(P, F, Options, P.Choices.contains(&F));
    if (!P.Places.contains(&F))
      if (const DISubprogram *Source = F.getSubprogram())
        P.Places[&F] = {Source->getFilename().str(), Source->getLine()};
  }
  return Good;
}

} // namespace flick
