#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/stream_image.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/store.hpp"

/// Filters of other systems, from their files into a store and back.
///
/// Such a filter is one of ours with a foreign layout: every store keeps it, every call works on it, and what
/// is added to it is added by the rules of its own system, so that it can go back there. What it answers for
/// keys that were added elsewhere is as good as the bits in the file.
///
/// A file that is cut off, damaged or inconsistent is a format_error that says where, and leaves nothing
/// behind. It is refused before anything is allocated from its numbers where its length is known; where it
/// comes through a pipe, before more is asked for than the store has room for. Nothing is visible under the
/// name before the whole file has been read. Threads: any number of these may run at once.
namespace everseen {

/// A file, and its length where it has one (a pipe has none).
struct foreign_source {
  image::byte_source read;
  std::optional<std::uint64_t> bytes{};
};

/// What a stream of Guava does not say of its filter.
struct guava_facts {
  funnel_kind funnel = funnel_kind::bytes;
  /// expectedInsertions; nothing: so many keys as half of the bits are for
  std::optional<std::uint64_t> capacity{};
};

/// Makes a filter of what BloomFilter.writeTo wrote.
/// @throws name_taken
/// @throws format_error     the file is damaged, or none of Guava's
/// @throws parameter_error  it is sound, and everseen or this store cannot have its filter: more than 64
/// probes, a
///                          bit array longer than the store keeps, or more than it has room for
/// Cost: a second a GB, most of it for fresh pages (doc/measurements.md, "Filters of other systems"). Source:
/// doc/format.md, "Guava's stream"
void import_guava(store& into, std::string_view name, const foreign_source& from, const guava_facts& facts);

/// Writes what BloomFilter.writeTo would.
/// @throws parameter_error  the filter has another layout than guava32 and guava64
void export_guava(const filter& f, const image::byte_sink& to);

/// Makes a filter of a file of BF.LOADCHUNK commands.
///
/// @throws  as import_guava; parameter_error also for the hash of 32 bits and for rates below 1e-15,
/// format_error
///          also for a chain that does not grow by the rules of RedisBloom
void import_redisbloom(store& into, std::string_view name, const foreign_source& from);

/// What BF.SCANDUMP answers: bytes, and the iterator that asks for those behind them.
struct redisbloom_chunk {
  std::int64_t iterator = 0;  ///< 0: there was nothing more
  std::vector<std::byte> bytes{};
};

/// The bytes behind an iterator; 0 asks for the header.
///
/// As in RedisBloom, keys that are added between the calls may be missing, or their layer.
/// @throws parameter_error  the filter has another layout than redisbloom
/// @throws storage_error    somebody emptied the filter meanwhile
/// Cost: a copy of at most 16 MiB; from a server, all its segments.
[[nodiscard]] redisbloom_chunk dump_redisbloom(const filter& f, std::int64_t iterator);

/// Makes a filter of what BF.SCANDUMP answered, chunk by chunk. Without commit() it leaves nothing behind.
class redisbloom_loader {
 public:
  /// @param header  the first chunk    @throws  as import_redisbloom
  redisbloom_loader(store& into, std::string_view name, std::span<const std::byte> header);
  ~redisbloom_loader();
  redisbloom_loader(const redisbloom_loader&) = delete;
  redisbloom_loader& operator=(const redisbloom_loader&) = delete;

  /// The next chunk.    @throws format_error  it is not
  void load(std::int64_t iterator, std::span<const std::byte> bytes);
  /// Of all bit arrays, as the header announces them; they are made with their first chunks.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// Of the bit arrays that were made.
  [[nodiscard]] std::uint64_t bytes_made() const noexcept;
  [[nodiscard]] bool is_complete() const noexcept;
  /// The filter is there, whole.    @throws format_error  chunks are missing
  void commit();

 private:
  friend void import_redisbloom(store& into, std::string_view name, const foreign_source& from);
  /// Where the bytes of the next chunk go, still in RedisBloom's order of bits.
  [[nodiscard]] std::span<std::byte> place(std::int64_t iterator, std::uint64_t bytes);

  struct work;
  std::unique_ptr<work> work_;
};

/// Writes the commands that make the filter anew on a server with RedisBloom, under the key given.
///
/// Keys that are added meanwhile may be in it, and are then not in its counts.
/// @throws parameter_error  the filter has another layout than redisbloom
/// @throws storage_error    somebody emptied the filter meanwhile; what was written is of no use
void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& to);

}  // namespace everseen
