"""The sums of a trace of a run on a card (docs/records.md, "Trace"): picoseconds of ways and waits, calls by hart,
and the time of code on each hart. Prints a line for each."""

import struct
import sys
from collections import defaultdict

FIRST_HART = 1 << 20
data = open(sys.argv[1], "rb").read()
sums = defaultdict(int)
names, lanes = {}, []


class Events:
    def __init__(self, block):
        self.block, self.at = block, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.block[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        size = self.number()
        self.at += size
        return self.block[self.at - size : self.at].decode()

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def event(self):
        """Its tag and its fields."""
        tag = self.block[self.at]
        self.at += 1
        if tag & 0x7F != 3:
            self.time += self.number()
        kind = tag & 0x7F
        if kind == 3:
            return tag, [self.number(), self.text(), self.text(), self.number()]
        if kind == 1:
            return tag, [self.text()]
        if kind in (4, 5):
            fields = self.numbers(3 if kind == 4 else 1)
            self.numbers(2 * self.number())
            return tag, fields
        if kind == 8:
            fields = self.numbers(2)
            self.numbers(self.number())
            return tag, fields
        if tag == 0x89:  # A state that has a thread.
            return 9, self.numbers(2)[:1]
        return tag, self.numbers({2: 0, 6: 2, 7: 2, 9: 1, 10: 2}[kind])


at, begins = 0, {}
while at < len(data):
    magic, _, kind, _, thread, size = struct.unpack_from("<4s2H3I", data, at)
    assert magic == b"FLKT"
    events = Events(data[at + 20 : at + 20 + size])
    at += 20 + size
    if kind != 2:
        continue
    events.time = events.number()
    while events.at < size:
        tag, fields = events.event()
        if tag == 3:
            names[fields[0]] = fields[1]
        elif tag == 0x84:
            begins[thread] = fields[0]
        elif tag == 6:
            sums["waits"] += fields[0]
        elif tag == 9:
            lanes.append((thread - FIRST_HART, events.time, fields[0]))
        elif tag == 10 and fields[1]:
            sums["to"] += fields[0]
            if thread in begins:
                sums["calls on %d of" % (fields[1] - 1), begins.pop(thread)] += 1
        elif tag == 10:
            sums["from"] += fields[0]
last = {}
# Those of one time are in the order of the file.
for hart, time, state in sorted(lanes, key=lambda lane: lane[:2]):
    if hart in last and names[last[hart][1]] != "no thread's code":
        sums["code on %d" % hart] += time - last[hart][0]
    last[hart] = time, state
for key, value in sums.items():
    print("%s %s %d" % (key[0], names[key[1]], value) if isinstance(key, tuple) else "%s %d" % (key, value))
