#include "everseen/redis/remote_partition.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace everseen::redis {

namespace {

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t parse_count(const std::string& key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Scripts compare numbers as texts, so one that is written in another way would never be met.
  const bool is_number = code == std::errc{} && end == text.data() + text.size();
  if (!is_number || text != std::to_string(value)) throw damaged_key(key, "lacks a valid count");
  return value;
}

}  // namespace

const slice_state* remote_partition::find(window::slice_index slice) const noexcept {
  const auto found =
      std::find_if(slices.begin(), slices.end(), [&](const auto& s) { return s.index == slice; });
  return found == slices.end() ? nullptr : &*found;
}

std::vector<listed_segment> segments_of(std::uint32_t partition, const std::vector<slice_state>& slices) {
  std::vector<listed_segment> all;
  for (const slice_state& slice : slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer)
      all.push_back({{partition, slice.index, layer}, slice.layers[layer]});
  return all;
}

format_error damaged_key(const std::string& key, const std::string& what) {
  return format_error(
      "the key " + key + " " + what +
      "; it was deleted, evicted or overwritten. Restore the filter from an export, or drop it");
}

reply ask_about(session& with, const route& key, std::initializer_list<std::string_view> words) {
  const request r{key, encode(words), 1, true};
  auto answers = with.exchange(std::span(&r, 1));
  if (!answers.front()) throw backend_error(answers.front().error().message);
  reply& answered = answers.front()->front();
  if (answered.is_error("WRONGTYPE")) throw damaged_key(key.key, "has another type");
  if (answered.is_error())
    throw backend_error("redis at " + to_string(with.server_of(key)) + " refused a command on " + key.key +
                        ": " + std::string(answered.text()));
  return std::move(answered);
}

std::uint64_t random_generation() {
  std::uint64_t generation = 0;
  const image::filter_id random = image::random_filter_id();
  for (std::size_t i = 0; i < 6; ++i) generation = generation << 8 | random[i];
  return generation;
}

std::string to_text(event_time t) {
  return std::to_string(t.time_since_epoch().count());
}

std::string encode_state(const remote_filter& f, const remote_partition& p) {
  image::manifest m;
  m.filter = f.id;
  m.revision = p.epoch;
  m.spec = f.spec;
  m.clean = true;
  for (const slice_state& slice : p.slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer)
      m.segments.push_back(
          {{p.number, slice.index, layer}, slice.layers[layer].shape, slice.layers[layer].capacity});
  return std::string(as_text(image::encode_manifest(m)));
}

std::vector<std::string> first_state(const remote_filter& f) {
  std::vector<std::string> fields = {"epoch", "0", "manifest", encode_state(f, {})};
  if (f.ends_at) fields.insert(fields.end(), {"ends_at", to_text(*f.ends_at)});
  return fields;
}

remote_partition decode_state(const remote_filter& f, std::uint32_t number, const reply& fields) {
  const std::string key = f.keys.state(f.generation, number);
  std::map<std::string_view, std::string_view> values;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) values[fields[i].text()] = fields[i + 1].text();
  if (!values.contains("manifest") || !values.contains("epoch")) throw damaged_key(key, "is missing");

  image::manifest m;
  try {
    m = image::decode_manifest(std::as_bytes(std::span(values["manifest"])));
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
  if (m.filter != f.id) throw damaged_key(key, "belongs to another filter");
  if (m.spec != f.spec) throw damaged_key(key, "was made by another spec");
  const std::string_view named = values["named"];
  if (!named.empty() && named != f.keys.name() && named != f.came_from)
    throw storage_error("the filter '" + f.keys.name() + "' was renamed to '" + std::string(named) +
                            "'; open it by that name",
                        0, key);

  remote_partition p;
  p.number = number;
  p.epoch = parse_count(key, values["epoch"]);
  if (m.revision != p.epoch) throw damaged_key(key, "does not fit its epoch");
  if (!values["end_number"].empty()) p.end_number = parse_count(key, values["end_number"]);
  if (!values["next"].empty()) p.next = parse_count(key, values["next"]);
  p.closed = !values["closed"].empty();
  for (const image::manifest::entry& entry : m.segments) {
    if (entry.id.partition != number) throw damaged_key(key, "names a segment of another partition");
    if (p.slices.empty() || p.slices.back().index != entry.id.slice) p.slices.push_back({entry.id.slice, {}});
    p.slices.back().layers.push_back(
        {entry.shape, entry.capacity, parse_count(key, values[count_field(entry.id)])});
  }
  return p;
}

}  // namespace everseen::redis
