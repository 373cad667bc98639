#include "everseen/redis/leased_partition.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "everseen/redis/fence.hpp"
#include "everseen/redis/gear.hpp"
#include "everseen/redis/lease.hpp"
#include "everseen/redis/lease_scripts.hpp"
#include "everseen/redis/partition_task.hpp"
#include "everseen/redis/refusal.hpp"

namespace everseen::redis {

namespace {

/// A server works on nothing else while it takes a page.
constexpr std::size_t page_bytes = std::size_t{1} << 20;
/// Changes are looked for in pieces of this size.
constexpr std::size_t piece_bytes = std::size_t{1} << 14;

std::string_view text_of(const std::byte* at, std::size_t length) noexcept {
  return {reinterpret_cast<const char*>(at), length};
}

}  // namespace

void local_segments::create(const segment_id& id, const geometry& shape, std::uint64_t capacity) {
  if (shape.bytes > max_string_bytes)
    throw full_error(
        "the filter cannot grow further: a Redis string ends at 512 MiB; create one with more partitions");
  memory_segments::create(id, shape, capacity);
}

leased_partition::leased_partition(const remote_filter& f, std::string owner, local_segments& place,
                                   remote_partition now)
    : filter_(f), owner_(std::move(owner)), place_(place), there_(std::move(now)) {
  for (const auto& [id, layer] : segments_of(there_.number, there_.slices)) {
    place_.create(id, layer.shape, layer.capacity);
    copies_[id].resize(layer.shape.bytes);
  }
  here_ = std::make_unique<partition>(filter_.spec, there_.number, place_, partition_state{there_.slices});
}

leased_partition::~leased_partition() {
  place_.drop_before(there_.number, std::numeric_limits<window::slice_index>::max());
}

std::string leased_partition::key_of(const segment_id& id) const {
  return filter_.keys.segment(filter_.generation, id);
}

std::vector<request> leased_partition::reads() const {
  std::vector<request> all;
  for (const auto& [id, copy] : copies_)
    for (std::size_t at = 0; at < copy.size(); at += page_bytes) {
      const std::size_t end = std::min(copy.size(), at + page_bytes);
      all.push_back({{key_of(id), there_.number},
                     encode({"GETRANGE", key_of(id), std::to_string(at), std::to_string(end - 1)}),
                     1,
                     true});
    }
  return all;
}

void leased_partition::take_pages(std::span<const answer> pages) {
  std::size_t next = 0;
  for (auto& [id, copy] : copies_) {
    for (std::size_t at = 0; at < copy.size(); at += page_bytes) {
      const answer& page = pages[next++];
      if (!page) throw backend_error(page.error().message);
      const std::string_view text = page->back().text();
      if (page->back().is_error() && !page->back().is_error("WRONGTYPE"))
        throw backend_error(refused_command(key_of(id), text));
      if (page->back().is_error() || text.size() != std::min(page_bytes, copy.size() - at))
        throw damaged_key(key_of(id), "is missing, or has another type or length");
      std::memcpy(copy.data() + at, text.data(), text.size());
    }
    std::memcpy(place_.at(id), copy.data(), copy.size());
  }
}

batch_result leased_partition::add(const partition_batch& batch) {
  return here_->add(batch);
}

request leased_partition::call(const script& s, std::span<const std::string> keys,
                               std::span<const std::string_view> arguments) const {
  // By its text, which is small beside a page: so no server can have lost it.
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words = {"EVAL", s.text, count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {{keys.front(), there_.number}, encode(words), 1, true};
}

/// @param length  of a segment that is not there yet, its whole length: then its end is written in any case
void leased_partition::add_writes(const segment_id& id, std::uint64_t length,
                                  std::vector<request>& to) const {
  const std::byte* const now = place_.at(id);
  const auto copy = copies_.find(id);
  const bool is_new = copy == copies_.end();
  static const bytes zeros(piece_bytes);
  const auto changed = [&](std::size_t at) {
    const std::size_t end = std::min<std::size_t>(length, at + piece_bytes);
    if (is_new && end == length) return true;
    return std::memcmp(now + at, is_new ? zeros.data() : copy->second.data() + at, end - at) != 0;
  };
  const std::array keys = {filter_.keys.state(filter_.generation, there_.number), key_of(id)};
  const std::string epoch = std::to_string(there_.epoch);
  const std::string life = std::to_string(lease_life.count());
  const std::string published_length = is_new ? "" : std::to_string(length);
  for (std::size_t from = 0; from < length; from += page_bytes) {
    const std::size_t limit = std::min<std::size_t>(length, from + page_bytes);
    std::size_t begin = from;
    while (begin < limit && !changed(begin)) begin += piece_bytes;
    if (begin >= limit) continue;
    std::size_t end = limit;
    for (std::size_t last = (limit - 1) / piece_bytes * piece_bytes; last > begin && !changed(last);
         last -= piece_bytes)
      end = last;
    const std::string offset = std::to_string(begin);
    const std::array<std::string_view, 7> arguments = {epoch,
                                                       owner_,
                                                       life,
                                                       published_length,
                                                       offset,
                                                       text_of(now + begin, end - begin),
                                                       unpublished_life_ms};
    to.push_back(call(scripts::write_page(), keys, arguments));
  }
}

std::vector<request> leased_partition::writes() const {
  std::vector<request> all;
  for (const auto& [id, layer] : segments_of(there_.number, here_->state().slices))
    add_writes(id, layer.shape.bytes, all);
  return all;
}

bool leased_partition::has_other_segments() const {
  const auto here = segments_of(there_.number, here_->state().slices);
  return here.size() != copies_.size() ||
         std::ranges::any_of(here, [&](const auto& s) { return !copies_.contains(s.id); });
}

request leased_partition::settle() const {
  const bool other = has_other_segments();
  const std::uint64_t next_epoch = there_.epoch + (other ? 1 : 0);
  const remote_partition next{there_.number, next_epoch, here_->state().slices};
  const auto here = segments_of(there_.number, next.slices);
  std::vector<std::string> keys = {filter_.keys.state(filter_.generation, there_.number),
                                   filter_.keys.fence(filter_.generation, there_.number)};
  std::vector<std::string> lengths;
  std::vector<std::string> counts;
  std::vector<std::string> forgotten;
  for (const auto& [id, layer] : here) {
    if (!copies_.contains(id)) {
      keys.push_back(key_of(id));
      lengths.push_back(std::to_string(layer.shape.bytes));
    }
    counts.push_back(count_field(id));
    counts.push_back(std::to_string(layer.keys));
  }
  for (const auto& [id, copy] : copies_)
    if (std::ranges::none_of(here, [&](const auto& s) { return s.id == id; })) {
      keys.push_back(key_of(id));
      forgotten.push_back(count_field(id));
    }
  std::vector<std::string> arguments = {std::to_string(there_.epoch),
                                        owner_,
                                        std::to_string(lease_life.count()),
                                        std::to_string(next_epoch),
                                        other ? encode_state(filter_, next) : "",
                                        fence::bytes_of(next_epoch),
                                        std::to_string(lengths.size()),
                                        std::to_string(counts.size() / 2)};
  for (const auto* more : {&lengths, &counts, &forgotten})
    arguments.insert(arguments.end(), more->begin(), more->end());
  return call(scripts::write_counts(), keys,
              std::vector<std::string_view>(arguments.begin(), arguments.end()));
}

void leased_partition::settled() {
  there_.epoch += has_other_segments() ? 1 : 0;
  there_.slices = here_->state().slices;
  std::map<segment_id, bytes> copies;
  for (const auto& [id, layer] : segments_of(there_.number, there_.slices)) {
    bytes& copy = copies[id] = std::move(copies_[id]);
    copy.resize(layer.shape.bytes);
    std::memcpy(copy.data(), place_.at(id), copy.size());
  }
  copies_ = std::move(copies);
}

request leased_partition::release() const {
  const std::string key = filter_.keys.state(filter_.generation, there_.number);
  const std::string_view owner = owner_;
  return call(scripts::release(), std::span(&key, 1), std::span(&owner, 1));
}

}  // namespace everseen::redis
