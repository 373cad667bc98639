#include "everseen/core/format/lane_record.hpp"

#include <algorithm>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen {

void append_position(std::string& out, std::uint64_t position) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(position >> shift);
}

std::uint64_t position_in(std::string_view bytes) noexcept {
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < position_bytes; ++i)
    position = position << 8 | static_cast<unsigned char>(bytes[i]);
  return position;
}

lane_record lane_record::decode(std::string_view bytes) {
  lane_record r;
  if (bytes.empty()) return r;
  if (bytes.size() % position_bytes != 0)
    throw format_error("the record of a lane is damaged: its length is no multiple of 8 bytes");
  r.begun_ = true;
  r.last_ = position_in(bytes);
  r.fresh_.reserve(bytes.size() / position_bytes - 1);
  for (std::size_t offset = position_bytes; offset < bytes.size(); offset += position_bytes) {
    const std::uint64_t position = position_in(bytes.substr(offset));
    if (position > r.last_ || (!r.fresh_.empty() && position <= r.fresh_.back()))
      throw format_error("the record of a lane is damaged: its positions do not ascend");
    r.fresh_.push_back(position);
  }
  return r;
}

std::string lane_record::encode() const {
  std::string bytes = head();
  bytes.reserve(bytes.size() * (1 + fresh_.size()));
  for (const std::uint64_t position : fresh_) append_position(bytes, position);
  return bytes;
}

std::string lane_record::head() const {
  std::string bytes;
  if (begun_) append_position(bytes, last_);
  return bytes;
}

bool lane_record::was_fresh(std::uint64_t position) const noexcept {
  return std::ranges::binary_search(fresh_, position);
}

std::size_t lane_record::settled_before(std::uint64_t settled) const noexcept {
  return static_cast<std::size_t>(std::ranges::lower_bound(fresh_, settled) - fresh_.begin());
}

void lane_record::forget(std::uint64_t settled) {
  fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(settled_before(settled)));
}

void lane_record::note(std::uint64_t position, bool fresh) {
  EVERSEEN_ASSERT(!has_judged(position));
  begun_ = true;
  last_ = position;
  if (fresh) fresh_.push_back(position);
}

}  // namespace everseen
