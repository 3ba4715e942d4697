"""gdb for programs with NxP code (docs/debugging.md).

Shows the NxP's functions in backtraces, lets the faults of FLICK_TRIGGER=fault pass, and adds the
commands `info flick` and `flick-nxp`. Works on live processes and on core files. Everything is read
from memory: `__flick_debugger` (crates/libflick/runtime/src/reports/debugger.rs) and the tables of each
module (crates/abi/src/layout.rs).
"""

import atexit
import bisect
import os
import re
import struct
import tempfile

import gdb
from gdb.FrameDecorator import FrameDecorator
from gdb.FrameIterator import FrameIterator
from gdb.unwinder import Unwinder, register_unwinder

RA, SP, FP, A0 = 1, 2, 8, 10
UNWIND_BY_FP, UNWIND_UNKNOWN = 1, 2
REGISTERS = (
    "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 "
    "s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
).split()
LONGEST_BACKTRACE = 10000
MOST_RUNTIME_FRAMES = 32
MOST_TRIES = 64
MAGIC = b"FLKMOD1\0"
# The names are in the order of the numbers in machine code.
HOST_REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
# Registers of the NxP that may stay in a host register from a translation's entry on.
HOMES = {RA: "r11", FP: "rbx", 9: "r12", 18: "r13", 19: "r14"}
# Arguments, at the entry only.
ARGUMENTS = {A0: "rdi", 11: "rsi", 12: "rdx", 13: "rcx", 14: "r8", 15: "r9"}


def read(address, size):
    """Bytes of the process, or None."""
    try:
        return gdb.selected_inferior().read_memory(address, size).tobytes()
    except (gdb.MemoryError, OverflowError):
        return None


def word(address):
    data = read(address, 8)
    return struct.unpack("<Q", data)[0] if data else None


def register(frame, name):
    return int(frame.read_register(name)) % 2**64


class Module:
    """The tables of one module's image."""

    LAYOUT = struct.Struct("<8s2I20Q")
    # The field `translation`, of modules that are so large.
    TRANSLATION, SIZE_WITH_TRANSLATION = 240, 248
    TRANSLATION_LAYOUT = struct.Struct("<2I11Q")
    # The table of leaves, in records that are so large.
    LEAVES, SIZE_WITH_LEAVES = 112, 128
    GATE_SIZE = 64

    def __init__(self, address):
        fields = self.LAYOUT.unpack(read(address, self.LAYOUT.size))
        if fields[0] != MAGIC:
            raise ValueError("not a module record")
        (self.image, self.image_size, _, _) = fields[3:7]
        (funcs, func_count, lines, line_count, self.strings, self.strings_size) = fields[7:13]
        self.gates = fields[13:15]
        (inlined, inlined_count, unwind, unwind_count) = fields[19:23]
        self.functions = self.table(funcs, func_count, "<IIII")
        self.lines = self.table(lines, line_count, "<IIII")
        self.inlined = self.table(inlined, inlined_count, "<IIII")
        self.unwind = self.table(unwind, unwind_count, "<IihhI")
        self.text = read(self.strings, self.strings_size) or b""
        self.starts = {
            id(table): [row[0] for row in table]
            for table in (self.functions, self.lines, self.unwind)
        }
        self.code, self.pieces, self.states, self.leaves = (0, 0), [], (0, 0), set()
        if fields[2] >= self.SIZE_WITH_TRANSLATION:
            self.read_translation(word(address + self.TRANSLATION))

    def read_translation(self, address):
        """The code that the link has made of the image."""
        data = read(address, self.TRANSLATION_LAYOUT.size) if address else None
        if data is None:
            return
        (code, code_size, pieces, count, *self.states) = self.TRANSLATION_LAYOUT.unpack(data)[3:9]
        self.code = (code, code + code_size)
        self.pieces = self.table(pieces, count, "<5I")
        self.starts[id(self.pieces)] = [piece[1] for piece in self.pieces]
        if self.TRANSLATION_LAYOUT.unpack(data)[1] >= self.SIZE_WITH_LEAVES:
            leaves, count = word(address + self.LEAVES), word(address + self.LEAVES + 8)
            self.leaves = {leaf for (leaf,) in self.table(leaves, count, "<I")}

    def leaf_gate(self, pc, r11):
        """The gate by which the host has called the leaf with the code at `pc`, without a crossing, if
        it has. The leaf leaves r11 as the gate has set it."""
        found = self.piece_at(pc)
        start, end = self.gates
        if found is None or found[0][0] not in self.leaves or not start <= r11 < end:
            return None
        is_gate = (r11 - start) % self.GATE_SIZE == 0
        return r11 if is_gate and word(r11 + 8) == self.image + found[0][0] else None

    def piece_at(self, pc):
        """The record of the translated code at `pc` and the number of the next; or None."""
        if not self.code[0] <= pc < self.code[1]:
            return None
        at = bisect.bisect_right(self.starts[id(self.pieces)], pc - self.code[0])
        piece = self.pieces[at - 1] if at else None
        return (piece, at) if piece and pc < self.code[0] + piece[1] + piece[2] else None

    def translation_at(self, pc):
        """The piece of translated code at `pc`: (start, end, guest, table's bytes)."""
        found = self.piece_at(pc)
        if found is None:
            return None
        (guest, code, size, states, _), at = found
        end = self.pieces[at][3] if at < len(self.pieces) else self.states[1]
        start = self.code[0] + code
        table = read(self.states[0] + states, end - states) or b""
        return (start, start + size, self.image + guest, table)

    @staticmethod
    def table(address, count, layout):
        row = struct.Struct(layout)
        data = read(address, row.size * count) if count else b""
        return list(row.iter_unpack(data or b""))

    def string(self, at):
        end = self.text.find(b"\0", at)
        return self.text[at:end].decode("utf-8", "replace")

    def row(self, table, offset):
        """The last row that starts at or below `offset`."""
        at = bisect.bisect_right(self.starts[id(table)], offset)
        return table[at - 1] if at else None

    def describe(self, pc):
        """(function, file, line, inlined) of the code at `pc`, innermost first."""
        offset = pc - self.image
        function = self.row(self.functions, offset)
        row = self.row(self.lines, offset)
        file, line, call = (row[1], row[2], row[3]) if row else (0, 0, 0)
        places = []
        while 0 < call <= len(self.inlined):
            name, at_file, at_line, parent = self.inlined[call - 1]
            places.append((self.string(name), self.string(file), line, True))
            file, line = at_file, at_line
            call = min(parent, call - 1)
        name = self.string(function[2]) if function else "??"
        places.append((name, self.string(file), line, False))
        return places


