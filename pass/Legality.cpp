// The set of functions with NxP code: choices that can be done, and the inline and leaf functions
// that they call.
#include "Legality.h"
#include "Calls.h"
#include "Diagnostics.h"
#include "Hooks.h"
#include "HostTime.h"
#include "Labels.h"
#include "Leaves.h"
#include "PinnedNames.h"
#include "flick_abi.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <set>
#include <tuple>

using namespace llvm;

namespace flick {
namespace {

bool isInline(const Function &F) {
  return F.hasAvailableExternallyLinkage() || F.hasLinkOnceLinkage() || F.hasComdat() ||
         F.hasFnAttribute(Attribute::InlineHint) || F.hasFnAttribute(Attribute::AlwaysInline);
}

/// `__builtin_constant_p` answers for the callers that F is inlined into.
bool asksForConstants(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    const auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && Call->getIntrinsicID() == Intrinsic::is_constant;
  });
}

class Decider {
public:
  explicit Decider(Plan &P) : P(P), Pinned(P.M) {}

  bool run() {
    seed();
    // A refusal can refuse callers, so start from everything and remove until nothing changes.
    while (!settle())
      ;
    return finish();
  }

private:
  Plan &P;
  PinnedNames Pinned;
  Members Roots;
  /// Chosen, and no root: copied like inline functions that nobody chose.
  DenseSet<const Function *> OnlyCopied;
  DenseMap<const Function *, std::vector<Refusal>> Bodies;
  DenseMap<const Function *, std::vector<CallBase *>> Calls;
  MapVector<Function *, std::vector<Refusal>> Refused;
  /// Empty if none may be copied.
  DenseSet<const Function *> Leaves;

  void seed() {
    for (auto &[F, Chosen] : P.Choices) {
      if (Chosen.Where == Side::Host)
        continue;
      bool Soft = !Chosen.Firm && !F->isDeclaration();
      if (Soft && asksForConstants(*F)) {
        P.Refused[F] = {FLICK_CODE_NO_RV64_FORM, "__builtin_constant_p",
                        "its answer depends on the caller that the function is inlined into",
                        "place its callers, which have their copies"};
        OnlyCopied.insert(F);
      } else if (F->hasAvailableExternallyLinkage()) {
        if (Chosen.Where == Side::Nxp)
          P.DeclareOnly.push_back(F);
        else
          OnlyCopied.insert(F);
      } else if (!Chosen.Firm && isInline(*F) && !signatureOf(*F).covered()) {
        // It cannot be entered from the host, but NxP code can have it.
        P.Refused[F] = uncovered(signatureOf(*F));
        OnlyCopied.insert(F);
      } else {
        Roots[F] = {Chosen.Where == Side::Nxp ? Role::Nxp : Role::BothMarked, true};
      }
    }
  }

  static Refusal uncovered(const Signature &Sig) {
    return {FLICK_CODE_UNCOVERED_SIGNATURE, Sig.Why, "the crossing does not cover it",
            "pass it through memory, or keep this function on the host"};
  }

  /// The role in which F may be copied for NxP code that calls it, though it is no root.
  std::optional<Role> copyRole(Function *F) const {
    if (!mayBeCopied(*F))
      return std::nullopt;
    if (isInline(*F) || asksForConstants(*F))
      return Role::BothInline;
    return Leaves.contains(F) && isSmall(*F) ? std::optional(Role::BothLeaf) : std::nullopt;
  }

  bool mayBeCopied(const Function &F) const {
    return !F.isDeclaration() && bindsLocally(F) && !cName(F).starts_with("__flick_") &&
           !Refused.contains(const_cast<Function *>(&F)) && !keepsLabels(F) &&
           (!P.Choices.contains(const_cast<Function *>(&F)) || OnlyCopied.contains(&F));
  }

  void findLeaves() {
    Leaves = leavesOf(P.M, [&](Function &F) {
      auto Root = Roots.find(&F);
      if (Root != Roots.end())
        return Root->second.R == Role::BothMarked && bindsLocally(F) && !Refused.contains(&F);
      return mayBeCopied(F) && (isInline(F) || isSmall(F));
    });
  }

