-- Calls: recursion, closures, methods with inheritance, protected calls.
local work = ...

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function counter(step)
  local n = 0
  return function(by)
    n = n + step * by
    return n
  end
end

local Shape = {}
Shape.__index = Shape
function Shape.new(class, width)
  return setmetatable({ width = width }, class)
end
function Shape:area() return self.width * self.width end
function Shape:grow(by) self.width = (self.width + by) % 1000 return self end
local Box = setmetatable({}, { __index = Shape })
Box.__index = Box
function Box:area() return 2 * Shape.area(self) end

local sum = 0
for round = 1, work do
  sum = sum + fib(20)
  local count = counter(round)
  for i = 1, 5000 do sum = sum + count(i) % 7 end
  local shapes = { Shape.new(Shape, round), Shape.new(Box, round + 1) }
  for i = 1, 5000 do sum = sum + shapes[i % 2 + 1]:grow(i):area() end
  for i = 1, 500 do
    local ok, why = pcall(function(n) if n % 5 == 0 then error(n, 0) end return n end, i)
    sum = sum + (ok and 1 or 2) * why
  end
end
return sum