def is_behind_call(pc):
    """Whether the translated code in front of `pc` is a call: its function has its frame."""
    before = read(pc - 6, 6) or bytes(6)
    return before.endswith((b"\x41\xff\xd2", b"\x41\xff\x52\x08")) or before[1] == 0xE8 or before[:2] == b"\xff\x15"


class Runtime:
    """`__flick_debugger` of a process."""

    LAYOUT = struct.Struct("<26Q")
    # Of version 4, behind it: the program's copy of the fast path; of version 5, one word more.
    NEAR = struct.Struct("<4Q")
    # Of version 6, behind that: the crossings of the backend card.
    CARD = struct.Struct("<4Q")
    # Of version 7, behind that: what there is to know of the card.
    HARTS = struct.Struct("<9Q")
    cache = {}

    @classmethod
    def find(cls):
        """None where the process has no Flick runtime, or it has not started."""
        try:
            # The frame may be of another language, which has another syntax.
            command = "with language c -- output/d (unsigned long)&__flick_debugger"
            # A warning about the language may come first.
            address = int(re.findall(r"^\d+", gdb.execute(command, to_string=True), re.M)[-1])
        except (gdb.error, IndexError):
            return None
        data = read(address, cls.LAYOUT.size)
        if data is None:
            return None
        fields = cls.LAYOUT.unpack(data)
        if fields[0] not in (2, 3, 4, 5, 6, 7):
            return None
        near = read(address + cls.LAYOUT.size, cls.NEAR.size) if fields[0] >= 4 else None
        near = cls.NEAR.unpack(near) if near else (0, 0, 0, 0)
        card = None
        if fields[0] >= 6:
            card = read(address + cls.LAYOUT.size + cls.NEAR.size, cls.CARD.size)
        card = cls.CARD.unpack(card) if card else ()
        harts = None
        if fields[0] >= 7:
            harts = read(address + cls.LAYOUT.size + cls.NEAR.size + cls.CARD.size, cls.HARTS.size)
        harts = cls.HARTS.unpack(harts) if harts else (0,) * 9
        return cls(fields, near if fields[0] >= 5 else (*near[:3], 0), card, harts)

    def __init__(self, fields, near, card, harts):
        (_, head, trigger, self.size, self.gate, self.in_host, self.pc, self.sentinel) = fields[:8]
        self.fault = trigger == 1
        self.crossings = [fields[8:10], fields[10:12], fields[12:14], near[:2], card[:2], card[2:]]
        self.crossings = [crossing for crossing in self.crossings if crossing]
        self.engine = fields[14:16]
        self.code = fields[16:18]
        (self.states, self.hart_bias, self.host_saved) = fields[18:21]
        # Where host functions come back to translated code, whose frames are below.
        self.called_by_translated = fields[21:22] if fields[0] >= 3 else ()
        # The same for calls with a signature.
        self.called_by_signature = ()
        if fields[0] >= 4:
            self.crossings.append(fields[22:24])
            self.called_by_signature = tuple(at for at in (fields[24], near[3]) if at)
            self.called_by_translated += (*self.called_by_signature, *(at for at in near[2:3] if at))
            # Where an activation has the stack pointer of translated code that waits for such a call.
            self.waits = fields[25]
        # Where host functions come back to crossings of the card, which may have such frames.
        self.called_on_card = tuple(at for at in harts[:2] if at)
        self.card = Card(harts[2:]) if harts[3] else None
        self.modules = []
        node = head
        while node and len(self.modules) < 1000:
            record, node = word(node), word(node + 8)
            if not record:
                break
            module = self.module(record)
            if module:
                self.modules.append(module)

    def module(self, record):
        # A library may be unloaded and another loaded in its place: its identity is in the key.
        key = (record, read(record, Module.LAYOUT.size))
        if key[1] is None:
            return None
        if key not in self.cache:
            if len(self.cache) > 100:
                self.cache.clear()
            try:
                self.cache[key] = Module(record)
            except (ValueError, TypeError, struct.error):
                return None
        return self.cache[key]

    def module_of(self, address):
        for module in self.modules:
            if module.image <= address < module.image + module.image_size:
                return module
        return None

    def crossing_at(self, pc):
        """Where the crossing with the code at `pc` starts, or None."""
        return next((start for start, end in self.crossings if start <= pc < end), None)

    def is_crossing(self, pc):
        return self.crossing_at(pc) is not None

    def is_translated(self, pc):
        ranges = [self.code] + [module.code for module in self.modules]
        return any(start <= pc < end for start, end in ranges)

    def has_frames(self, pc):
        """Whether the code at `pc` is translated code with unwind information for each frame: the
        link made it."""
        return any(module.code[0] <= pc < module.code[1] for module in self.modules)

    def is_called_by_translated(self, frame):
        """Whether the crossing in this frame waits for the host above frames of translated code."""
        pc = frame.pc()
        if pc in self.called_by_translated:
            return True
        if pc not in self.called_on_card:
            return False
        return word(register(frame, "rbp") - self.size + self.waits) not in (None, 0)

    def activation(self, frame, translated=None):
        """The activation of a crossing's frame. `translated` is the frame of translated code that
        the crossing has entered."""
        activation = Activation(self, register(frame, "rbp") - self.size)
        if translated is not None and not activation.in_host:
            activation.find_registers(translated)
        return activation

    def outermost(self, pc, rsp, hart):
        """Where the translation at `pc` starts, if its frame is the outermost of the hart's."""
        for module in self.modules:
            found = module.piece_at(pc)
            if found:
                piece, _ = found
                # The frame is not there yet, or no more; or it is.
                whole = rsp + 8 + piece[4] == hart and (
                    is_behind_call(pc) or not self.is_translated(word(rsp) or 0))
                return module.code[0] + piece[1] if rsp + 8 == hart or whole else None
        return None

    def leaf_gate(self, frame):
        """The gate by which the host has called the leaf in this frame, without a crossing; or None."""
        pc = register(frame, "rip")
        if not self.has_frames(pc):
            return None
        try:
            r11 = register(frame, "r11")
        except (gdb.error, ValueError):
            return None
        gates = (module.leaf_gate(pc, r11) for module in self.modules)
        return next((gate for gate in gates if gate), None)

    def translation_at(self, pc):
        """The translation with code at `pc`: (start, end, guest, table's bytes, first byte of the
        image from which the table's guest addresses count)."""
        for module in self.modules:
            found = module.translation_at(pc)
            if found:
                return (*found, module.image)
        low, high = 0, min(word(self.states) or 0, 1 << 16)
        entry = struct.Struct("<5Q")
        first = self.states + 8
        while low < high:
            middle = (low + high) // 2
            if (word(first + middle * entry.size) or 0) <= pc:
                low = middle + 1
            else:
                high = middle
        data = read(first + (low - 1) * entry.size, entry.size) if low else None
        if data is None:
            return None
        start, end, guest, table, size = entry.unpack(data)
        return (start, end, guest, read(table, size) or b"", 0) if start <= pc < end else None


