-- Tables: arrays, hashes with integer and string keys, sorting, a tree that the collector frees.
local work = ...

local state = 42
local function random(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % n + 1
end

local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function nodes(t)
  if not t[1] then return 1 end
  return 1 + nodes(t[1]) + nodes(t[2])
end

local sum = 0
for _ = 1, work do
  local sieve, primes = {}, 0
  for i = 2, 8000 do sieve[i] = true end
  for i = 2, 8000 do
    if sieve[i] then
      primes = primes + 1
      for k = i * i, 8000, i do sieve[k] = false end
    end
  end

  local list = {}
  for i = 1, 2000 do list[i] = random(30000) end
  table.sort(list, function(a, b) return a > b end)
  for i = 2, #list do sum = sum + (list[i - 1] - list[i]) * (i % 3) end

  local count, names = {}, {}
  for i = 1, 500 do names[i] = "name" .. i end
  for _ = 1, 10000 do
    local name = names[random(500)]
    count[name] = (count[name] or 0) + 1
  end
  for i = 1, 500 do sum = sum + (count[names[i]] or 0) * i end

  sum = sum + primes + nodes(tree(11))
end
return sum
