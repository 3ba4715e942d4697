-- Strings: patterns, formatting, joining, bytes.
local work = ...
local words = {}
for word in ([[it is a truth universally acknowledged that a thread in possession of a good core
must be in want of a memory however little known the feelings or views of such a thread may be on its
first entering a program]]):gmatch("%a+") do words[#words + 1] = word end

local sum = 0
for round = 1, work do
  local parts = {}
  for i = 1, 400 do
    parts[i] = string.format("%s-%d:%5.2f", words[(i * round) % #words + 1], i, i / 7)
  end
  local text = table.concat(parts, ", ")
  for word, number in text:gmatch("(%a+)%-(%d+)") do sum = sum + #word * tonumber(number) end
  local changed, times = text:gsub("%a+", function(w) return #w > 4 and w:upper() or nil end)
  sum = sum + times
  for i = 1, #changed, 3 do sum = (sum * 31 + changed:byte(i)) % 1000000007 end
  sum = sum + #changed:reverse():rep(2, "/") + (changed:find("PROGRAM", 1, true) or 0)
  for field in (changed .. ","):gmatch("([^,]*),") do
    sum = sum + #(field:match("^%s*(.-)%s*$"))
  end
end
return sum