class Card:
    """On which harts of a card the threads' code runs (crates/libflick/runtime/src/crossing/card)."""

    # Of a loan: the hart. Of an activation's word: the tile, and that it was chosen.
    HART_SHIFT, HART_MASK = 16, 0xFFFF
    TILE_SHIFT, TILE_MASK, CHOSEN = 57, 0xF, 1 << 6

    def __init__(self, fields):
        (self.of_backend, self.owners, self.owner_size) = fields[:3]
        self.tiles = self.names(*fields[3:5])
        self.harts = self.names(*fields[5:7])

    @staticmethod
    def names(at, count):
        """C strings by their number."""
        names = []
        for number in range(min(count, 1 << 16)):
            name = word(at + 8 * number)
            names.append(gdb.Value(name).cast(gdb.lookup_type("char").pointer()).string() if name else "")
        return names

    def hart(self, thread):
        """The name of the hart that executes code of a thread; None: there is none."""
        for number in range(1024):
            data = read(self.owners + number * self.owner_size, 16)
            if data is None:
                return None
            owner, loan = struct.unpack("<2Q", data)
            if owner == thread:
                hart = loan >> self.HART_SHIFT & self.HART_MASK
                return self.harts[hart] if loan and hart < len(self.harts) else None
        return None

    def tile(self, activation):
        """The name of the tile on which an activation runs."""
        place = (word(activation + self.of_backend) or 0) >> self.TILE_SHIFT
        tile = place & self.TILE_MASK
        return self.tiles[tile] if place & self.CHOSEN and tile < len(self.tiles) else None

    def place(self, thread, activation, is_innermost):
        """Where an activation of a thread runs, for people."""
        tile = self.tile(activation.address)
        if tile is None:
            return ""
        if not is_innermost or activation.in_host:
            return ", tile %s" % tile
        hart = self.hart(thread)
        return ", on %s" % hart if hart else ", tile %s, without a hart" % tile


