-- The standard libraries: string, table, math, utf8, os, io, debug.
local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  print(table.concat(t, " "))
end

-- string
show(("%5d|%-5d|%05d|%+d|%x|%X|%o|%c|%%"):format(42, 42, 42, 42, 255, 255, 8, 65))
show(("%5.2f|%e|%g|%g|%10.3s|%-10s|"):format(3.14159, 12345.678, 1e20, 0.0001, "abcdef", "left"))
show(("%q"):format('a "quoted"\n\0 \200 string'), ("%q"):format(1 / 3), ("%q"):format(math.mininteger), ("%a"):format(0.5))
show(("%i %u"):format(-3, 7), ("%s %s %s"):format(nil, true, 1.5), ("%.20s"):format(("x"):rep(50)), ("%.3f"):format(2 / 3))
show(pcall(string.format, "%d", 1.5)) show(pcall(string.format, "%y", 1)) show(pcall(string.format, "%d"))
show(("hello world"):find("o w"), ("hello"):find("l+"), ("a.b"):find(".", 1, true), ("hello"):find("xyz"), ("abc"):find("b", -1))
show(("key = value"):match("^(%w+)%s*=%s*(%w+)$"), ("2026-01-31"):match("(%d+)-(%d+)-(%d+)"), ("[[x]]"):match("%[(%b[])%]"))
show(("hello world from lua"):gsub("(%w+)", "<%1>"), ("abc"):gsub("", "-"), ("hello"):gsub("l", { l = "L" }), ("abc"):gsub("%w", function(c) return c:byte() .. "," end))
show(("x = $y$"):gsub("%$(%w+)%$", { y = 1 }), ("THE (quick) fox"):find("%((%a+)%)"), ("f(a(b)c)d"):match("%b()"), ("  trim  "):match("^%s*(.-)%s*$") .. "|")
show(("THE (quick) fox"):gsub("%f[%a]%a+", string.lower), pcall(string.gsub, "x", "(", ""), pcall(string.rep, "x", 1 << 40))
for k, w in ("a=1, b=2, c=3"):gmatch("(%w+)=(%w+)") do io.write(k, w, ";") end
print()
show(("abc"):rep(3, "-"), ("abc"):reverse(), ("aBc"):upper(), ("AbC"):lower(), ("abcdef"):sub(-3, -2), #("x"):rep(1000), ("abc"):byte(1, -1))
show(string.pack("<i4 >i2 z s1 d", 100, 200, "zero", "len", 0.5):byte(1, -1))
show(string.unpack("<i4 >i2 z s1 d", string.pack("<i4 >i2 z s1 d", 100, 200, "zero", "len", 0.5)))
show(string.packsize("i4 i8 !8 d"), pcall(string.pack, "i1", 300), string.unpack("<i3", "\255\255\255"), string.unpack("<f", string.pack("<f", 1.25)))
for width = 1, 16 do show(width, string.unpack("<i" .. width, string.pack("<i" .. width, -width))) end

-- table
local t = { 5, 2, 8, 1, 9, 3 }
table.sort(t) show(table.concat(t, " "))
table.sort(t, function(x, y) return x > y end) show(table.concat(t, " "))
table.insert(t, 7) table.insert(t, 1, 0) show(table.remove(t), table.remove(t, 1), table.concat(t, " "), #t)
show(table.unpack({ 1, 2, 3 }, 2), table.pack(1, nil, 3).n, table.concat(table.move({ 1, 2, 3 }, 1, 3, 3), " "), pcall(table.concat, { {} }))
local words = {}
for w in ("the quick brown fox jumps over the lazy dog and runs away from the angry bear"):gmatch("%a+") do words[#words + 1] = w end
table.sort(words, function(x, y) return #x < #y or (#x == #y and x < y) end) show(table.concat(words, " "))
show(pcall(table.sort, { 1, 2, 3, 4, 5, 6, 7, 8 }, function() return true end))
local seed, big = 12345, {}
local function random() seed = (seed * 1103515245 + 12345) % 2147483648 return seed end
for i = 1, 3000 do big[i] = random() end
table.sort(big)
local good = true
for i = 2, #big do good = good and big[i - 1] <= big[i] end
show(good, big[1], big[1500], big[3000])
local hash = {}
for i = 1, 3000 do hash["k" .. i % 700] = (hash["k" .. i % 700] or 0) + i end
for i = 1, 700, 3 do hash["k" .. i] = nil end
local sum, n = 0, 0
for _, x in pairs(hash) do sum, n = sum + x, n + 1 end
show(sum, n, hash.k2, hash.k1, next({}), type(next))

-- math
show(math.floor(-3.5), math.ceil(-3.5), math.abs(-7), math.max(3, 9.5, 2), math.min(3, -1), math.fmod(-7, 3), math.modf(3.7), math.sqrt(2))
for _, f in ipairs { "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "deg", "rad" } do show(f, ("%.14g"):format(math[f](0.5))) end
show(math.log(8, 2), math.log(1000, 10), math.ult(1, -1), math.tointeger("8"), math.pi, math.tointeger(2.5), math.frexp and 1, 7 // 2.0, 2 ^ 0.5)
math.randomseed(42) local r = math.random(100) math.randomseed(42) show(r == math.random(100), math.random(5, 5), pcall(math.random, 2, 1))
show(tonumber("0x1p4"), tonumber("  12  "), tonumber("1e"), tonumber("zz", 36), tonumber("8", 8), tonumber("1e1"), tonumber("0x.8"), tonumber("nan"))

-- utf8
show(utf8.char(72, 228, 8364, 128512), utf8.len("Hä€😀"), utf8.codepoint("Hä€😀", 1, -1), utf8.offset("Hä€😀", 3), utf8.len("\xff"))
for p, c in utf8.codes("aä€") do io.write(p, ":", c, " ") end
print()

-- os, io
show(os.time { year = 2020, month = 2, day = 29, hour = 12 } - os.time { year = 2020, month = 2, day = 28, hour = 12 }, os.date("!%Y-%m-%d %H:%M:%S", 86400), os.date("!*t", 0).year)
show(os.getenv("NO_SUCH_VARIABLE"), type(os.clock()), os.setlocale("C"), os.difftime(5, 3))
local name = os.tmpname()
local f = assert(io.open(name, "w"))
f:write("line one\n", 2, " ", 3.5, "\nthird") f:close()
for line in io.lines(name) do io.write("[", line, "]") end
print()
f = io.open(name) show(f:read("l", "n", "n", "l", "a")) show(f:seek("set", 5), f:read(3), f:seek("cur"), f:seek("end"), f:read("a"), f:read("l")) f:close()
show(pcall(f.read, f)) show(io.type(f), io.type(io.stdout), io.type(5), select(2, io.open("/no/such/file")))
f = io.open(name, "a+") f:setvbuf("full", 1024) f:write("!") f:seek("set") show(#f:read("a")) f:close()
local p = io.popen("echo from a pipe") show(p:read("l")) show(p:close())
show(os.execute("exit 3")) show(os.rename(name, name .. ".2"), os.remove(name .. ".2"), (os.remove(name .. ".2")))

-- debug
local function info() local i = debug.getinfo(1, "nSlu") return i.name, i.what, i.nups, i.nparams, i.currentline > 0 end
show(info())
local secret = 1
local function peek() return secret end
show(debug.getupvalue(peek, 1), debug.setupvalue(peek, 1, 99), peek(), debug.getlocal(peek, 1))
show(#debug.traceback("message", 1) > 10, debug.getmetatable("").__index == string, debug.gethook())
local events = 0
debug.sethook(function(e) events = events + 1 end, "cr") peek() debug.sethook()
show(events > 0)
