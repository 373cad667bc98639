#include "everseen/redis/served/remote_partition.hpp"

#include <algorithm>
#include <map>

#include "everseen/core/base/digits.hpp"
#include "everseen/redis/keyspace/stored_id.hpp"

namespace everseen::redis {

namespace {

std::uint64_t parse_count(const std::string& key, std::string_view text) {
  const auto value = read_number(text);
  // Scripts compare numbers as texts, so a number in another notation would never match.
  if (!value || text != std::to_string(*value)) throw damaged_key(key, "lacks a valid count");
  return *value;
}

}  // namespace

const slice_state* remote_partition::find(window::slice_index slice) const noexcept {
  const auto found =
      std::find_if(slices.begin(), slices.end(), [&](const auto& s) { return s.index == slice; });
  return found == slices.end() ? nullptr : &*found;
}

std::vector<std::string> first_fields(const filter_identity& f, std::uint32_t partition,
                                      const partition_state& s) {
  std::vector<std::string> fields = {"epoch", "0", "manifest", encode_manifest(f, partition, s)};
  for (const listed_segment& each : segments_of(partition, s.slices))
    fields.insert(fields.end(), {count_field(each.id), std::to_string(each.layer.keys)});
  return fields;
}

remote_partition decode_state(const filter_identity& f, std::uint32_t number, const reply& fields) {
  const std::string key = f.keys.state(number);
  std::map<std::string_view, std::string_view> values;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) values[fields[i].text()] = fields[i + 1].text();
  if (!values.contains("manifest") || !values.contains("epoch")) throw damaged_key(key, "is missing");
  const image::manifest m = decode_manifest(f, number, values["manifest"]);

  remote_partition p;
  p.number = number;
  p.epoch = parse_count(key, values["epoch"]);
  if (values.contains("successor")) p.successor = id_in(values["successor"], key);
  for (const image::manifest::entry& entry : m.segments) {
    if (p.slices.empty() || p.slices.back().index != entry.id.slice) p.slices.push_back({entry.id.slice, {}});
    p.slices.back().layers.push_back(
        {entry.shape, entry.capacity, parse_count(key, values[count_field(entry.id)])});
  }
  return p;
}

}  // namespace everseen::redis
