-- A short job as scripts have it: calls, tables, strings, sorting, closures, some 20 ms in all.
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local words = {}
for i = 1, 8000 do
  words[i] = string.format("%s-%d", string.char(97 + i * 7 % 26), i * 7919 % 10007)
end
table.sort(words)

local count = {}
for _, word in ipairs(words) do
  local letter, number = word:match("^(%a)-(%d+)$")
  count[letter] = (count[letter] or 0) + tonumber(number)
end

local parts = {}
for letter, sum in pairs(count) do parts[#parts + 1] = letter .. "=" .. sum end
table.sort(parts, function(a, b) return a > b end)

local x, steps = 0.5, 0
for i = 1, 200000 do
  x = 3.9 * x * (1 - x)
  if x > 0.5 then steps = steps + 1 end
end

print(fib(24), table.concat(parts, " "):len(), steps)
