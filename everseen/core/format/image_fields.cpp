#include "everseen/core/format/image_fields.hpp"

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen::image::fields {

namespace {

constexpr std::uint64_t max_segment_bytes = std::uint64_t{1} << 59;  // 2^62 bits

constexpr std::string_view advice = "; restore it from an export or drop it";

}  // namespace

void reader::begin(std::string_view magic, std::uint32_t version) {
  if (std::memcmp(take(magic_bytes).data(), magic.data(), magic_bytes) != 0)
    throw format_error("this is not an everseen " + std::string(subject_) +
                       ": it does not begin with its magic number" + std::string(advice));
  const auto found = get<std::uint32_t>();
  if (found != version)
    throw format_error("the " + std::string(subject_) + " has format version " + std::to_string(found) +
                       " and this everseen reads version " + std::to_string(version) +
                       "; use the everseen that wrote it, or export it there and import it here");
}

void reader::check_seal(std::size_t offset, std::size_t covered) const {
  if (load_le64(from_.data() + offset) != checksum(from_.first(covered)))
    throw format_error("the " + std::string(subject_) + " is damaged: its checksum does not fit" +
                       std::string(advice));
}

void reader::reserved(std::size_t bytes) {
  for (const std::byte b : take(bytes))
    if (b != std::byte{0}) refuse("reserved bytes are not zero");
}

void reader::refuse(const std::string& field) const {
  throw format_error("the " + std::string(subject_) + " makes no sense: " + field + std::string(advice));
}

void check_shape(const reader& in, const geometry& shape) {
  const auto layout = static_cast<unsigned>(shape.layout);
  if (to_string(shape.layout) == "invalid") in.refuse("layout " + std::to_string(layout) + " is not known");
  const unsigned most = shape.layout == layout_kind::redisbloom ? max_layer_probes : max_probes;
  if (shape.probes < 1 || shape.probes > most || shape.probes != probes_of(shape.layout, shape.probes))
    in.refuse("probes " + std::to_string(shape.probes) + " do not fit layout " +
              std::string(to_string(shape.layout)));
  if (shape.bytes == 0 || shape.bytes % length_unit(shape.layout) != 0 || shape.bytes > max_segment_bytes)
    in.refuse("a segment cannot be " + std::to_string(shape.bytes) + " bytes long");
}

void segment_order::check(const reader& in, const segment_id& id, const geometry& shape,
                          std::uint64_t capacity) {
  const std::string name = to_string(id);
  if (id.partition >= spec_.partitions)
    in.refuse("segment " + name + " is beyond the filter's " + std::to_string(spec_.partitions) +
              " partitions");
  if (!spec_.window && id.slice != window::timeless)
    in.refuse("segment " + name + " has a time and the filter has no window");
  if (id.layer >= growth::max_layers)
    in.refuse("segment " + name + " is beyond " + std::to_string(growth::max_layers) + " layers");
  if (shape.layout != spec_.layout) in.refuse("segment " + name + " has another layout than its filter");
  if (!growth::can_have(spec_, id.layer, capacity))
    in.refuse("segment " + name + " has a capacity of " + std::to_string(capacity) +
              " keys, more than its filter plans for");
  const bool same_slice = last_ && id.partition == last_->partition && id.slice == last_->slice;
  const bool ascends = !last_ || *last_ < id;
  if (!ascends || id.layer != (same_slice ? last_->layer + 1 : 0))
    in.refuse("segment " + name + " is out of order, or the layers before it are missing");
  last_ = id;
}

}  // namespace everseen::image::fields
