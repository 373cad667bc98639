#include "everseen/redis/served/module_gear.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

using kind = meaning::kind;

/// Of `D<slice>.<layer>`.
std::optional<segment_id> segment_in(std::string_view said, std::uint32_t partition) {
  segment_id id{.partition = partition};
  const char* const end = said.data() + said.size();
  const auto slice = std::from_chars(said.data() + 1, end, id.slice);
  if (slice.ec != std::errc{} || slice.ptr == end || *slice.ptr != '.') return {};
  const auto layer = std::from_chars(slice.ptr + 1, end, id.layer);
  if (layer.ec != std::errc{} || layer.ptr != end) return {};
  return id;
}

}  // namespace

std::string_view module_gear::packed(std::span<const digest> digests) noexcept {
  static_assert(std::endian::native == std::endian::little && sizeof(digest) == 16);
  const auto bytes = std::as_bytes(digests);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string module_gear::offsets(const judging& q) {
  std::string bytes;
  bytes.reserve(q.slices.size());
  for (const window::slice_index slice : q.slices) bytes += static_cast<char>(slice - q.slice);
  return bytes;
}

bool are_verdicts(std::string_view said) noexcept {
  unsigned char highest = 0;  // without a way out of the loop, it goes by vectors
  for (const char c : said) highest = std::max(highest, static_cast<unsigned char>(c - '0'));
  return highest <= 3;
}

request module_gear::judge(const judging& q) {
  const std::string state = filter_.keys.state(q.partition);
  const std::string epoch = std::to_string(q.epoch);
  const std::string slice = std::to_string(q.slice);
  if (!q.adding)
    return {
        {state, q.partition}, encode({"EVERSEEN.CHECK", state, epoch, slice, packed(q.digests)}), 1, true};
  const std::string token = filter_.keys.token(q.partition, client_);
  const std::string life = std::to_string(keeps_answers_.count());
  const std::string behind = offsets(q);
  std::vector<std::string_view> words = {"EVERSEEN.ADD", state,      token, epoch,
                                         slice,          q.sequence, life,  packed(q.digests)};
  if (!behind.empty()) words.push_back(behind);
  return {{state, q.partition}, encode(words), 1, repetition(keeps_answers_)};
}

meaning module_gear::judged(const judging& q, const answer& a) {
  if (!a) return {kind::lost, a.error().message};
  const reply& r = a->back();
  const std::string state = filter_.keys.state(q.partition);
  // A command is denied as one that the user may not run; anything else is a key.
  if (r.is_error("NOPERM") && r.text().find(" to run the ") == std::string_view::npos)
    return {kind::denied, "the Redis server of " + state + " does not let its user use the filter's keys (" +
                              std::string(r.text()) + "); allow them, as by ~everseen:* in its ACL"};
  if (r.is_error("NOPERM"))
    return {kind::denied, "the Redis server of " + state +
                              " does not let its user call the everseen module (" + std::string(r.text()) +
                              "); allow EVERSEEN.ADD, EVERSEEN.CHECK and EVERSEEN.CLAIM, "
                              "or open the filter with gear=script"};
  if (is_denial(r) || r.is_error("ERR wrong number of arguments"))  // it is an older one meanwhile
    return {kind::denied, "the Redis server of " + state +
                              " does not have the everseen module any more, by "
                              "which this filter was opened. Load it again, or open the filter "
                              "again, which then goes by scripts"};
  if (r.is_error()) return {kind::refused, std::string(r.text())};
  const std::string_view said = r.text();
  if (said == "S") return {kind::stale};
  if (said == "M") return {.what = kind::gone, .text = "is missing", .key = state};
  if (said.starts_with('C'))
    return {.what = kind::damaged, .text = std::string(said.substr(1)), .key = state};
  if (said.starts_with('D'))
    if (const auto id = segment_in(said, q.partition))
      return {.what = kind::damaged,
              .text = "is missing, or has another type or length",
              .key = filter_.keys.segment(*id)};
  if (r.what() != reply::kind::string || !are_verdicts(said))
    return {kind::refused,
            "the module answered '" + std::string(said.substr(0, 20)) + "', which are no verdicts"};
  return {kind::done, std::string(said)};
}

std::string module_question() {
  return encode({"COMMAND", "INFO", "EVERSEEN.ADD"});
}

bool says_module(const reply& r) noexcept {
  constexpr std::size_t arity = 1;  // behind the name; below zero: there may be more words, as for slices
  return r.size() == 1 && r[0].size() > arity && r[0][arity].integer() < 0;
}

}  // namespace everseen::redis
