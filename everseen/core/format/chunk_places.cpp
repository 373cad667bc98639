#include "everseen/core/format/chunk_places.hpp"

#include <string>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/fingerprint.hpp"

namespace everseen::image {

copy_id copy_of(const spec& s) {
  return copy_id{read_number(fingerprint_of(s).substr(0, 16), 16).value()};
}

std::optional<chunk_place> place_after(std::span<const announced_filter::segment> segments,
                                       std::int64_t iterator) noexcept {
  if (iterator < 1) return std::nullopt;
  chunk_place at{0, static_cast<std::uint64_t>(iterator) - 1};
  for (; at.segment < segments.size(); ++at.segment) {
    const std::uint64_t bytes = segments[at.segment].layer.shape.bytes;
    if (at.offset < bytes) return at;
    at.offset -= bytes;
  }
  return std::nullopt;
}

chunk_place place_of_chunk(std::span<const announced_filter::segment> segments, std::int64_t iterator,
                           std::uint64_t bytes) {
  const auto refuse = [&](const std::string& why) {
    throw format_error("not the chunks of a filter: chunk " + std::to_string(iterator) + why);
  };
  if (iterator < 1 || bytes == 0 || bytes > static_cast<std::uint64_t>(iterator) - 1)
    refuse(" has " + std::to_string(bytes) + " bytes");
  const auto found = place_after(segments, iterator - static_cast<std::int64_t>(bytes));
  if (!found) refuse(" is past its end");
  if (bytes > segments[found->segment].layer.shape.bytes - found->offset)
    refuse(" does not end with its segment");
  return *found;
}

}  // namespace everseen::image