class States:
    """Where a translation has the NxP's registers (crates/translator/src/state.rs)."""

    def __init__(self, table, base):
        self.table = table
        self.base = base
        self.at = 0

    def number(self):
        value = shift = 0
        while self.at < len(self.table):
            byte = self.table[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        return value

    def signed(self):
        value = self.number()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

    def around(self, offset):
        """The records at or before `offset` of the code, and after it, as (offset, pc, places).
        Either may be None."""
        before = None
        code, pc = 0, self.base
        while self.at < len(self.table):
            code += self.number()
            pc = (pc + self.signed()) % 2**64
            record = (code, pc, [self.place() for _ in range(self.number())])
            if code > offset:
                return before, record
            before = record
        return before, None

    def place(self):
        """(register, sign-extended, constant, scale, operands): see `value`."""
        head = self.number()
        kind = head >> 9
        constant = scale = 0
        if kind == 3:
            scale = self.number()
        if kind == 4:
            constant = self.base + self.number()
        elif kind:
            constant = self.signed()
        count = (1, 0, 1, 2, 0)[min(kind, 4)]
        operands = [self.number() for _ in range(count)]
        return head & 63, head & 64 != 0, constant, scale, operands

    @staticmethod
    def value(place, host):
        """The contents of an integer register; None: memory cannot be read."""
        _, extended, value, scale, operands = place
        for number, operand in enumerate(operands):
            if operand < 16:
                contents = host[HOST_REGISTERS[operand]]
            else:
                contents = word(host["rsp"] + 8 * (operand - 16))
            if contents is None:
                return None
            value += contents << (scale if number == 1 else 0)
        if extended:
            value = (value & 2**32 - 1 ^ 2**31) - 2**31
        return value % 2**64


class Activation:
    """One call from the host: the registers of the NxP."""

    def __init__(self, runtime, address):
        self.runtime = runtime
        self.address = address
        data = read(address, 32 * 8)
        self.stored = struct.unpack("<32Q", data) if data else (0,) * 32
        self.x = self.stored
        self.exact = self.complete = True
        self.pc = word(address + runtime.pc) or 0
        in_host = read(address + runtime.in_host, 1)
        self.in_host = in_host == b"\1"

    def gate(self):
        return word(self.address + self.runtime.gate)

    def gate_name(self):
        gate = self.gate()
        image = word(gate + 8) if gate else None
        module = self.runtime.module_of(image or 0)
        return module.describe(image)[-1][0] if module else "?"

    def find_registers(self, frame):
        """Finds the NxP's registers where translated code was interrupted.

        The translation's table has their places at each instruction that may fault. Elsewhere the
        records around the place are tried, and the places that registers have at the entry. The
        first with which the stack's frames agree is taken.
        """
        pc = frame.pc()
        found = self.runtime.translation_at(pc)
        if found is None:
            return
        start, _, guest, table, base = found
        host = {name: register(frame, name) for name in HOST_REGISTERS}
        before, after = States(table, base).around(pc - start)
        self.exact = before is not None and before[0] == pc - start
        if self.exact:
            # Dead registers are in no record. While they are saved on the stack, the unwind
            # information may still take them from the register.
            self.take(before[1], self.placed(before, host, HOMES))
            return
        records = [record for record in (before, after) if record]
        registers = [self.placed(record, host, HOMES) for record in records]
        registers.append(self.placed(None, host, {**HOMES, **ARGUMENTS}))
        pcs = [record[1] for record in records]
        if before is None:
            pcs.insert(0, guest)
        # An early return has the frame of the function's start.
        pcs += self.changes(pcs) + [guest]
        for x in registers:
            for at in pcs:
                self.take(at, x)
                list(self.frames())
                if self.complete:
                    return
        self.take(pcs[0], registers[0])

    def changes(self, pcs):
        """Addresses between the least and the greatest of `pcs` at which rows of unwind information
        begin."""
        module = self.runtime.module_of(pcs[0])
        if module is None or self.runtime.module_of(pcs[-1]) is not module:
            return []
        low, high = min(pcs) - module.image, max(pcs) - module.image
        starts = module.starts[id(module.unwind)]
        first, last = bisect.bisect_right(starts, low), bisect.bisect_right(starts, high)
        return [module.image + start for start in starts[first:last][:MOST_TRIES]]

    def placed(self, record, host, homes):
        """x0 to x31 as a record says, others as they are at home or in the hart."""
        x = list(self.stored)
        for number, name in homes.items():
            x[number] = host[name]
        for place in record[2] if record else ():
            if place[0] < 32:
                value = States.value(place, host)
                if value is not None:
                    x[place[0]] = value
        x[0], x[SP] = 0, host["r15"]
        return tuple(x)

    def take(self, pc, x):
        self.pc, self.x = pc, x

    def frames(self):
        """Program counters of the NxP's frames, innermost first; those of callers are in the call.

        Sets `complete` when they lead to the end of the activation.
        """
        self.complete = False
        sp, ra, fp = self.x[SP], self.x[RA], self.x[FP]
        runtime = self.runtime
        if self.in_host:
            if ra == runtime.sentinel:
                self.complete = True
                return
            pc = ra - 1
        else:
            pc = self.pc
        for _ in range(LONGEST_BACKTRACE):
            module = runtime.module_of(pc)
            if module is None:
                if pc == ra - 1 or runtime.module_of(ra - 1) is None:
                    return
                pc = ra - 1
                continue
            yield pc
            row = module.row(module.unwind, pc - module.image)
            if row is None or row[4] & UNWIND_UNKNOWN:
                return
            _, cfa, saved_ra, saved_fp, flags = row
            cfa += fp if flags & UNWIND_BY_FP else sp
            next_ra = word(cfa + saved_ra) if saved_ra else ra
            next_fp = word(cfa + saved_fp) if saved_fp else fp
            if next_ra is None or next_fp is None or next_ra == runtime.sentinel:
                self.complete = next_ra == runtime.sentinel
                return
            if cfa < sp or (cfa == sp and next_ra == pc + 1):
                return
            sp, fp, ra, pc = cfa, next_fp, next_ra, next_ra - 1


class LeafActivation(Activation):
    """A leaf that the host has called without a crossing, as if there had been one."""

    def __init__(self, runtime, frame, gate):
        self.runtime = runtime
        self.by_gate = gate
        self.stored = self.x = (0,) * 32
        self.exact = self.complete = True
        self.pc = 0
        self.in_host = False
        self.find_registers(frame)

    def gate(self):
        return self.by_gate

    def placed(self, record, host, homes):
        x = list(super().placed(record, host, homes))
        x[RA], x[SP] = self.runtime.sentinel, 0
        return tuple(x)


class NxpFrame(FrameDecorator):
    """A function of the NxP, at the host frame of its crossing."""

    def __init__(self, base, pc, place):
        super().__init__(base)
        self.pc = pc
        self.name, self.file, self.source_line, self.inlined = place

    def function(self):
        return self.name + (" [NxP, inlined]" if self.inlined else " [NxP]")

    def address(self):
        return self.pc

    def filename(self):
        return self.file or None

    def line(self):
        return self.source_line or None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None

    def elided(self):
        return None


class TranslatedFrame(FrameDecorator):
    """A function of the NxP, or a call in it that was inlined, at its own frame of translated code."""

    def function(self):
        name = super().function()
        if not isinstance(name, str):
            return name
        inlined = self.inferior_frame().type() == gdb.INLINE_FRAME
        return plain_name(name) + (" [NxP, inlined]" if inlined else " [NxP]")


def plain_name(name):
    """A function's name without what says that this is its translation."""
    return re.sub(r"\.nxp$|\[nxp\]$| \[clone \.nxp\]$", "", name)


def places_by_lines(frames):
    """(function, file, line, inlined), innermost first, of the innermost function with one of these
    frames, by the line table of its code. Empty: it has none, or no line here."""
    places = []
    for frame in frames:
        function, sal = frame.function(), frame.find_sal()
        if function is None or sal.symtab is None or not sal.line:
            break
        inlined = frame.type() == gdb.INLINE_FRAME
        places.append((function.name, sal.symtab.filename, sal.line, inlined))
        if not inlined:
            return places
    return []


class FrameFilter:
    """Puts the NxP's functions where their crossing is; leaves the runtime's own frames out."""

    def __init__(self):
        self.name = "flick"
        self.priority = 50
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        runtime = Runtime.find()
        return frames if runtime is None else self.shown(runtime, frames)

    def shown(self, runtime, frames):
        # Frames that are the runtime's if an activation that runs on the NxP is next.
        held, others = [], 0
        for decorated in frames:
            frame = decorated.inferior_frame()
            if runtime.leaf_gate(frame):
                yield from held
                yield TranslatedFrame(decorated)
                held, others = [], 0
                continue
            if not runtime.is_crossing(frame.pc()):
                held.append(decorated)
                is_inlined = frame.type() == gdb.INLINE_FRAME
                others += not is_inlined and not runtime.is_translated(frame.pc())
                # A signal handler is not the runtime's, and neither are many frames.
                many = others > MOST_RUNTIME_FRAMES
                if frame.type() == gdb.SIGTRAMP_FRAME or many:
                    yield from held
                    held, others = [], 0
                continue
            if runtime.is_called_by_translated(frame):
                yield from held
                held, others = [], 0
                continue
            inner = (decorated.inferior_frame() for decorated in held)
            translated = [frame for frame in inner if runtime.is_translated(frame.pc())]
            # The innermost with registers of its own.
            physical = [frame for frame in translated if frame.type() != gdb.INLINE_FRAME]
            activation = runtime.activation(frame, physical[0] if physical else None)
            # Frames that gdb knows by itself.
            own = [frame for frame in translated if runtime.has_frames(frame.pc())]
            if own:
                for inner in held:
                    if inner.inferior_frame() in own:
                        yield TranslatedFrame(inner)
                held = []
            known_frames = sum(frame.type() != gdb.INLINE_FRAME for frame in own)
            places = []
            for number, pc in enumerate(activation.frames()):
                if number < known_frames:
                    continue
                # Where the innermost pc is not exact, gdb itself knows its line.
                known = [] if number or activation.exact else places_by_lines(translated)
                for place in known or runtime.module_of(pc).describe(pc):
                    places.append((pc, place))
            if not own and (activation.in_host or not places):
                yield from held
            held, others = [], 0
            for pc, place in places:
                yield NxpFrame(decorated, pc, place)
            if not (places or own):
                # A crossing that has just begun or is about to end.
                yield decorated
        yield from held


class FrameId:
    """The identity by which gdb knows a frame."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class RuntimeUnwinder(Unwinder):
    """Looks for the runtime, which may ask for frames."""

    def __init__(self, name):
        super().__init__(name)
        self.busy = False

    def find_runtime(self):
        self.busy = True
        try:
            return Runtime.find()
        finally:
            self.busy = False


# Registers that a crossing keeps for its caller, in the order of the runtime's record.
KEPT = struct.Struct("<5Q")
KEPT_NAMES = ("rbx", "r12", "r13", "r14", "r15")


def is_host_code(pc):
    """Whether the code at `pc` has lines and no symbol of translated code (`NAME.nxp`). A name that
    gdb demangles ends otherwise: `NAME[nxp]`, `NAME [clone .nxp]`."""
    if not gdb.current_progspace().find_pc_line(pc).symtab:
        return False
    symbol = gdb.execute("info symbol %d" % pc, to_string=True)
    return re.search(r"[.\[]nxp\b", symbol) is None


class TranslatedUnwinder(RuntimeUnwinder):
    """From translated code to the crossing that called it.

    Code that is made at run time has the frames of all NxP functions there. Code that the link made
    has unwind information for each frame, and this unwinder serves the outermost alone.

    The crossing's stack pointer there is the activation. This unwinder does not say that rbp is the
    hart's, so that the activation is found from rbp in all of a crossing's frames.
    """

    def __init__(self):
        super().__init__("flick-translated")
        # By process: to look for the runtime at each frame would take long.
        self.runtimes = {}
        gdb.events.clear_objfiles.connect(lambda _event: self.runtimes.clear())
        # Its list of modules grows.
        gdb.events.new_objfile.connect(lambda _event: self.runtimes.clear())

    def runtime(self, pc):
        inferior = gdb.selected_inferior()
        key = (inferior.num, inferior.pid)
        if key in self.runtimes:
            return self.runtimes[key]
        if is_host_code(pc):
            return None
        runtime = self.find_runtime()
        if runtime is not None:
            self.runtimes[key] = runtime
        return runtime

    def __call__(self, frame):
        if self.busy:
            return None
        pc = register(frame, "rip")
        runtime = self.runtime(pc)
        if runtime is None or not runtime.is_translated(pc):
            return None
        if runtime.leaf_gate(frame):
            return None
        hart = register(frame, "rbp") - runtime.hart_bias
        start = runtime.code[0]
        if runtime.has_frames(pc):
            start = runtime.outermost(pc, register(frame, "rsp"), hart)
            if start is None:
                return None
        back = word(hart - 8)
        kept = read(hart + runtime.host_saved, KEPT.size)
        if back is None or kept is None:
            return None
        found = frame.create_unwind_info(FrameId(gdb.Value(hart), gdb.Value(start)))
        for name, value in (("rip", back), ("rsp", hart), ("rbp", hart + runtime.size)):
            found.add_saved_register(name, gdb.Value(value))
        for name, value in zip(KEPT_NAMES, KEPT.unpack(kept)):
            found.add_saved_register(name, gdb.Value(value))
        return found


class CrossingUnwinder(RuntimeUnwinder):
    """From a crossing that waits for the host to the gate's caller.

    The crossing's unwind information leads through the NxP's frames. gdb takes a stack that goes to
    other memory and back for a corrupted stack. So this unwinder skips these frames, and
    FrameFilter shows them.
    """

    # The instruction after a crossing's call of the host is lea -SIZE(%rbp), to %rdi or to %rbp.
    CALLED = (b"\x48\x8d\xbd", b"\x48\x8d\xad")

    def __init__(self):
        super().__init__("flick")

    def __call__(self, frame):
        pc = int(frame.read_register("rip")) % 2**64
        if self.busy or read(pc, 3) not in self.CALLED:
            return None
        runtime = self.find_runtime()
        start = runtime.crossing_at(pc) if runtime else None
        rbp = int(frame.read_register("rbp")) % 2**64
        if start is not None and pc in runtime.called_by_translated + runtime.called_on_card:
            activation = rbp - runtime.size
            # Above the arguments of the call, if it has some on the stack.
            at = word(activation + runtime.waits)
            if pc not in runtime.called_by_signature + runtime.called_on_card:
                at = register(frame, "rsp") + 8
            if at:
                return self.to_translated(frame, at, activation + runtime.hart_bias)
        saved = read(rbp, 16)
        if start is None or saved is None:
            return None
        kept = read(rbp - runtime.size + runtime.host_saved, KEPT.size)
        if kept is None:
            return None
        caller_rbp, caller_pc = struct.unpack("<2Q", saved)
        found = frame.create_unwind_info(FrameId(gdb.Value(rbp + 16), gdb.Value(start)))
        for name, value in (("rip", caller_pc), ("rsp", rbp + 16), ("rbp", caller_rbp)):
            found.add_saved_register(name, gdb.Value(value))
        for name, value in zip(KEPT_NAMES, KEPT.unpack(kept)):
            found.add_saved_register(name, gdb.Value(value))
        return found


    @staticmethod
    def to_translated(frame, at, hart):
        """From the crossing's call of the host to the translated code that it was called by, whose
        return address is at `at`."""
        found = frame.create_unwind_info(FrameId(gdb.Value(at + 8), frame.read_register("rip")))
        for name, value in (("rip", word(at)), ("rsp", at + 8), ("rbp", hart)):
            found.add_saved_register(name, gdb.Value(value))
        for name in KEPT_NAMES:
            found.add_saved_register(name, frame.read_register(name))
        return found


class RealFault(gdb.Function):
    """$_flick_real_fault(): 0 for a fault that only migrates the thread, else 1."""

    def __init__(self):
        super().__init__("_flick_real_fault")

    def invoke(self):
        runtime = Runtime.find()
        if runtime is None:
            return 1
        pc = gdb.newest_frame().pc()
        module = runtime.module_of(pc)
        if module is None:
            return 1
        # Only the first instruction of a function is an entry. A jump to another instruction is the
        # program's own fault.
        starts = module.starts[id(module.functions)]
        at = bisect.bisect_left(starts, pc - module.image)
        return 0 if at < len(starts) and starts[at] == pc - module.image else 1


class Migration:
    """With FLICK_TRIGGER=fault, lets the SIGSEGVs that migrate pass and stops at the others."""

    decided = False

    @classmethod
    def at_load(cls):
        setting = gdb.execute("show environment FLICK_TRIGGER", to_string=True)
        if setting.strip().endswith("= fault"):
            cls.install()

    @classmethod
    def at_stop(cls, _event):
        """For a process that was started elsewhere, or an environment that was set later."""
        runtime = None if cls.decided else Runtime.find()
        if runtime is not None:
            cls.decided = True
            if runtime.fault:
                cls.install()

    @classmethod
    def install(cls):
        cls.decided = True
        gdb.execute("handle SIGSEGV nostop noprint pass", to_string=True)
        gdb.execute("catch signal SIGSEGV", to_string=True)
        number = int(gdb.parse_and_eval("$bpnum"))
        gdb.execute("condition %d $_flick_real_fault()" % number, to_string=True)


class Gates:
    """Tells gdb where gates lead, for `step`, if their code was made at run time.

    gdb takes a gate for a C++ thunk, whose symbol has the name of the function's code. It looks for this
    name in the gate's file, and before that in files of debug information that belong to it. So the names
    get such a file.
    """

    # The file of each module's gates, by the addresses of its code; None: gdb finds the names itself.
    told = {}
    files = []
    NAME = re.compile(r"\b__flick_code_[^\s+]+")
    # ELF's numbers.
    HEADER, ROW = struct.Struct("<16s2HI3QI6H"), struct.Struct("<2I4Q2I2Q")
    RELOCATABLE, X86_64 = 1, 62
    SYMBOLS, STRINGS, NOBITS, ALLOC = 2, 3, 8, 2
    ABSOLUTE, GLOBAL_FUNCTION = 0xFFF1, 0x12

    @classmethod
    def at_stop(cls, _event):
        runtime = Runtime.find()
        for module in runtime.modules if runtime else ():
            key = (module.image, module.code)
            # A library that was closed has taken its names along.
            if not module.pieces or key in cls.told and (cls.told[key] is None or cls.told[key].is_valid()):
                continue
            where = gdb.execute("info symbol %d" % (module.code[0] + module.pieces[0][1]), to_string=True)
            cls.told[key] = cls.tell(module) if "<in-memory@" in where else None

    @classmethod
    def tell(cls, module):
        """Returns the file of the module's gates; None: it is not to be found."""
        path = gdb.solib_name(module.gates[0]) or gdb.current_progspace().filename
        owners = [objfile for objfile in gdb.objfiles() if objfile.is_valid() and objfile.filename == path]
        names = cls.names(module)
        if not owners or not names:
            return None
        try:
            sections = cls.sections(path)
        except (OSError, struct.error, IndexError):
            return None
        with tempfile.NamedTemporaryFile(prefix="flick-gates-", suffix=".o", delete=False) as out:
            out.write(cls.symbols(names, sections))
        if not cls.files:
            atexit.register(cls.remove_files)
        cls.files.append(out.name)
        owners[0].add_separate_debug_file(out.name)
        return owners[0]

    @classmethod
    def names(cls, module):
        """The names of code that symbols of gates have, and its addresses."""
        code = {module.image + guest: module.code[0] + at for guest, at, *_ in module.pieces}
        names = {}
        start, end = module.gates
        for gate in range(start, end, module.GATE_SIZE):
            at = code.get(word(gate + 8))
            entry = word(gate + 16)
            if at is None or not entry:
                continue
            found = cls.NAME.search(gdb.execute("info symbol %d" % entry, to_string=True))
            if found:
                names[found.group()] = at
        return names

    @classmethod
    def sections(cls, path):
        """The names of an ELF file's sections that are in memory."""
        with open(path, "rb") as file:
            head = file.read(64)
            (at,), (size, count, last) = struct.unpack_from("<Q", head, 40), struct.unpack_from("<3H", head, 58)
            file.seek(at)
            rows = [cls.ROW.unpack(file.read(size)) for _ in range(count)]
            file.seek(rows[last][4])
            names = file.read(rows[last][5])
        return [names[row[0] :].split(b"\0", 1)[0] for row in rows if row[2] & cls.ALLOC]

    @classmethod
    def symbols(cls, names, sections):
        """An ELF file with these names, and with the sections that gdb expects in it, which are empty."""
        row, record = cls.ROW, struct.Struct("<IBBH2Q")
        strings, symbols, rows = b"\0", record.pack(*[0] * 6), row.pack(*[0] * 10)
        for name in sections:
            rows += row.pack(len(strings), cls.NOBITS, cls.ALLOC, 0, 0, 0, 0, 0, 1, 0)
            strings += name + b"\0"
        for name, at in names.items():
            symbols += record.pack(len(strings), cls.GLOBAL_FUNCTION, 0, cls.ABSOLUTE, at, 0)
            strings += name.encode() + b"\0"
        table = len(sections) + 2
        begin = cls.HEADER.size
        behind = begin + len(symbols)
        rows += row.pack(0, cls.SYMBOLS, 0, 0, begin, len(symbols), table, 1, 8, record.size)
        rows += row.pack(0, cls.STRINGS, 0, 0, behind, len(strings), 0, 0, 1, 0)
        head = cls.HEADER.pack(b"\x7fELF\2\1\1", cls.RELOCATABLE, cls.X86_64, 1, 0, 0, behind + len(strings),
                               0, begin, 0, 0, row.size, table + 1, table)
        return head + symbols + strings + rows

    @classmethod
    def remove_files(cls):
        for name in cls.files:
            try:
                os.unlink(name)
            except OSError:
                pass


class Place:
    """Where a signal stops NxP code, gdb shows the engine; this shows the NxP's function, too."""

    TRAP = 5

    @classmethod
    def at_stop(cls, event):
        if cls.is_signal(event):
            cls.show()

    # The core file whose place has been shown.
    core = None

    @classmethod
    def at_core(cls):
        """gdb has no event for a core file that is opened; this is called where there may be one."""
        connection = getattr(gdb.selected_inferior(), "connection", None)
        core = connection if connection is not None and connection.type == "core" else None
        if core is not cls.core:
            cls.core = core
            if core is not None:
                cls.show()

    @staticmethod
    def show():
        filters = gdb.frame_filters.get("flick")
        runtime = Runtime.find() if filters and filters.enabled else None
        if runtime is None:
            return
        frames = map(FrameDecorator, FrameIterator(gdb.newest_frame()))
        try:
            first = next(filters.shown(runtime, frames), None)
        except gdb.error:
            return
        if not isinstance(first, NxpFrame):
            return
        at = " at %s:%d" % (first.file, first.source_line) if first.source_line else ""
        print("0x%016x in %s ()%s" % (first.pc, first.function(), at))
        # So that `up` leads to the host's caller; what is below is the engine's.
        first.inferior_frame().select()
        if at:
            try:
                # Not `list FILE:N,N`: where a file is of several units, gdb 13 may take the two
                # lines from two of them, and refuses that.
                gdb.execute("with listsize 1 -- list %s:%d" % (first.file, first.source_line))
            except gdb.error:
                # The source is elsewhere, or of another name.
                pass

    @classmethod
    def is_signal(cls, event):
        """Also where a catchpoint stopped for one; not the end of a step."""
        if isinstance(event, gdb.SignalEvent):
            return True
        if isinstance(event, gdb.BreakpointEvent):
            return False
        try:
            return int(gdb.parse_and_eval("$_siginfo")["si_signo"]) != cls.TRAP
        except gdb.error:
            return False


class InfoFlick(gdb.Command):
    """Say what Flick does in this process: its modules, and the crossings of this thread."""

    def __init__(self):
        super().__init__("info flick", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        runtime = Runtime.find()
        if runtime is None:
            raise gdb.GdbError("No Flick runtime here, or it has not started, or offload is off.")
        print("trigger: %s" % ("fault" if runtime.fault else "gate"))
        for module in runtime.modules:
            end = module.image + module.image_size
            owner = gdb.execute("info symbol %d" % module.image, to_string=True).strip()
            print(
                "image 0x%x-0x%x: %d functions%s"
                % (module.image, end, len(module.functions), source_of(owner))
            )
        activations = crossings(runtime)
        print("crossings of this thread: %d" % len(activations))
        for number, activation in enumerate(activations):
            where = "in a host function" if activation.in_host else "in NxP code"
            place = ""
            if runtime.card:
                place = runtime.card.place(gdb.selected_thread().ptid[1], activation, number == 0)
            print("  %d: gate of %s, %s%s" % (number, activation.gate_name(), where, place))


def source_of(owner):
    # `__flick_guard in section .data.rel.ro of /path/libx.so`; a program's own is not named.
    parts = owner.rsplit(" of ", 1)
    return " in " + parts[1] if len(parts) == 2 else ""


def crossings(runtime):
    """Activations of the selected thread, innermost first."""
    found = []
    try:
        frame = gdb.newest_frame()
    except gdb.error:
        return found
    translated = None
    while frame is not None and len(found) < 1000:
        try:
            gate = runtime.leaf_gate(frame)
            if gate:
                # Calls in it that were inlined have frames, too.
                if frame.type() != gdb.INLINE_FRAME:
                    found.append(LeafActivation(runtime, frame, gate))
            elif runtime.is_translated(frame.pc()):
                # The innermost with registers of its own.
                if translated is None and frame.type() != gdb.INLINE_FRAME:
                    translated = frame
            elif runtime.is_crossing(frame.pc()) and not runtime.is_called_by_translated(frame):
                found.append(runtime.activation(frame, translated))
                translated = None
            frame = frame.older()
        except gdb.error:
            break
    return found


class NxpCommand(gdb.Command):
    """Look at the NxP's side of this thread."""

    def __init__(self):
        super().__init__("flick-nxp", gdb.COMMAND_DATA, prefix=True)


class NxpThreads(gdb.Command):
    """flick-nxp threads: which NxP code each thread executes, and on which hart of a card."""

    def __init__(self):
        super().__init__("flick-nxp threads", gdb.COMMAND_DATA)

    def invoke(self, _argument, _from_tty):
        runtime = Runtime.find()
        if runtime is None:
            raise gdb.GdbError("No Flick runtime here, or it has not started, or offload is off.")
        selected = gdb.selected_thread()
        if selected is None:
            raise gdb.GdbError("No thread is selected.")
        frame = gdb.selected_frame()
        try:
            for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
                thread.switch()
                mark = "*" if thread.num == selected.num else " "
                print("%s %-3d LWP %-8d %s" % (mark, thread.num, thread.ptid[1], self.text(runtime)))
        finally:
            selected.switch()
            frame.select()

    @staticmethod
    def text(runtime):
        activations = crossings(runtime)
        if not activations:
            return "host code"
        activation = activations[0]
        name = activation.gate_name()
        if activation.in_host:
            text = "host code called by %s [NxP]" % name
        else:
            module = runtime.module_of(activation.pc)
            function, file, line, _ = module.describe(activation.pc)[0] if module else ("?", "", 0, False)
            text = "%s [NxP]%s" % (function, " at %s:%d" % (file, line) if line else "")
        if runtime.card:
            text += runtime.card.place(gdb.selected_thread().ptid[1], activation, True)
        return text


class NxpRegisters(gdb.Command):
    """flick-nxp registers [N]: the NxP's registers in crossing N of this thread (0: the innermost)."""

    def __init__(self):
        super().__init__("flick-nxp registers", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        runtime = Runtime.find()
        activations = crossings(runtime) if runtime else []
        number = int(gdb.parse_and_eval(argument)) if argument.strip() else 0
        if not 0 <= number < len(activations):
            raise gdb.GdbError("This thread has %d crossings." % len(activations))
        activation = activations[number]
        module = runtime.module_of(activation.pc)
        place = ""
        if module:
            name, file, line, _ = module.describe(activation.pc)[0]
            place = "  <%s>%s" % (name, " at %s:%d" % (file, line) if line else "")
        print("%-4s 0x%016x%s" % ("pc", activation.pc, place))
        if not activation.exact:
            print("(between two instructions that may fault: pc is near, registers may be out of date)")
        for name, value in zip(REGISTERS, activation.x):
            print("%-4s 0x%016x  %d" % (name, value, value - 2**64 if value >> 63 else value))


def main():
    if "flick" in gdb.frame_filters:
        return
    FrameFilter()
    register_unwinder(None, CrossingUnwinder(), replace=True)
    register_unwinder(None, TranslatedUnwinder(), replace=True)
    RealFault()
    InfoFlick()
    NxpCommand()
    NxpRegisters()
    NxpThreads()
    # Not at other events: while a program starts, gdb cannot evaluate anything.
    gdb.events.stop.connect(Migration.at_stop)
    gdb.events.stop.connect(Place.at_stop)
    gdb.events.stop.connect(Gates.at_stop)
    gdb.events.before_prompt.connect(Place.at_core)
    Migration.at_load()
    # A core file of the command line is open already.
    Place.at_core()


main()
