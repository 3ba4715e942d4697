// `.flick.place`: where each function went and why.
#include "HostHalf.h"
#include "flick_abi.h"

using namespace llvm;

namespace flick {
namespace {

class Lines {
public:
  explicit Lines(Plan &P) : P(P) {}

  std::string run() {
    for (auto &[F, Mine] : P.Functions)
      addMember(*F, Mine);
    for (Function *F : P.DeclareOnly)
      add(*F, "nxp", P.Choices[F].Reason, "inline definition not used here");
    for (auto &[F, Why] : P.Refused)
      if (!P.Functions.contains(F))
        add(*F, "host", std::string("refused:") + Why.Code, Why.What + ": " + Why.Why);
    bool Placed = !Text.empty();
    for (auto &[F, Chosen] : P.Choices)
      // A unit with nothing but FLICK_HOST marks stays as it is.
      if (Chosen.Where == Side::Host && (Placed || Chosen.Reason != "mark"))
        add(*F, "host", Chosen.Reason, "");
    for (const std::string &At : P.MatchedEntries)
      row({"v1", P.M.getSourceFileName(), "-", "match", At});
    for (auto &[F, Mark] : P.Expected)
      add(*F, "expect", Mark, "");
    return Text;
  }

private:
  Plan &P;
  std::string Text;

  void addMember(const Function &F, const Member &Mine) {
    auto It = P.Choices.find(const_cast<Function *>(&F));
    std::string Reason = It != P.Choices.end()        ? It->second.Reason
                         : Mine.R == Role::BothInline ? "inline"
                                                      : "leaf";
    auto Refused = P.Refused.find(const_cast<Function *>(&F));
    std::string Detail =
        Refused != P.Refused.end() ? Refused->second.What + ": " + Refused->second.Why : "";
    if (StringRef Tile = P.tileOf(F); !Tile.empty())
      Detail = ("on the tile " + Tile).str();
    add(F, Mine.R == Role::Nxp ? "nxp" : "both", Reason, Detail);
  }

  void add(const Function &F, StringRef Placement, StringRef Reason, StringRef Detail) {
    SourcePlace At = P.Places.lookup(&F);
    if (At.File.empty())
      At.File = P.M.getSourceFileName();
    row({"v1", P.M.getSourceFileName(), cName(F), Placement, Reason, Detail, At.File,
         std::to_string(At.Line)});
  }

  void row(ArrayRef<std::string> Columns) {
    bool First = true;
    for (StringRef Column : Columns) {
      if (!First)
        Text += '\t';
      First = false;
      for (char C : Column)
        Text += C == '\t' || C == '\n' ? ' ' : C;
    }
    Text += '\n';
  }
  void row(std::initializer_list<StringRef> Columns) {
    row(std::vector<std::string>(Columns.begin(), Columns.end()));
  }
};

} // namespace

std::string placeLines(Plan &P) { return Lines(P).run(); }

void addPlaceLines(Module &M, StringRef Lines) {
  std::string Asm = "\t.section\t" FLICK_SEC_PLACE ",\"\",@progbits\n";
  SmallVector<StringRef> Rows;
  Lines.split(Rows, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Row : Rows)
    Asm += "\t.ascii\t" + asmString((Row + "\n").str()) + "\n";
  M.appendModuleInlineAsm(Asm + "\t.text\n");
}

} // namespace flick
