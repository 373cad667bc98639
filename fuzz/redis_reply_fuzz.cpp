// Any replies of a server, in any pieces: no crash, memory within the limits, and the same replies for every
// way of splitting the bytes. The parsers of replies (redirections, the map of a cluster) must not crash on
// any of them.
//
// Decodes: everseen/redis/wire/reply.cpp, everseen/redis/wire/refusal.cpp,
// everseen/redis/wire/slot_map.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/wire/refusal.hpp"
#include "everseen/redis/wire/reply.hpp"
#include "everseen/redis/wire/slot_map.hpp"

namespace {

using namespace everseen::redis;

constexpr reply_limits limits{.bytes = 1 << 16, .elements = 1 << 10};

void write(const reply& r, std::string& to) {
  to += std::to_string(static_cast<int>(r.what())) + ":" + std::to_string(r.integer()) + ":";
  to.append(r.text()).append(" ");
  for (std::size_t i = 0; i < r.size(); ++i) write(r[i], to);
}

void understand(const reply& r) {
  const endpoint asked{"h", 1};
  if (const auto refused = refusal_of(r, asked)) {
    if (!r.is_error() || refused->slot >= slot_map::slots) std::abort();
  }
  if (forbids_scripts(r) && (!is_denial(r) || scripts_needed("k").empty())) std::abort();
  if (refused_command("k", r.text()).empty() || without_arguments(r.text()).size() > r.text().size())
    std::abort();
  auto map = slot_map::from_reply(r, asked);
  if (!map) return;
  if (map->masters().empty()) std::abort();
  const std::string_view key = r[0][2][0].text();
  const slot_number slot = slot_of(key);
  map->assign(slot, asked);
  if (*map->owner(slot) != asked) std::abort();
  if (!key.empty() && slot_of("{" + tag_of_slot(key) + "}x") != slot) std::abort();
}

/// All replies as text, and whether there was an error.
std::string read_all(std::string_view bytes, std::size_t piece) {
  reply_reader reader(limits);
  std::string all;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    reader.feed(bytes.substr(0, piece));
    for (;;) {
      const auto next = reader.next();
      if (!next) return all + "error";
      if (!*next) break;
      write(**next, all);
      understand(**next);
    }
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size == 0 || size > limits.bytes) return 0;
  const std::string whole = read_all(bytes, size);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}})
    if (read_all(bytes, piece) != whole) std::abort();
  return 0;
}
