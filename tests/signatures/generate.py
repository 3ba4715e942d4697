#!/usr/bin/env python3
"""Writes a C program whose functions have random signatures, on both sides.

    generate.py SEED FUNCTIONS

Each NxP function folds its arguments into a number and calls a host function, whose signature
differs, by name or through a pointer. That one calls the next NxP function, and so on. Each
function folds what it gets, so that the printed numbers depend on each argument and result.
"""
import random
import sys

INTEGERS = ["signed char", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool"]
STRUCTS = {
    "pair_float": ["float", "float"],
    "one_float": ["float"],
    "three_floats": ["float", "float", "float"],
    "two_doubles": ["double", "double"],
    "float_double": ["float", "double"],
    "int_float": ["int", "float"],
    "long_and_double": ["long", "double"],
    "double_long": ["double", "long"],
    "two_longs": ["long", "long"],
    "shorts": ["short", "char", "int"],
    "three_longs": ["long", "long", "long"],
    "four_mixed": ["double", "int", "float", "long"],
    "five_ints": ["int", "int", "int", "int", "int"],
    "bytes_17": ["char"] * 17,
    "nine_longs": ["long"] * 9,
    "wide": ["__int128", "int"],
    "aligned": ["_Alignas(16) long", "int", "long"],
    "over_aligned": ["_Alignas(32) long", "int"],
}


def draw_type(draw, result=False):
    kind = draw.random()
    if kind < 0.35:
        return draw.choice(INTEGERS)
    if kind < 0.5:
        return "float"
    if kind < 0.65:
        return "double"
    if kind < 0.7 and not result:
        return "__int128"
    if kind < 0.73:
        return "four_floats"
    if kind < 0.75:
        return "two_floats"
    return draw.choice(list(STRUCTS))


def scalars(kind, name):
    """Expressions of the numbers in a value."""
    if kind == "four_floats":
        return [(f"{name}[{n}]", "float") for n in range(4)]
    if kind == "two_floats":
        return [(f"{name}[{n}]", "float") for n in range(2)]
    if kind in STRUCTS:
        return [(f"{name}.m{n}", member.split(" ", 1)[1] if "_Alignas" in member else member)
                for n, member in enumerate(STRUCTS[kind])]
    return [(name, kind)]


def fold(kind, name):
    text = ""
    for value, scalar in scalars(kind, name):
        if scalar == "__int128":
            text += f"  h = mix(h, (unsigned long)({value} >> 64));\n"
        text += f"  h = mix(h, {'bits(' + value + ')' if scalar in ('float', 'double') else '(unsigned long)' + value});\n"
    return text


def fill(draw, kind, name, seed):
    """Gives a variable a value that depends on a number."""
    text = f"  {kind} {name};\n"
    for value, scalar in scalars(kind, name):
        factor = draw.randrange(3, 1 << 20)
        number = f"({seed} * {factor}u >> {draw.randrange(8)})"
        if scalar in ("float", "double"):
            number = f"(double)(int){number} / 16"
        elif scalar == "__int128":
            number = f"((unsigned __int128){number} << 64 | {seed} * 77)"
        elif scalar == "_Bool":
            number = f"({number} & 1)"
        text += f"  {value} = ({scalar}){number};\n"
    return text


def main():
    draw, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    print("#include <flick.h>\n#include <stdio.h>\n#define SEPARATE __attribute__((noinline))")
    print("typedef float four_floats __attribute__((vector_size(16)));")
    print("typedef float two_floats __attribute__((vector_size(8)));")
    for name, members in STRUCTS.items():
        print(f"typedef struct {{ {' '.join(f'{m} m{n};' for n, m in enumerate(members))} }} {name};")
    # Both sides have their own copies of these.
    print("static inline unsigned long mix(unsigned long h, unsigned long v)"
          " { h = (h ^ v) * 0x9e3779b97f4a7c15u; return h ^ h >> 29; }")
    print("static inline unsigned long bits(double v)"
          " { unsigned long b; __builtin_memcpy(&b, &v, 8); return b; }")
    print("static volatile int depth;")
    functions = []
    for n in range(2 * count):
        side = "FLICK_NXP" if n % 2 == 0 else "FLICK_HOST"
        arguments = [draw_type(draw) for _ in range(draw.randrange(0, draw.choice([4, 8, 16])))]
        result = draw_type(draw, True)
        functions.append((side, result, arguments))
        parameters = ", ".join(f"{kind} a{k}" for k, kind in enumerate(arguments)) or "void"
        print(f"{side} SEPARATE {result} f{n}({parameters});")
    for n, (side, result, arguments) in enumerate(functions):
        parameters = ", ".join(f"{kind} a{k}" for k, kind in enumerate(arguments)) or "void"
        print(f"{side} SEPARATE {result} f{n}({parameters}) {{\n  unsigned long h = {n};")
        for k, kind in enumerate(arguments):
            print(fold(kind, f"a{k}"), end="")
        callee = (n + 1) % len(functions)
        _, returned, passed = functions[callee]
        print("  if (depth > 0) {\n  depth--;")
        for k, kind in enumerate(passed):
            print(fill(draw, kind, f"b{k}", "h"), end="")
        called = f"f{callee}"
        if draw.random() < 0.3:
            types = ", ".join(passed) or "void"
            print(f"  {returned} (*volatile pointer)({types}) = f{callee};")
            called = "pointer"
        print(f"  {returned} got = {called}({', '.join(f'b{k}' for k in range(len(passed)))});")
        print(fold(returned, "got"), end="")
        # What is used behind the call must have stayed as it was.
        for k, kind in enumerate(arguments):
            print(fold(kind, f"a{k}"), end="")
        print("  }")
        print(fill(draw, result, "out", "h"), end="")
        print("  return out;\n}")
    print("int main(void) {\n  unsigned long h = 1;\n  for (int round = 0; round < 3; round++) {")
    for n, (_, result, arguments) in enumerate(functions):
        print("  {\n  depth = 5;")
        for k, kind in enumerate(arguments):
            print(fill(draw, kind, f"b{k}", "h"), end="")
        print(f"  {result} got = f{n}({', '.join(f'b{k}' for k in range(len(arguments)))});")
        print(fold(result, "got"), end="")
        print(f'  printf("f{n} %lx\\n", h);\n  }}')
    print("  }\n  return 0;\n}")


main()
