#include "PlacementFile.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace flick {

static cl::list<std::string> PlaceFiles("flick-place", cl::value_desc("file"),
                                        cl::desc("Flick: a placement file"));
static cl::opt<std::string> RandomSpec("flick-random", cl::value_desc("seed:percent"),
                                       cl::desc("Flick: place functions at random"));

bool RandomPlacement::picks(StringRef Name) const {
  return xxh3_64bits((Name + ":" + Seed).str()) % 100 < Percent;
}

static void readLine(StringRef Line, const std::string &At, std::vector<PlacementEntry> &Entries,
                     std::string &Bad) {
  Line = Line.split('#').first.trim();
  // `project`: what the link makes of unmatched entries; nothing to a single unit.
  if (Line.empty() || Line == "project")
    return;
  auto [Word, Rest] = Line.split(' ');
  if (Word.contains('\t'))
    std::tie(Word, Rest) = Line.split('\t');
  Rest = Rest.trim();
  auto Where = StringSwitch<std::optional<Side>>(Word)
                   .Case("nxp", Side::Nxp)
                   .Case("host", Side::Host)
                   .Case("both", Side::Both)
                   .Default(std::nullopt);
  auto Complain = [&](const Twine &Why) {
    Bad +=
        ("[FLK0209] " + At + ": " + Why + "; a line reads 'nxp|host|both PATTERN' or 'project'\n")
            .str();
  };
  if (!Where)
    return Complain("unknown placement '" + Word + "'");
  if (Rest.empty() || Rest.find_first_of(" \t") != StringRef::npos)
    return Complain("expected one pattern after '" + Word + "'");
  Expected<GlobPattern> Pattern = GlobPattern::create(Rest);
  if (!Pattern)
    return Complain("bad pattern '" + Rest + "': " + toString(Pattern.takeError()));
  bool Exact = Rest.find_first_of("*?[\\") == StringRef::npos;
  Entries.push_back({*Where, std::move(*Pattern), Exact, At});
}

Expected<PlacementOptions> readPlacementOptions() {
  PlacementOptions Out;
  std::string Bad;
  for (const std::string &File : PlaceFiles) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(File, /*IsText=*/true);
    if (!Text) {
      Bad += "[FLK0105] " + File +
             ": the placement file cannot be read: " + Text.getError().message() + "\n";
      continue;
    }
    SmallVector<StringRef> Lines;
    (*Text)->getBuffer().split(Lines, '\n');
    for (size_t I = 0; I < Lines.size(); ++I)
      readLine(Lines[I], File + ":" + std::to_string(I + 1), Out.Entries, Bad);
    Out.Texts.push_back(std::move(*Text));
  }
  if (!RandomSpec.empty()) {
    auto [Seed, Percent] = StringRef(RandomSpec).rsplit(':');
    RandomPlacement R{Seed.str(), 0};
    if (Seed.empty() || Percent.getAsInteger(10, R.Percent) || R.Percent > 100)
      Bad += "[FLK0104] -flick-random=" + RandomSpec +
             ": expected SEED:PERCENT with a percentage of 0 to 100\n";
    Out.Random = R;
  }
  if (!Bad.empty())
    return createStringError(StringRef(Bad).rtrim());
  return Out;
}

} // namespace flick
