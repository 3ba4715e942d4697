-- Longer work: n-queens, sieve, matrix, n-body, string building, a tokenizer and an expression parser.
local function queens(n)
  local solutions, cols, d1, d2 = 0, {}, {}, {}
  local function place(row)
    if row > n then solutions = solutions + 1 return end
    for c = 1, n do
      if not cols[c] and not d1[row + c] and not d2[row - c + n] then
        cols[c], d1[row + c], d2[row - c + n] = true, true, true
        place(row + 1)
        cols[c], d1[row + c], d2[row - c + n] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end
print("queens", queens(6))

local sieve, primes = {}, 0
for i = 2, 5000 do
  if not sieve[i] then
    primes = primes + 1
    for j = i * i, 5000, i do sieve[j] = true end
  end
end
print("primes", primes)

local function matrix(n, f)
  local m = {}
  for i = 1, n do m[i] = {} for j = 1, n do m[i][j] = f(i, j) end end
  return m
end
local n = 16
local a, b = matrix(n, function(i, j) return i + j / 10 end), matrix(n, function(i, j) return i - j / 7 end)
local c = matrix(n, function(i, j)
  local s = 0.0
  for k = 1, n do s = s + a[i][k] * b[k][j] end
  return s
end)
print("matrix", ("%.12g %.12g"):format(c[1][1], c[n][n]))

local bodies = { { 0, 0, 0, 0, 39.47 }, { 4.84, -1.16, 0.6, 2.8, 0.037 }, { 8.34, 4.12, -1.01, 1.82, 0.011 } }
for _ = 1, 200 do
  for i, p in ipairs(bodies) do
    for j = i + 1, #bodies do
      local q = bodies[j]
      local dx, dy = p[1] - q[1], p[2] - q[2]
      local d2 = dx * dx + dy * dy + 0.01
      local mag = 0.001 / (d2 * d2 ^ 0.5)
      p[3], p[4] = p[3] - dx * q[5] * mag, p[4] - dy * q[5] * mag
      q[3], q[4] = q[3] + dx * p[5] * mag, q[4] + dy * p[5] * mag
    end
  end
  for _, p in ipairs(bodies) do p[1], p[2] = p[1] + 0.001 * p[3], p[2] + 0.001 * p[4] end
end
for _, p in ipairs(bodies) do print("body", ("%.9f %.9f"):format(p[1], p[2])) end

local function parse(text)
  local at = 1
  local expression
  local function token(pattern)
    local from, to, what = text:find("^%s*(" .. pattern .. ")", at)
    if from then at = to + 1 return what end
  end
  local function atom()
    if token("%(") then
      local value = expression()
      if not token("%)") then error("unbalanced at " .. at, 0) end
      return value
    elseif token("%-") then
      return -atom()
    end
    return tonumber(token("%d+%.?%d*")) or error("no number at " .. at, 0)
  end
  local function chain(next, operators)
    return function()
      local value = next()
      while true do
        local op = token(operators)
        if not op then return value end
        local other = next()
        if op == "+" then value = value + other elseif op == "-" then value = value - other
        elseif op == "*" then value = value * other else value = value / other end
      end
    end
  end
  expression = chain(chain(atom, "[*/]"), "[+-]")
  local value = expression()
  if at <= #text then error("trailing text at " .. at, 0) end
  return value
end
for _, text in ipairs { "1 + 2 * 3", "(1 + 2) * 3", "10 / 4 - -2", "2 * (3 + ", "4 4", "((((7))))" } do
  print(text, pcall(parse, text))
end
local rope = {}
for i = 1, 400 do rope[#rope + 1] = ("%03d:%s"):format(i, ("abcdefghij"):sub(i % 10 + 1)) end
local text = table.concat(rope, ",")
local check = 0
for i = 1, #text do check = (check * 31 + text:byte(i)) % 4294967296 end
print("text", #text, check, select(2, text:gsub("a", "")))
