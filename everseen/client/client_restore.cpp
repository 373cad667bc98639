#include "everseen/client/client_restore.hpp"

#include <algorithm>
#include <cstdint>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/redis/keyspace/asking.hpp"

namespace everseen::client {

namespace {

using repeat = server_link::repeat;

std::string_view view_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

client_restore::client_restore(std::shared_ptr<const server_link> link, std::string_view name, const spec& s)
    : link_(std::move(link)), name_(name), spec_(s), order_(s.partitions) {
  validate(s);
  validate_filter_name(name);
  if (link_->ask({"EXISTS", name_}, name_, repeat::yes).integer() != 0) throw filter_exists(name_);
}

std::span<std::byte> client_restore::add_segment(const segment_id& id, const layer_state& layer) {
  if (id.partition >= order_.size())
    throw format_error("the filter has no partition " + image::to_string(id));
  restore_layer(order_[id.partition], id, layer);
  segments_.push_back({{id, layer}, std::vector<std::byte>(layer.shape.bytes)});
  return segments_.back().bits;
}

void client_restore::commit() {
  std::ranges::sort(segments_, {}, [](const held_segment& s) { return s.segment.id; });
  announced_filter all{spec_};
  all.content = content_id{load_le64(image::random_filter_id().data())};
  for (const held_segment& s : segments_) all.segments.push_back(s.segment);
  const std::vector<std::byte> header = image::encode_chunk_header(all);
  link_->create({"BF.LOADCHUNK", name_, "1", view_of(header)}, name_, fingerprint_of(spec_));
  try {
    send_chunks(all.content);
  } catch (const no_filter&) {
    throw storage_error("the server has discarded the import of " + quoted_name(name_) +
                            ": it was idle for too long, or the server was restarted; import again",
                        0, name_);
  }
  if (link_->state_of(name_, 0).fingerprint != fingerprint_of(spec_)) throw filter_exists(name_);
}

void client_restore::send_chunks(content_id content) {
  chunk_position next;
  for (held_segment& s : segments_) {
    for (next.in_segment = 0; next.in_segment < s.bits.size();) send_chunk(content, s, next);
    s.bits = {};
  }
}

/// A long chunk is cheap for the server, but must arrive whole. If it does not, the same bits are sent in a
/// short one, and the next ones in longer ones again. The server takes bits twice, unless the long chunk was
/// the last one and has arrived: then the filter exists.
void client_restore::send_chunk(content_id content, const held_segment& s, chunk_position& next) {
  const auto send = [&](repeat again) {
    const std::size_t bytes = std::min(next.bytes, s.bits.size() - next.in_segment);
    const auto piece = std::span(s.bits).subspan(next.in_segment, bytes);
    std::vector<std::byte> chunk(piece.begin(), piece.end());
    image::append_chunk_trailer(chunk, content, s.segment, next.in_segment);
    const std::int64_t iterator = next.iterator + static_cast<std::int64_t>(bytes);
    link_->create({"BF.LOADCHUNK", name_, std::to_string(iterator), view_of(chunk)}, name_,
                  fingerprint_of(spec_), again);
    next = {iterator, next.in_segment + bytes, std::min(2 * next.bytes, image::max_chunk_bits_bytes)};
  };
  if (next.bytes <= redis::piece_bytes) return send(repeat::yes);
  try {
    return send(repeat::no);
  } catch (const backend_error&) {
    next.bytes = redis::piece_bytes;
  }
  try {
    send(repeat::yes);
  } catch (const name_taken&) {  // commit() looks whether it is this one
    next.in_segment = s.bits.size();
  }
}

}  // namespace everseen::client
