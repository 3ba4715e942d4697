#include "GateDebug.h"
#include "Plan.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace flick {

namespace {

// LLVM refers to the first bytes of its sections, so the unit's come after them. With sections of
// its own, an object has two tables of abbreviations, and `llvm-dwarfdump` reads one for both
// units.
std::string section(StringRef Name) {
  return formatv("\t.section\t{0},\"\",@progbits\n\t.subsection\t1\n", Name);
}

enum Abbreviation { Unit = 1, Gate = 2 };

std::string numbers(std::initializer_list<unsigned> Values) {
  std::string Out;
  for (unsigned Value : Values)
    Out += formatv("\t.uleb128\t{0}\n", Value);
  return Out;
}

std::string abbreviations() {
  using namespace dwarf;
  return section(".debug_abbrev") + ".Lflick_gate_abbrev:\n" +
         numbers({Unit, DW_TAG_compile_unit, DW_CHILDREN_yes, DW_AT_name, DW_FORM_string,
                  DW_AT_language, DW_FORM_data1, DW_AT_low_pc, DW_FORM_addr, DW_AT_ranges,
                  DW_FORM_sec_offset, 0, 0}) +
         numbers({Gate, DW_TAG_subprogram, DW_CHILDREN_no, DW_AT_name, DW_FORM_string,
                  DW_AT_artificial, DW_FORM_flag_present, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
                  DW_FORM_data4, 0, 0, 0});
}

} // namespace

std::string GateDebug::gate(StringRef Symbol, StringRef Entry, StringRef Name, StringRef Code,
                            bool Weak) {
  std::string Own = asmSymbol(Symbol);
  if (!Wanted)
    return formatv("\t.size\t{0}, .-{0}\n", Own);
  std::string End = (Entry + "_end").str();
  Ranges += formatv("\t.quad\t{0}, {1}\n", Entry, End);
  Entries += numbers({Gate});
  Entries += formatv("\t.asciz\t{0}\n\t.quad\t{1}\n\t.long\t{2}-{1}\n",
                     asmString(("gate of " + Name).str()), Entry, End);
  // Of the symbols of one address gdb takes one that has a size.
  std::string Thunk = asmSymbol(formatv("_ZThn0_{0}{1}", Code.size(), Code).str());
  return formatv("{0}:\n"
                 "\t.size\t{1}, 0\n"
                 "\t{2}\t{3}\n\t.hidden\t{3}\n\t.type\t{3},@function\n"
                 "\t.set\t{3}, {4}\n\t.size\t{3}, {0}-{4}\n",
                 End, Own, Weak ? ".weak" : ".globl", Thunk, Entry);
}

std::string GateDebug::unit() const {
  if (Entries.empty())
    return "";
  return abbreviations() + section(".debug_ranges") + ".Lflick_gate_ranges:\n" + Ranges +
         "\t.quad\t0, 0\n" + section(".debug_info") +
         formatv("\t.long\t.Lflick_gate_unit_end-.Lflick_gate_unit\n"
                 ".Lflick_gate_unit:\n"
                 "\t.short\t4\n\t.long\t.Lflick_gate_abbrev\n\t.byte\t8\n"
                 "\t.uleb128\t{0}\n\t.asciz\t\"gates\"\n\t.byte\t{1}\n\t.quad\t0\n"
                 "\t.long\t.Lflick_gate_ranges\n",
                 Unit, dwarf::DW_LANG_C99)
             .str() +
         Entries + "\t.byte\t0\n.Lflick_gate_unit_end:\n";
}

} // namespace flick
