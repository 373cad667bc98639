/// The chunks of BF.SCANDUMP and BF.LOADCHUNK: a filter as pairs of an iterator and bytes.
///
/// A filter of RedisBloom's layout has RedisBloom's chunks (redisbloom.hpp), any other one everseen's:
/// doc/format.md, "Chunks". A loader recognises them by the first bytes of the header.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen {

/// The reply of BF.SCANDUMP: bytes, and the iterator that asks for the next ones.
struct filter_chunk {
  std::int64_t iterator = 0;  ///< 0: the end
  std::vector<std::byte> bytes{};
};

/// Returns the bytes after an iterator; 0 asks for the header.
///
/// Keys that are added between the calls may be missing. If the filter grows between the calls, its chunks do
/// not fit together, and the loader reports that; RedisBloom's chunks omit the new layer instead.
/// @throws parameter_error  it has the layout of another system, which has no chunks
/// @throws storage_error    the filter was emptied meanwhile
/// Cost: a copy of at most 16 MiB; from a server, all segments of a partition.
[[nodiscard]] filter_chunk dump_chunk(const filter& f, std::int64_t iterator);

/// The spec and the segments of one partition, as a header of everseen's own chunks.
[[nodiscard]] announced_filter announce_partition(const filter& f, std::uint32_t partition);

/// The bits of one partition in everseen's own chunks, whatever the layout: 1 asks for the first ones.
/// @param most_bytes  of bits; more than image::max_chunk_bits_bytes are not returned    @pre most_bytes > 0
/// @throws storage_error  as dump_chunk
[[nodiscard]] filter_chunk dump_partition(const filter& f, std::uint32_t partition, std::int64_t iterator,
                                          std::uint64_t most_bytes);

/// @param segments  the length of each, in bytes
/// @throws parameter_error  they do not fit into the store, as far as its limits are known
void must_have_room(const store& into, std::span<const std::uint64_t> segments);

/// @param system  for example "Guava"    @param layout  the layout that this export needs
[[nodiscard]] parameter_error no_such_export(const filter& f, std::string_view system,
                                             std::string_view layout);

/// Creates a filter from its chunks. Without commit() it leaves nothing behind.
///
/// Chunks after the header may arrive in any order, and more than once. Threads: one at a time.
class chunk_loader {
 public:
  /// @param header  the first chunk
  /// @throws format_error  it is damaged, or of neither form    @throws  as import_redisbloom
  chunk_loader(store& into, std::string_view name, std::span<const std::byte> header);

  /// Loads a chunk.    @throws format_error  it is damaged, or of another copy; the others may still be
  /// loaded
  void load(std::int64_t iterator, std::span<const std::byte> bytes);
  /// Where RedisBloom's next `bytes` belong, still in its bit order.    @throws format_error
  [[nodiscard]] std::span<std::byte> place(std::int64_t iterator, std::uint64_t bytes);

  [[nodiscard]] const announced_filter& announced() const noexcept { return announced_; }
  /// Total size of the bit arrays allocated so far. Each is allocated when it is first needed.
  [[nodiscard]] std::uint64_t bytes_made() const noexcept { return bytes_made_; }
  [[nodiscard]] bool is_complete() const noexcept;
  /// Publishes the complete filter.    @throws format_error  chunks are missing
  void commit();

 private:
  [[nodiscard]] std::span<std::byte> bits_of(const image::chunk_place& place, std::uint64_t bytes);
  void note_loaded(std::uint64_t begin, std::uint64_t end);

  announced_filter announced_;
  std::unique_ptr<store::restore> restored_;
  std::vector<std::span<std::byte>> made_{};  // the first segments
  std::uint64_t bytes_made_ = 0;
  std::map<std::uint64_t, std::uint64_t> loaded_{};  // begin and end of each range, in bytes of all bits
};

/// dump_chunk() for a filter with RedisBloom's layout.    @throws parameter_error  it has another
[[nodiscard]] filter_chunk dump_redisbloom(const filter& f, std::int64_t iterator);

/// @param header  the first chunk of RedisBloom's BF.SCANDUMP
/// @throws format_error, parameter_error  as import_redisbloom
[[nodiscard]] announced_filter announced_by_redisbloom(std::span<const std::byte> header);

/// The header, and whether its layers have bits. Layers of a filter without keys are all zero.
struct redisbloom_announcement {
  redisbloom::announced_chain chain;
  bool has_bits = true;
};
/// @throws parameter_error  it has another layout
[[nodiscard]] redisbloom_announcement announce_redisbloom(const filter& f);

using layer_visitor = std::function<void(std::size_t layer, std::span<const std::byte> bits)>;

/// Calls `visit` for the announced layers, in order.
///
/// Keys added since may be in the bits; layers created since are skipped. If a layer has fewer keys than
/// announced, the filter was emptied since.
/// @throws storage_error  the filter was emptied
void visit_announced(const filter& f, const redisbloom_announcement& a, const layer_visitor& visit);

}  // namespace everseen
