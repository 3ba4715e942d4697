-- The language: values, control flow, functions, closures, metatables, coroutines, errors, goto,
-- attributes, integers and floats.
local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  print(table.concat(t, " "))
end

-- Arithmetic of both number types
for _, pair in ipairs { { 7, 2 }, { -7, 2 }, { 7, -2 }, { 7.5, 2 }, { -7.5, 2 }, { 1 << 62, 3 } } do
  local a, b = pair[1], pair[2]
  show(a + b, a - b, a * b, a / b, a // b, a % b, a ^ 2, -a)
end
show(math.maxinteger + 1 == math.mininteger, math.mininteger // -1, math.mininteger % -1, 5 // 0.0, -5 % math.huge)
show(1 << 63, 1 << 64, -1 >> 1, ~0, 5 & 3, 5 | 3, 5 ~ 3, "10" + 5, "0x10" * 2, 10 .. 20)
show(1 == 1.0, "1" == 1, 2 ^ 53 == 2 ^ 53 + 1, math.type(1), math.type(1.0), math.type("1"))
show(pcall(function() return 1 // 0 end))
show(pcall(function() return 1 < "2" end))
show(pcall(function() return {} .. "x" end))
show(tostring(1e15), tostring(1e100), 0.1, -0.0, 1e300 * 1e10, 2 ^ 63, math.tointeger(3.0), 3 | 0)

-- Control flow
local out = {}
for i = 10, 1, -3 do out[#out + 1] = i end
for i = 1.0, 2.0, 0.25 do out[#out + 1] = i end
local i = 0
while true do
  i = i + 1
  if i % 2 == 0 then goto continue end
  if i > 9 then break end
  out[#out + 1] = i
  ::continue::
end
repeat local last = i; i = i - 1 until last < 8
show(table.concat(out, ","), i)

-- Closures share variables; varargs; multiple results; tail calls
local function counter()
  local n = 0
  return function() n = n + 1 return n end, function() return n end
end
local up, get = counter()
up() up()
show(get(), select("#", nil, nil), select(-1, 1, 2, 3), (function(...) return ... end)(1, 2))
local function count(n, acc) if n == 0 then return acc end return count(n - 1, acc + n) end
show(count(20000, 0))
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
show(fib(18))
show(pcall(function() local function deep(n) return 1 + deep(n + 1) end return deep(1) end))

-- Metatables: every event
local V = {}
V.__index = V
V.__add = function(a, b) return setmetatable({ x = a.x + b.x }, V) end
V.__eq = function(a, b) return a.x == b.x end
V.__lt = function(a, b) return a.x < b.x end
V.__le = function(a, b) return a.x <= b.x end
V.__len = function(a) return a.x end
V.__call = function(self, y) return self.x * y end
V.__concat = function(a, b) return "V" .. (type(a) == "table" and a.x or a) .. (type(b) == "table" and b.x or b) end
V.__tostring = function(a) return "V(" .. a.x .. ")" end
V.__unm = function(a) return setmetatable({ x = -a.x }, V) end
V.__name = "Vector"
for _, event in ipairs { "sub", "mul", "div", "mod", "pow", "idiv", "band", "bor", "bxor", "shl", "shr" } do
  V["__" .. event] = function(a, b) return event end
end
local function v(x) return setmetatable({ x = x }, V) end
local a, b = v(3), v(4)
show(a + b, a == b, a == v(3), a < b, a <= b, a > b, #a, a(5), a .. b, a .. "s", "s" .. a, -a)
show(a - b, a * b, a / b, a % b, a ^ b, a // b, a & b, a | b, a ~ b, a << b, a >> b)
local proxy = setmetatable({}, { __index = function(_, k) return k .. "!" end, __newindex = function(t, k, x) rawset(t, k, x * 2) end })
proxy.a = 21
show(proxy.a, proxy.b, rawget(proxy, "b"), rawlen { 1, 2 }, rawequal(a, a))
local ordered = setmetatable({}, { __pairs = function() local n = 0 return function() n = n + 1 if n < 4 then return n, n * n end end end })
for k, x in pairs(ordered) do io.write(k, "=", x, " ") end
print()
-- Inheritance
local Base = {} Base.__index = Base
function Base.new(class, name) return setmetatable({ name = name }, class) end
function Base:hello() return "hello " .. self.name end
local Derived = setmetatable({}, { __index = Base }) Derived.__index = Derived
function Derived:hello() return Base.hello(self):upper() end
show(Base:new("a"):hello(), Derived:new("b"):hello())

-- Coroutines
local gen = coroutine.wrap(function(...)
  local got = ...
  for j = 1, 3 do got = coroutine.yield(j, got) end
  return "done"
end)
show(gen("first")) show(gen("second")) show(gen("third")) show(gen("fourth")) show(pcall(gen))
local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() print("closed") end }) coroutine.yield(1) end)
show(coroutine.resume(co), coroutine.status(co), coroutine.close(co), coroutine.status(co))
co = coroutine.create(function() error { code = 7 } end)
local ok, err = coroutine.resume(co)
show(ok, err.code, coroutine.isyieldable(), coroutine.running() ~= nil)
local function permutations(t, n)
  n = n or #t
  if n == 1 then coroutine.yield(table.concat(t)) return end
  for j = 1, n do
    t[j], t[n] = t[n], t[j]
    permutations(t, n - 1)
    t[j], t[n] = t[n], t[j]
  end
end
local all = {}
for p in coroutine.wrap(function() permutations { "a", "b", "c", "d" } end) do all[#all + 1] = p end
show(#all, all[1], all[24])
-- Yields across pcall, metamethods, iterators and sort's refusal
co = coroutine.wrap(function()
  show(pcall(function() coroutine.yield("in pcall") error("after") end))
  local m = setmetatable({}, { __add = function(x, y) return coroutine.yield("in add") end })
  show(m + 1)
  for x in function(_, n) if not n then return coroutine.yield("in for") end end do show(x) end
  show(pcall(table.sort, { 3, 2, 1 }, function(x, y) coroutine.yield("in sort") end))
  return "end"
end)
show(co()) show(co()) show(co("sum")) show(co("step"))
-- From C functions
co = coroutine.wrap(function() return host.pause(1, 2) end)
show(co()) show(co("x", "y"))

-- Errors, nested; to-be-closed variables; error in a handler
show(pcall(error)) show(pcall(error, nil)) show(pcall(error, "text", 0)) show(select("#", pcall(error, setmetatable({}, V))))
show(xpcall(function() local x = nil; return x.field end, function(m) return "handled: " .. m end))
show(xpcall(function(...) return select("#", ...) end, print, 1, 2, 3))
show(pcall(host.fail, "it", 3, 0.5))
show(pcall(host.fail, "it", "three", 0.5))
show(pcall(string.rep)) show(pcall(setmetatable, 1, 2)) show(pcall(ipairs))
local trail = {}
local function closing(name) return setmetatable({}, { __close = function(_, e) trail[#trail + 1] = name .. ":" .. tostring(e) end }) end
show(pcall(function()
  local one <close> = closing "one"
  local two <close> = closing "two"
  do local three <close> = closing "three" end
  error("thrown", 0)
end))
show(table.concat(trail, " "))
show(pcall(function() local k <const> = 5; return load("local k <const> = 1; k = 2")() end))
for _, depth in ipairs { 1, 10, 150 } do
  local f = function() error("from depth " .. depth, 0) end
  for _ = 1, depth do local inner = f; f = function() local good, e = pcall(inner); error(e, 0) end end
  show(pcall(f))
end

-- load, dump, environments, syntax errors
show(load("return 1 +")) show(load("x ="))  show(load("goto nowhere")) show(load("for")) show(load("'unfinished"))
show(load("return ...", "chunk", "t", {})(5))
local dumped = string.dump(function(x) return x * 2 end)
show(load(dumped, "d", "b")(21), load(dumped, "d", "t"))
local env = { print = print }
load("y = 5; z = y * 2", "env", "t", env)()
show(env.y, env.z, rawget(_G, "y"))
local pieces = { "return ", "1", " + 2" }
show(load(function() return table.remove(pieces, 1) end)())
show(#"\z
      a\x41\u{20AC}\065\n", [[
long]], [==[with ]] inside]==])

-- Garbage: weak tables, finalisers, both collectors
for _, mode in ipairs { "incremental", "generational", "incremental" } do
  collectgarbage(mode)
  local weak = setmetatable({}, { __mode = "v" })
  local keys = setmetatable({}, { __mode = "k" })
  local finalised = 0
  for j = 1, 200 do
    weak[j] = { j }
    keys[{ j }] = j
    setmetatable({}, { __gc = function() finalised = finalised + 1 end })
  end
  local kept = { 1 }
  weak.kept = kept
  collectgarbage() collectgarbage()
  local n = 0
  for _ in pairs(weak) do n = n + 1 end
  show(mode, n, next(keys), finalised, weak.kept == kept)
end
show(host.counted(function()
  local x = 1
  x = x + 1
  return x
end))
show(table.concat(host.sorted { 5, -3, 9, 0, 2, 8, -7 }, " "))
show(pcall(host.sorted, { 1, {}, 3 }))
