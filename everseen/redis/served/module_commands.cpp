#include <algorithm>
#include <bit>
#include <optional>

#include "everseen/core/base/digits.hpp"
#include "everseen/redis/served/command_set.hpp"
#include "everseen/redis/served/lane_claim.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

using kind = call_result::kind;

/// Parses `D<slice>.<layer>`.
std::optional<segment_id> segment_in(std::string_view said, std::uint32_t partition) {
  const std::size_t dot = said.find('.');
  if (dot == std::string_view::npos) return {};
  const auto slice = read_number<window::slice_index>(said.substr(1, dot - 1));
  const auto layer = read_number<std::uint32_t>(said.substr(dot + 1));
  if (!slice || !layer) return {};
  return segment_id{partition, *slice, *layer};
}

/// Digests are sent as they are in memory.
std::string_view packed(std::span<const digest> digests) noexcept {
  static_assert(std::endian::native == std::endian::little && sizeof(digest) == 16);
  const auto bytes = std::as_bytes(digests);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One byte per key: its slice relative to that of the call; empty: all are of that slice.
std::string offsets_of(const judge_call& q) {
  std::string bytes;
  bytes.reserve(q.slices.size());
  for (const window::slice_index slice : q.slices) bytes += static_cast<char>(slice - q.slice);
  return bytes;
}

bool are_verdicts(std::string_view said) noexcept {
  unsigned char highest = 0;  // no exit from the loop, so that it is vectorised
  for (const char c : said) highest = std::max(highest, static_cast<unsigned char>(c - '0'));
  return highest <= 3;
}

/// The meaning of a server's error.
call_result refusal_in(const reply& r, const std::string& state) {
  const std::string server = "the Redis server of " + state, said(r.text());
  // A denial that names a command is about the command; any other is about a key.
  if (r.is_error("NOPERM") && said.find(" to run the ") == std::string::npos)
    return call_result::failed(server + " does not allow its user the filter's keys (" + said +
                               "); allow them, as by ~everseen:* in its ACL");
  if (r.is_error("NOPERM"))
    return call_result::failed(server + " does not allow its user the commands of the everseen module (" +
                               said +
                               "); allow EVERSEEN.ADD, EVERSEEN.CHECK and EVERSEEN.CLAIM, or open the filter "
                               "with commands=script");
  if (is_denial(r) || r.is_error("ERR wrong number of arguments"))  // it was replaced by an older one
    return call_result::failed(server +
                               " no longer has the everseen module, with which this filter was opened. "
                               "Load it again, or open the filter again, which then uses scripts");
  return call_result::refused(state, r);
}

}  // namespace

request command_set::judge_by_module(const judge_call& q) const {
  const std::string state = filter().keys.state(q.partition);
  const std::string epoch = std::to_string(q.epoch);
  const std::string slice = std::to_string(q.slice);
  const auto call = [&](const std::vector<std::string_view>& words, repetition repeatable) {
    return request{{state, q.partition}, encode(words), 1, repeatable};
  };
  if (!q.adding) return call({"EVERSEEN.CHECK", state, epoch, slice, packed(q.digests)}, true);
  const std::string offsets = offsets_of(q);
  if (q.claim != nullptr) {
    lane_claim& claim = *q.claim;
    const std::string records = partition_keys::lane_records(state, claim.job());
    const lane_claim::link at = claim.first_link();
    const std::string forgotten = std::to_string(at.forgotten_bytes);
    const std::string positions = claim.positions(q);
    const std::string each = std::to_string(claim.counts_per_event());
    const lane_claim::counting counts = claim.counts(q);
    std::vector<std::string_view> words = {
        "EVERSEEN.CLAIM",  state,   records,   claim.job(), claim.lane(), at.head, forgotten, epoch, slice,
        packed(q.digests), offsets, positions, each,        counts.places};
    words.insert(words.end(), counts.names.begin(), counts.names.end());
    return call(words, true);
  }
  const std::string token = filter().keys.token(q.partition, client_);
  const std::string life = std::to_string(keeps_answers_.count());
  std::vector<std::string_view> words = {"EVERSEEN.ADD", state,      token, epoch,
                                         slice,          q.sequence, life,  packed(q.digests)};
  if (!offsets.empty()) words.push_back(offsets);
  return call(words, repetition(keeps_answers_));
}

call_result command_set::judged_by_module(const judge_call& q, const answer& a) const {
  if (!a) return call_result::failed(a.error().message);
  const reply& r = a->back();
  const std::string state = filter().keys.state(q.partition);
  if (r.is_error()) return refusal_in(r, state);
  const std::string_view said = r.text();
  if (said == "S") return {kind::stale};
  if (q.claim != nullptr && said == "P") return {kind::claimed};
  if (q.claim != nullptr && said == "J") return {kind::ended};
  if (said == "M") return call_result::gone(state);
  if (said.starts_with('C')) return call_result::damaged(state, std::string(said.substr(1)));
  if (said.starts_with('D'))
    if (const auto id = segment_in(said, q.partition))
      return call_result::damaged(filter().keys.segment(*id), "is missing, or has another type or length");
  if (r.what() != reply::kind::string || !are_verdicts(said))
    return call_result::failed(refused_command(
        state, "the module answered '" + std::string(said.substr(0, 20)) + "', which are not verdicts"));
  if (q.claim != nullptr) q.claim->take(q, said);
  return {kind::done, std::string(said)};
}

std::string module_question() {
  return encode({"COMMAND", "INFO", "EVERSEEN.ADD"});
}

bool says_module(const reply& r) noexcept {
  constexpr std::size_t arity = 1;  // arguments after the name; below zero: more may follow, as for slices
  return r.size() == 1 && r[0].size() > arity && r[0][arity].integer() < 0;
}

}  // namespace everseen::redis