  /// Copies need a record where other code can hold their address or call them by name.
  bool needsRecord(const Function &F) const {
    if (F.hasAvailableExternallyLinkage())
      return false;
    bool OnlyHere = F.hasLocalLinkage() || F.hasLinkOnceLinkage();
    return (!OnlyHere || F.hasAddressTaken() || givesAddressLater(F)) && signatureOf(F).covered();
  }

  static bool hasNxpCode(const Members &Now, const Function *F) {
    return Now.contains(const_cast<Function *>(F));
  }

  /// As Plan::isElsewhere, while members are decided.
  bool isElsewhere(const Members &Now, const Function &Caller, const Function &Callee) const {
    auto TileIn = [&](const Function &F) -> StringRef {
      auto Mine = Now.find(const_cast<Function *>(&F));
      auto Chosen = P.Choices.find(const_cast<Function *>(&F));
      bool IsPlaced = Mine != Now.end() && Mine->second.R == Role::Nxp && Chosen != P.Choices.end();
      return IsPlaced ? StringRef(Chosen->second.Tile) : "";
    };
    StringRef Tile = TileIn(Callee);
    return !Tile.empty() && Tile != TileIn(Caller);
  }

  Members close() {
    if (P.CopyLeaves)
      findLeaves();
    Members Now;
    std::vector<Function *> Work;
    for (auto &[F, Mine] : Roots)
      if (!Refused.contains(F)) {
        Now.insert({F, Mine});
        Work.push_back(F);
      }
    while (!Work.empty()) {
      Function *F = Work.back();
      Work.pop_back();
      for (CallBase *Call : callsOf(*F)) {
        auto *Callee = dyn_cast<Function>(Call->getCalledOperand()->stripPointerCasts());
        if (!Callee || hasNxpCode(Now, Callee))
          continue;
        if (auto R = copyRole(Callee)) {
          Now.insert({Callee, {*R, needsRecord(*Callee)}});
          Work.push_back(Callee);
        }
      }
    }
    return Now;
  }

