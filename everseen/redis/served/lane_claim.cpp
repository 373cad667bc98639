#include "everseen/redis/served/lane_claim.hpp"

#include <algorithm>
#include <limits>

namespace everseen::redis {

namespace {

void append_place(std::string& out, std::uint32_t place) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(place >> shift);
}

}  // namespace

lane_claim::link lane_claim::first_link() const {
  std::string head = record_.head();
  const std::size_t bytes = head.size() + record_.settled_before(settled_) * position_bytes;
  return {std::move(head), bytes};
}

std::string lane_claim::positions(const packed_keys& q) const {
  std::string packed;
  packed.reserve(q.digests.size() * position_bytes);
  for (const std::uint64_t position : batch_.positions.subspan(q.first, q.digests.size()))
    append_position(packed, position);
  return packed;
}

lane_claim::counting lane_claim::counts(const packed_keys& q) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  counting c;
  const std::size_t each = batch_.counts.per_event;
  if (each == 0) return c;
  renumbered_.assign(batch_.counts.names.size(), none);
  c.places.reserve(q.digests.size() * each * 4);
  for (const std::uint32_t name : batch_.counts.of_event.subspan(q.first * each, q.digests.size() * each)) {
    std::uint32_t& place = renumbered_[name];
    if (place == none) {
      place = static_cast<std::uint32_t>(c.names.size());
      c.names.push_back(batch_.counts.names[name]);
    }
    append_place(c.places, place);
  }
  return c;
}

void lane_claim::take(const packed_keys& q, std::string_view verdicts) {
  const std::size_t judged = std::min(verdicts.find('3'), verdicts.size());
  if (judged == 0) return;
  record_.forget(settled_);
  for (std::size_t i = 0; i < judged; ++i) record_.note(batch_.positions[q.first + i], verdicts[i] == '0');
}

}  // namespace everseen::redis
