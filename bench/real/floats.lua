-- Floating point: the Mandelbrot set and a spectral norm.
local work = ...

local function mandelbrot(size)
  local inside = 0
  for y = 0, size - 1 do
    local ci = 2.0 * y / size - 1.0
    for x = 0, size - 1 do
      local cr = 2.0 * x / size - 1.5
      local zr, zi, steps = 0.0, 0.0, 0
      while steps < 50 and zr * zr + zi * zi < 4.0 do
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        steps = steps + 1
      end
      inside = inside + steps
    end
  end
  return inside
end

local function times(v, n, transposed)
  local to = {}
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do
      local a, b = i, j
      if transposed then a, b = j, i end
      sum = sum + v[j + 1] / ((a + b) * (a + b + 1) // 2 + a + 1)
    end
    to[i + 1] = sum
  end
  return to
end

local sum = 0
for _ = 1, work do
  sum = sum + mandelbrot(48)
  local n, u, v = 40, {}, nil
  for i = 1, n do u[i] = 1.0 end
  for _ = 1, 3 do
    v = times(times(u, n, false), n, true)
    u = times(times(v, n, false), n, true)
  end
  local uv, vv = 0.0, 0.0
  for i = 1, n do uv, vv = uv + u[i] * v[i], vv + v[i] * v[i] end
  sum = sum + math.floor(math.sqrt(uv / vv) * 1e9)
end
return sum
