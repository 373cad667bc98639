#include "everseen/redis/filter/value_merge.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/served/staged_value.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/memory/sibling_union.hpp"

namespace everseen::redis {

namespace {

/// Much longer than a value needs to arrive.
constexpr std::string_view staged_ms = "3600000";

/// @throws  as merge_into_value
void add_staged(server_connections& connections, const filter_identity& f, std::uint32_t partition,
                const std::string& staged) {
  const std::string key = f.keys.state(partition);
  request adding{{key, partition}, encode({"EVERSEEN.MERGE", key, staged}), 1, true};
  adding.on_replicas = true;
  const answer a = connections.exchange(std::span(&adding, 1)).front();
  if (!a) throw backend_error(a.error().message);
  const reply& last = a->back();
  constexpr std::string_view full = "FULL ";
  if (last.is_error("FULL") && last.text().size() > full.size())
    throw full_error(std::string(last.text().substr(full.size())));
  if (last.is_error("ERR") && last.text().ends_with("not found")) throw lost_data(staged);
  if (last.is_error()) raise_refusal(f, partition, last);
}

}  // namespace

void merge_into_value(server_connections& connections, const filter_identity& f, std::uint32_t partition,
                      std::span<const sibling_segment> siblings) {
  if (siblings.empty()) return;
  const sibling_union all(f.spec, partition, siblings);
  const announced_filter header = header_of(f, partition, all.state(), random_content());
  const std::string staged = f.keys.staged(partition, random_name(), 0);
  std::vector<std::span<const std::byte>> bits;
  for (const sibling_segment& s : all.segments()) bits.push_back(s.bits);
  write_value(connections, f, staged, header, bits, staged_ms);
  add_staged(connections, f, partition, staged);
  const request removal{{staged, partition}, encode({"UNLINK", staged}), 1, true};
  (void)connections.exchange(std::span(&removal, 1));  // else it expires
}

}  // namespace everseen::redis
