#include "everseen/redis/wire/slot_map.hpp"

#include <algorithm>

namespace everseen::redis {

namespace {

/// CRC-16/XMODEM, eight bits at a time.
constexpr std::array<std::uint16_t, 256> crc_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::uint16_t crc16(std::string_view bytes) noexcept {
  std::uint16_t crc = 0;
  for (const char c : bytes)
    crc = static_cast<std::uint16_t>((crc << 8) ^ crc_table[(crc >> 8) ^ static_cast<unsigned char>(c)]);
  return crc;
}

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

/// A node is [host, port, id, ...]; a host of nil, "" or "?" means the server that was asked.
std::optional<endpoint> read_node(const reply& node, const endpoint& asked) {
  if (node.size() < 2) return {};
  const std::int64_t port = node[1].integer();
  if (port < 1 || port > 65535) return {};
  const std::string_view host = node[0].text();
  const bool unknown = host.empty() || host == "?";
  return endpoint{unknown ? asked.host : std::string(host), static_cast<std::uint16_t>(port)};
}

void add_new(std::vector<endpoint>& out, const endpoint& e) {
  if (std::ranges::find(out, e) == out.end()) out.push_back(e);
}

}  // namespace

slot_number slot_of(std::string_view key) noexcept {
  return crc16(hashed_part(key)) % slot_map::slots;
}

std::string tag_of_slot(std::string_view key) {
  const std::string_view part = hashed_part(key);
  if (part.find('}') == std::string_view::npos) return std::string(part);
  const slot_number slot = slot_of(key);
  std::uint64_t number = 0;
  while (slot_of(std::to_string(number)) != slot) ++number;
  return std::to_string(number);
}

slot_map::slot_map() : owner_(slots, nobody) {}

std::optional<slot_map> slot_map::from_reply(const reply& r, const endpoint& asked) {
  slot_map map;
  for (std::size_t i = 0; i < r.size(); ++i)
    if (!map.read_range(r[i], asked)) return {};
  if (map.empty()) return {};
  return map;
}

/// [first slot, last slot, master, replica...]
bool slot_map::read_range(const reply& range, const endpoint& asked) {
  if (range.size() < 3) return false;
  const std::int64_t first = range[0].integer();
  const std::int64_t last = range[1].integer();
  const auto master = read_node(range[2], asked);
  if (first < 0 || first > last || last >= static_cast<std::int64_t>(slots) || !master) return false;
  std::fill(owner_.begin() + first, owner_.begin() + last + 1, index_of(*master));
  for (std::size_t i = 3; i < range.size(); ++i)
    if (const auto replica = read_node(range[i], asked)) add_new(members_, *replica);
  return true;
}

std::uint16_t slot_map::index_of(const endpoint& master) {
  add_new(masters_, master);
  add_new(members_, master);
  return static_cast<std::uint16_t>(std::ranges::find(masters_, master) - masters_.begin());
}

const endpoint* slot_map::owner(slot_number slot) const noexcept {
  const std::uint16_t index = owner_[slot];
  return index == nobody ? nullptr : &masters_[index];
}

void slot_map::assign(slot_number slot, const endpoint& master) {
  owner_[slot] = index_of(master);
}

}  // namespace everseen::redis
