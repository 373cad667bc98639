#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/format/stream_image.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

/// Import and export of other systems' filters.
///
/// An imported filter is an everseen filter with a foreign layout: every store keeps it and every call works
/// on it. Keys are added by the rules of the original system, so the filter can be exported again. For keys
/// added elsewhere, the answers are as good as the bits in the file.
///
/// A truncated, damaged or inconsistent file is a format_error that names the place; it leaves nothing
/// behind. If the length of the file is known, the check happens before any allocation. For a pipe, it
/// happens before more is requested than the store has room for. The name appears only after the whole file
/// has been read. Threads: any number of these calls may run concurrently.
namespace everseen {

/// A file, and its length if known (a pipe has none).
struct foreign_source {
  image::byte_source read;
  std::optional<std::uint64_t> bytes{};
};

/// Facts about a filter that Guava's stream omits.
struct guava_facts {
  funnel_kind funnel = funnel_kind::bytes;
  /// expectedInsertions; nothing: the number of keys at which half of the bits are set
  std::optional<std::uint64_t> capacity{};
};

/// Creates a filter from what BloomFilter.writeTo wrote.
/// @throws name_taken
/// @throws format_error     the file is damaged, or not Guava's
/// @throws parameter_error  the file is sound but cannot be kept: more than 64 probes, a bit array longer
///   than the store allows, or not enough room
/// Cost: a second per GB, mostly for page faults (doc/measurements.md, "Filters of other systems").
/// Source: doc/format.md, "Guava's stream"
void import_guava(store& into, std::string_view name, const foreign_source& from, const guava_facts& facts);

/// Writes what BloomFilter.writeTo would write.
/// @throws parameter_error  the layout is neither guava32 nor guava64
void export_guava(const filter& f, const image::byte_sink& to);

/// Creates a filter from a file of BF.LOADCHUNK commands.
///
/// @throws  as import_guava; parameter_error also for the 32-bit hash and for rates below 1e-15; format_error
///   also for a chain that does not grow by RedisBloom's rules
void import_redisbloom(store& into, std::string_view name, const foreign_source& from);

/// The reply of BF.SCANDUMP: bytes, and the iterator that asks for the next ones.
struct redisbloom_chunk {
  std::int64_t iterator = 0;  ///< 0: the end
  std::vector<std::byte> bytes{};
};

/// Returns the bytes after an iterator; 0 asks for the header.
///
/// As in RedisBloom, keys that are added between the calls may be missing, and so may a layer created for
/// them.
/// @throws parameter_error  the layout is not redisbloom
/// @throws storage_error    the filter was emptied meanwhile
/// Cost: a copy of at most 16 MiB; from a server, all its segments.
[[nodiscard]] redisbloom_chunk dump_redisbloom(const filter& f, std::int64_t iterator);

/// Creates a filter from BF.SCANDUMP replies, chunk by chunk. Without commit() it leaves nothing behind.
class redisbloom_loader {
 public:
  /// @param header  the first chunk    @throws  as import_redisbloom
  redisbloom_loader(store& into, std::string_view name, std::span<const std::byte> header);
  ~redisbloom_loader();
  redisbloom_loader(const redisbloom_loader&) = delete;
  redisbloom_loader& operator=(const redisbloom_loader&) = delete;

  /// Loads the next chunk.    @throws format_error  it is not the next one
  void load(std::int64_t iterator, std::span<const std::byte> bytes);
  /// Total size of the bit arrays that the header announces. Each is allocated with its first chunk.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// Total size of the bit arrays allocated so far.
  [[nodiscard]] std::uint64_t bytes_made() const noexcept;
  [[nodiscard]] bool is_complete() const noexcept;
  /// Publishes the complete filter.    @throws format_error  chunks are missing
  void commit();

 private:
  friend void import_redisbloom(store& into, std::string_view name, const foreign_source& from);
  /// Where the bytes of the next chunk belong, still in RedisBloom's bit order.
  [[nodiscard]] std::span<std::byte> place(std::int64_t iterator, std::uint64_t bytes);

  struct work;
  std::unique_ptr<work> work_;
};

/// Writes the commands that recreate the filter on a server with RedisBloom, under the given key.
///
/// Keys added meanwhile may be included; the counts then omit them.
/// @throws parameter_error  the layout is not redisbloom
/// @throws storage_error    the filter was emptied meanwhile; discard what was written
void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& to);

}  // namespace everseen
