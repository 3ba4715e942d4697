#include "FunctionNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include <cstdlib>

using namespace llvm;

namespace flick {

static bool isNamePart(char C) { return isAlnum(C) || C == '_' || C == '$'; }

std::string squeeze(StringRef Text) {
  std::string Out;
  bool Blank = false;
  for (char C : Text) {
    if (C == ' ' || C == '\t') {
      Blank = true;
      continue;
    }
    if (Blank && !Out.empty() && isNamePart(Out.back()) && isNamePart(C))
      Out += ' ';
    Blank = false;
    Out += C;
  }
  return Out;
}

/// Without template arguments and ABI tags.
static std::string plainContext(StringRef Name) {
  if (Name.contains("operator")) // a function's local class; its brackets need not be brackets
    return Name.str();
  std::string Out;
  unsigned Depth = 0;
  for (size_t I = 0; I < Name.size(); ++I) {
    if (Name.substr(I).starts_with("[abi:")) {
      I = Name.find(']', I);
      if (I == StringRef::npos)
        break;
    } else if (Name[I] == '<') {
      ++Depth;
    } else if (Name[I] == '>' && Depth != 0 && Name[I - 1] != '-') {
      --Depth;
    } else if (Depth == 0) {
      Out += Name[I];
    }
  }
  return Out;
}

/// Without the modules that entities are attached to: `area@shape:part(int)`.
static std::string withoutModules(StringRef Name) {
  std::string Out;
  while (!Name.empty()) {
    size_t At = Name.find('@');
    Out += Name.substr(0, At);
    if (At == StringRef::npos)
      break;
    auto Part = [](StringRef &Rest) {
      Rest = Rest.drop_while([](char C) { return isNamePart(C) || C == '.'; });
    };
    Name = Name.substr(At + 1);
    Part(Name);
    if (Name.starts_with(":") && !Name.starts_with("::")) {
      Name = Name.drop_front();
      Part(Name);
    }
  }
  return Out;
}

static std::string take(char *Text) {
  std::string Out = Text ? Text : "";
  std::free(Text);
  return Out;
}

// Itanium C++ ABI, 5.1.4.3.
std::string throughThunk(StringRef Symbol) {
  auto SkipOffset = [](StringRef &Rest) {
    // h <offset> _, or v <offset> _ <offset> _; an offset may begin with n.
    bool Virtual = Rest.consume_front("v");
    if (!Virtual && !Rest.consume_front("h"))
      return false;
    for (int I = 0; I <= Virtual; ++I) {
      Rest.consume_front("n");
      size_t End = Rest.find_first_not_of("0123456789");
      if (End == 0 || End == StringRef::npos || Rest[End] != '_')
        return false;
      Rest = Rest.substr(End + 1);
    }
    return true;
  };
  StringRef Rest = Symbol;
  if (!Rest.consume_front("_ZT"))
    return Symbol.str();
  bool Covariant = Rest.consume_front("c");
  if (!SkipOffset(Rest) || (Covariant && !SkipOffset(Rest)))
    return Symbol.str();
  return ("_Z" + Rest).str();
}

SmallVector<std::string> functionNames(StringRef Symbol) {
  SmallVector<std::string> Out{Symbol.str()};
  if (!Symbol.starts_with("_Z"))
    return Out;
  auto Add = [&](StringRef Name) {
    auto AddOne = [&](std::string Each) {
      if (!is_contained(Out, Each))
        Out.push_back(std::move(Each));
    };
    std::string Squeezed = squeeze(Name);
    AddOne(Squeezed);
    if (StringRef(Squeezed).contains('@'))
      AddOne(withoutModules(Squeezed));
  };
  ItaniumPartialDemangler Parts;
  std::string Target = throughThunk(Symbol); // the parts refer to it
  if (Parts.partialDemangle(Target.c_str()))
    return Out;
  std::string Whole = take(Parts.finishDemangle(nullptr, nullptr));
  if (Parts.isFunction()) {
    std::string Name = take(Parts.getFunctionName(nullptr, nullptr));
    std::string Base = take(Parts.getFunctionBaseName(nullptr, nullptr));
    std::string Context = take(Parts.getFunctionDeclContextName(nullptr, nullptr));
    std::string Parameters = take(Parts.getFunctionParameters(nullptr, nullptr));
    std::string Plain = Context.empty() ? Base : plainContext(Context) + "::" + Base;
    for (const std::string &Each : {Name, Plain}) {
      Add(Each);
      Add(Each + Parameters);
    }
    // With `const` and the like, without the result that a template's name begins with.
    if (size_t At = Whole.find(Name + Parameters); At != std::string::npos) {
      Add(StringRef(Whole).substr(At));
      Add(Plain + Whole.substr(At + Name.size()));
    }
  }
  Add(Whole);
  return Out;
}

} // namespace flick
