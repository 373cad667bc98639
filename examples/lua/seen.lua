-- Adds keys to a filter that everseen keeps on this server, or checks them. The caller has hashed them.
--   EVAL ... 1 PREFIX:{ID/PARTITION} add|check DIGEST...      a digest: 32 hexadecimal digits, high and low
-- Answers with a character a key: 0 fresh, 1 seen, 3 not added, as the filter is full.

-- Numbers of 64 bits are three of 24, 24 and 16, the lowest first: products of them are exact in a double.
local base, floor, call = 2 ^ 24, math.floor, redis.call

local function number(digits)
  return tonumber(digits:sub(11), 16), tonumber(digits:sub(5, 10), 16), tonumber(digits:sub(1, 4), 16)
end

-- Calls visit() with the positions of a digest's bits among `bits`, until it returns true.
local function positions(digest, bits, probes, visit)
  local x0, x1, x2 = number(digest:sub(1, 16))
  local y0, y1, y2 = number(digest:sub(17))
  local m0, m1 = bits % base, floor(bits / base)
  for _ = 1, probes do
    -- The upper half of x * bits.
    local c1 = x0 * m1 + x1 * m0 + floor(x0 * m0 / base)
    local c2 = x1 * m1 + x2 * m0 + floor(c1 / base)
    if visit(floor(c2 / 65536) + x2 * m1 * 256) then return end
    -- x * 0xD1342543DE82EF95 + y
    local d0 = x0 * 0x82EF95 + y0
    local d1 = x0 * 0x2543DE + x1 * 0x82EF95 + y1 + floor(d0 / base)
    local d2 = x0 * 0xD134 + x1 * 0x2543DE + x2 * 0x82EF95 + y2 + floor(d1 / base)
    x0, x1, x2 = d0 % base, d1 % base, d2 % 65536
  end
end

-- The call.
local function refuse(why) return redis.error_reply('EVERSEEN ' .. why) end
local state, adds = KEYS[1], ARGV[1] == 'add'
if not adds and ARGV[1] ~= 'check' then return refuse('add or check?') end
for i = 2, #ARGV do
  if #ARGV[i] ~= 32 or ARGV[i]:find('%X') then return refuse('a digest has 32 hexadecimal digits') end
end
local manifest, successor = unpack(call('HMGET', state, 'manifest', 'successor'))
if not manifest then return refuse('there is no such filter, or its clients judge') end
if successor then return refuse('the filter was rebuilt; look its name up again') end
if manifest:sub(1, 12) ~= 'EVSNmani\2\0\0\0' then return refuse('another version of everseen made this filter') end
if struct.unpack('<i8', manifest, 97) ~= 0 then return refuse('filters with a window are not for this script') end

local layers, grows = {}, manifest:byte(64) ~= 3
for at = 145, 144 + 40 * struct.unpack('<I4', manifest, 41), 40 do
  local _, layer, _, bytes, capacity, layout, probes = struct.unpack('<I4I4i8I8I8BB', manifest, at)
  local name = state .. ':0.' .. layer
  if layout ~= 1 then return refuse('the layout is not classic: it is for everseen and its module') end
  if call('STRLEN', name) ~= bytes then return refuse(name .. ' is missing or damaged') end
  layers[#layers + 1] = {name = name, bits = bytes * 8, probes = probes, capacity = capacity, field = 'keys:0.' .. layer}
end
local newest, count = layers[#layers], nil
if adds then
  if not newest then return refuse('the filter has no room yet: everseen must add the first key') end
  count = tonumber(call('HGET', state, newest.field) or '')
  if not count then return refuse(newest.field .. ' is missing or damaged') end
  call('HINCRBY', state, newest.field, 0) -- refused here, if at all: before any bit is set
end

local function has(layer, digest)
  local all = true
  positions(digest, layer.bits, layer.probes, function(bit)
    all = call('GETBIT', layer.name, bit) == 1
    return not all
  end)
  return all
end

local function judge(digest)
  for _, layer in ipairs(layers) do
    if has(layer, digest) then return '1' end
  end
  if not adds then return '0' end
  if grows and count >= newest.capacity then return '3' end
  positions(digest, newest.bits, newest.probes, function(bit) call('SETBIT', newest.name, bit, 1) end)
  count = count + 1
  return '0'
end

local answer = {}
for i = 2, #ARGV do answer[i - 1] = judge(ARGV[i]) end
if adds then call('HSET', state, newest.field, string.format('%.0f', count)) end
return table.concat(answer)
