#include "PlacementFile.h"
#include "FunctionNames.h"
#include "flick_abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>

using namespace llvm;

namespace flick {

static cl::list<std::string> PlaceFiles("flick-place", cl::value_desc("file"),
                                        cl::desc("Flick: a placement file"));
static cl::opt<std::string> RandomSpec("flick-random", cl::value_desc("seed:percent"),
                                       cl::desc("Flick: place functions at random"));

static cl::opt<unsigned> AbiVersion("flick-abi", cl::value_desc("number"),
                                    cl::desc("Flick: the driver's version of object files"));
static cl::opt<bool> NoLeaves("flick-no-leaves",
                              cl::desc("Flick: no copies of small functions for the NxP"));

static cl::opt<std::string> RootOption("flick-root", cl::value_desc("dir"),
                                       cl::desc("Flick: copies of absolute files, for a replay"));

std::string originalName(StringRef Name) {
  if (!RootOption.empty())
    Name.consume_front(RootOption);
  return Name.str();
}

static std::string copyOf(const std::string &File) {
  return StringRef(File).starts_with("/") ? RootOption + File : File;
}

bool RandomPlacement::picks(StringRef Name) const {
  return xxh3_64bits((Name + ":" + Seed).str()) % 100 < Percent;
}

bool PlacementEntry::matches(ArrayRef<std::string> Names) const {
  return any_of(Names,
                [&](const std::string &Name) { return Name == Literal || Pattern.match(Name); });
}

/// The glob for a pattern, in which what belongs to a C++ name is literal: brackets as in
/// `operator[]`, `delete[]` and `name[abi:tag]`, and between parentheses or angle brackets the star
/// of a pointer and the bounds of an array.
static std::string globOf(StringRef Pattern, bool &Exact) {
  std::string Out;
  int Depth = 0;
  Exact = true;
  for (size_t I = 0; I < Pattern.size(); ++I) {
    StringRef Rest = Pattern.substr(I), Before = Pattern.take_front(I);
    char C = Pattern[I], Last = I == 0 ? 0 : Pattern[I - 1];
    if (C == '\\' && I + 1 < Pattern.size()) {
      Out += Rest.substr(0, 2);
      ++I;
      continue;
    }
    if (!Before.ends_with("operator"))
      Depth += (C == '(' || C == '<') - (C == ')' || (C == '>' && Last != '-'));
    bool Pointer = C == '*' && Depth > 0 && (isAlnum(Last) || StringRef("_>*&)").contains(Last));
    size_t Close = C == '[' ? Rest.find(']') : StringRef::npos;
    if (Close != StringRef::npos) {
      StringRef Inside = Rest.slice(1, Close);
      if (Inside.empty() || Inside.starts_with("abi:") ||
          (Depth > 0 && all_of(Inside, [](char D) { return isDigit(D); }))) {
        Out += ("\\[" + Inside + "\\]").str();
        I += Close;
        continue;
      }
    }
    if (Pointer)
      Out += '\\';
    else if (StringRef("*?[").contains(C))
      Exact = false;
    Out += C;
  }
  return Out;
}

/// Only names of C++ have blanks in them.
static bool mayHaveBlanks(StringRef Pattern) {
  return Pattern.find_first_of("(<") != StringRef::npos || Pattern.contains("::") ||
         Pattern.contains("operator ");
}

/// The word among `Known` that `Word` is a slip of, if any: another case, a mark's name,
/// punctuation behind it, letters in another order, one wrong letter (two in a long word).
static StringRef meant(StringRef Word, ArrayRef<StringRef> Known) {
  std::string Lower = Word.rtrim(":=,;").lower();
  StringRef Plain = Lower;
  Plain.consume_front("flick_");
  StringRef Best;
  unsigned Least = Plain.size() > 4 ? 3 : 2;
  for (StringRef Each : Known) {
    if (Plain.size() == Each.size() &&
        std::is_permutation(Plain.begin(), Plain.end(), Each.begin()))
      return Each;
    if (unsigned Edits = Plain.edit_distance(Each); Edits < Least) {
      Best = Each;
      Least = Edits;
    }
  }
  return Best;
}

static std::string question(const Twine &Line) { return ("did you mean '" + Line + "'? ").str(); }

/// What a line may have meant whose first word is no placement.
static std::string suggestLine(StringRef Line, StringRef Word, StringRef Rest) {
  static constexpr StringRef Sides[] = {"nxp", "host", "both"};
  // `NXP@storage sum`; `nxp@ sum`. A tile is of the NxP alone.
  auto [Before, Tile] = Word.split('@');
  if (StringRef Side = meant(Before, Sides); Word.contains('@') && !Rest.empty() && !Side.empty()) {
    bool HasTile = Side == "nxp" && !Tile.empty();
    return question(Side + (HasTile ? "@" + Tile : Twine()) + " " + Rest);
  }
  if (StringRef Known = meant(Word, {"project", "override"}); Rest.empty() && !Known.empty())
    return question(Known);
  if (StringRef Side = meant(Word, Sides); !Side.empty() && !Rest.empty())
    return question(Side + " " + Rest);
  // `sum nxp`, `sum: nxp`: one name, and the side behind it.
  if (StringRef Side = meant(Rest, Sides); !Side.empty())
    return question(Side + " " + Word.rtrim(":=,"));
  // A bare name, `class NAME`, `int f(int)`.
  if (Rest.empty() || Word == "class" || Word == "namespace" || Rest.contains('('))
    return question("nxp " + Line);
  return "";
}

/// What the text behind a side may have meant that is no pattern.
static std::string suggestPattern(StringRef Side, StringRef Rest) {
  if (Rest.empty())
    return "";
  auto [First, Name] = Rest.split(Rest.contains('\t') ? '\t' : ' ');
  Name = Name.trim();
  StringRef Keyword =
      First == "struct" || First == "union" ? "class" : meant(First, {"class", "namespace"});
  if (!Keyword.empty() && !Name.contains(' '))
    return question(Side + " " + Keyword + " " + Name);
  if (First == "=" || First == ":")
    return question(Side + " " + Name);
  return "each name has a line of its own; ";
}

/// The text of a line that says something.
static StringRef contents(StringRef Line) { return Line.split('#').first.trim(); }

static void readLine(StringRef Line, const std::string &At, bool Overrides,
                     std::vector<PlacementEntry> &Entries, std::string &Bad) {
  Line = contents(Line);
  // `project`: what the link makes of unmatched entries; nothing to a single unit.
  if (Line.empty() || Line == "project" || Line == "override")
    return;
  auto [Word, Rest] = Line.split(' ');
  if (Word.contains('\t'))
    std::tie(Word, Rest) = Line.split('\t');
  Rest = Rest.trim();
  // `nxp@TILE`
  auto [SideWord, Tile] = Word.split('@');
  bool IsTiled = SideWord == "nxp" && !Tile.empty();
  auto Where = StringSwitch<std::optional<Side>>(IsTiled ? SideWord : Word)
                   .Case("nxp", Side::Nxp)
                   .Case("host", Side::Host)
                   .Case("both", Side::Both)
                   .Default(std::nullopt);
  auto Complain = [&](const Twine &Why, const std::string &Suggestion) {
    Bad += ("[" FLICK_CODE_PLACEMENT_SYNTAX "] " + At + ": " + Why + "; " + Suggestion +
            "a line reads 'nxp|nxp@TILE|host|both PATTERN', 'project' or 'override'\n")
               .str();
  };
  if (!Where)
    return Complain("unknown placement '" + Word + "'", suggestLine(Line, Word, Rest));
  // `class NAME` and `namespace NAME`: everything in it.
  StringRef Scope = Rest;
  bool Whole = Scope.consume_front("class ") || Scope.consume_front("namespace ");
  if (Whole)
    Rest = Scope.trim();
  bool Blanks = Rest.find_first_of(" \t") != StringRef::npos;
  if (Rest.empty() || (Blanks && !mayHaveBlanks(Rest)))
    return Complain("expected one pattern after '" + Word + "'", suggestPattern(Word, Rest));
  bool Exact;
  std::string Literal = squeeze(Rest) + (Whole ? "::*" : "");
  auto Text = std::make_unique<std::string>(globOf(Literal, Exact));
  Expected<GlobPattern> Pattern = GlobPattern::create(*Text);
  if (!Pattern)
    return Complain("bad pattern '" + Rest + "': " + toString(Pattern.takeError()), "");
  Entries.push_back({*Where, IsTiled ? Tile.str() : "", std::move(Literal), std::move(Text),
                     std::move(*Pattern), Exact, At, Overrides});
}

Expected<PlacementOptions> readPlacementOptions() {
  PlacementOptions Out;
  std::string Bad;
  if (AbiVersion.getNumOccurrences() && AbiVersion != FLICK_ABI_VERSION) {
    auto Text = [](unsigned V) {
      return std::to_string(V >> 16) + "." + std::to_string(V & 0xffff);
    };
    Bad += "[" FLICK_CODE_OTHER_VERSION
           "] one of Flick's own files is of another version: flick-pass.so: its format is " +
           Text(FLICK_ABI_VERSION) + ", this flick makes " + Text(AbiVersion) +
           "; install Flick again: all of its files together, into an empty place\n";
  }
  for (const std::string &File : PlaceFiles) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
        MemoryBuffer::getFile(copyOf(File), /*IsText=*/true);
    if (!Text) {
      Bad += "[" FLICK_CODE_FILE_ACCESS "] " + File +
             ": the placement file cannot be read: " + Text.getError().message() + "\n";
      continue;
    }
    SmallVector<StringRef> Lines;
    (*Text)->getBuffer().split(Lines, '\n');
    bool Overrides = any_of(Lines, [](StringRef Line) { return contents(Line) == "override"; });
    for (size_t I = 0; I < Lines.size(); ++I)
      readLine(Lines[I], File + ":" + std::to_string(I + 1), Overrides, Out.Entries, Bad);
  }
  if (!RandomSpec.empty()) {
    auto [Seed, Percent] = StringRef(RandomSpec).rsplit(':');
    RandomPlacement R{Seed.str(), 0};
    if (Seed.empty() || Percent.getAsInteger(10, R.Percent) || R.Percent > 100)
      Bad += "[" FLICK_CODE_BAD_OPTION "] -flick-random=" + RandomSpec +
             ": expected SEED:PERCENT with a percentage of 0 to 100\n";
    Out.Random = R;
  }
  Out.CopyLeaves = !Out.Random && !NoLeaves;
  if (!Bad.empty())
    return createStringError(StringRef(Bad).rtrim());
  return Out;
}

} // namespace flick