  /// The calls that F makes on the NxP.
  const std::vector<CallBase *> &callsOf(Function &F) {
    auto [It, New] = Calls.try_emplace(&F);
    if (New)
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isRealCall(*Call))
          It->second.push_back(Call);
    return It->second;
  }

  const std::vector<Refusal> &bodyOf(Function *F) {
    auto It = Bodies.find(F);
    return It != Bodies.end() ? It->second : Bodies.insert({F, checkBody(*F)}).first->second;
  }

  void checkCalls(Function &F, const Members &Now, std::vector<Refusal> &Out) {
    for (const CallBase *Call : callsOf(F)) {
      CallPlan Made = planCall(
          *Call, [&](const Function *G) { return hasNxpCode(Now, G) && !isElsewhere(Now, F, *G); });
      std::string What = Made.Callee ? "a call of '" + shownName(*Made.Callee) + "'"
                                     : std::string("a call through a pointer");
      if (Made.Form == CallForm::Uncovered)
        Out.push_back({FLICK_CODE_UNCOVERED_CALL, What,
                       "the crossing does not cover " + Made.Sig.Why,
                       "pass it through memory, or keep this function on the host", Call});
      // RV64 makes tail calls whose arguments are all in registers.
      else if (Call->isMustTailCall() && !isTailOnNxp(*Call, Made))
        Out.push_back({FLICK_CODE_UNCOVERED_CALL, What + " in a musttail return",
                       "its arguments need this function's frame",
                       "drop musttail, or keep this function on the host", Call});
    }
  }

  static bool isTailOnNxp(const CallBase &Call, const CallPlan &Made) {
    const FunctionType &T = *Call.getFunctionType();
    // A thunk hands on the list that it got.
    if (Made.Form == CallForm::Local && T.isVarArg() && cast<Function>(Made.Callee)->isVarArg())
      return true;
    bool Same = all_of(T.params(), [](Type *P) { return nxpTypesOf(P)[0] == P; });
    return Same && signatureOf(Call).PlainCall &&
           (T.getReturnType()->isVoidTy() || nxpTypesOf(T.getReturnType())[0] == T.getReturnType());
  }

  /// One round; true if it refused nothing.
  bool settle() {
    Members Now = close();
    size_t Before = Refused.size();
    for (auto &[F, Mine] : Now) {
      std::vector<Refusal> Found = bodyOf(F);
      bool Spoken = any_of(Found, [](const Refusal &R) { return !R.At; });
      if (Roots.contains(F) && !Spoken)
        if (Signature Sig = signatureOf(*F); !Sig.covered())
          Found.push_back(uncovered(Sig));
      checkAliases(*F, Mine, Found);
      checkCalls(*F, Now, Found);
      if (!Found.empty())
        Refused[F] = std::move(Found);
    }
    P.Functions = std::move(Now);
    return Refused.size() == Before;
  }

  static void checkAliases(const Function &F, const Member &Mine, std::vector<Refusal> &Out) {
    if (Mine.R != Role::Nxp)
      return;
    for (const GlobalAlias &A : F.getParent()->aliases())
      if (A.getAliaseeObject() == &F && A.getAliasee()->stripPointerCastsAndAliases() != &F)
        Out.push_back({FLICK_CODE_NO_RV64_FORM, "an alias into the middle of the function",
                       "a gate has one entry", "keep this function on the host"});
  }

  /// What makes two refusals point to different lines, if anything does.
  static const void *placeOf(const Refusal &R) {
    auto *Call = dyn_cast_or_null<CallBase>(R.At);
    if (Call && Call->isInlineAsm())
      return Call;
    return R.At && R.At->getDebugLoc() ? R.At->getDebugLoc().get() : nullptr;
  }

  /// Nothing but NxP code of this unit can enter F: it is static, or every unit that uses it has
  /// its own. So either half may inline and drop it.
  bool isPrivate(Function &F) const {
    if (!F.hasLocalLinkage() && !F.hasLinkOnceLinkage())
      return false;
    return bindsLocally(F) && !Pinned.contains(F) && !givesAddressLater(F) &&
           all_of(F.uses(), [&](const Use &U) {
             auto *List = dyn_cast<ConstantStruct>(U.getUser());
             return P.isCallByNxp(U) || isa<BlockAddress>(U.getUser()) ||
                    (List && isAnnotationRow(*List));
           });
  }

  /// A row of `llvm.global.annotations`.
  static bool isAnnotationRow(const ConstantStruct &Row) {
    return all_of(Row.users(), [](const User *Rows) {
      return all_of(Rows->users(), [](const User *Table) {
        return isa<GlobalVariable>(Table) && Table->getName() == "llvm.global.annotations";
      });
    });
  }

  bool finish() {
    bool Good = true;
    for (auto &[F, Mine] : P.Functions)
      // A function with a tile is known by its record.
      if (Mine.R == Role::Nxp && isPrivate(*F) && P.tileOf(*F).empty())
        Mine.Recorded = false;
    for (auto &[F, Found] : Refused) {
      auto It = P.Choices.find(F);
      if (It == P.Choices.end())
        continue;
      if (!It->second.Firm) {
        P.Refused[F] = Found.front();
        continue;
      }
      Good = false;
      std::set<std::tuple<StringRef, std::string, const void *>> Seen;
      for (Refusal &R : Found)
        if (Seen.insert({R.Code, R.What, placeOf(R)}).second) {
          const char *Where = It->second.Where == Side::Both ? "both sides" : "the NxP";
          R.What += " in '" + shownName(*F) + "', which is placed on " + Where;
          report(*F, R);
        }
    }
    if (hostCodeIsTimed())
      noteRefusals();
    return Good;
  }

  /// For profiles, from which placements are proposed: what could not be placed if somebody asked.
  void noteRefusals() {
    for (Function &F : P.M) {
      if (F.isDeclaration() || (Roots.contains(&F) && !Refused.contains(&F)))
        continue;
      std::vector<Refusal> Found = bodyOf(&F);
      if (Signature Sig = signatureOf(F); !Sig.covered())
        Found.push_back(uncovered(Sig));
      checkAliases(F, {Role::Nxp, true}, Found);
      checkCalls(F, P.Functions, Found);
      if (!Found.empty())
        F.addFnAttr(RefusedAttribute, Found.front().Code);
    }
  }
};

} // namespace

bool decideMembers(Plan &P) { return Decider(P).run(); }

} // namespace flick
