#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "everseen/serve/registry/filter_registry.hpp"

namespace everseen::serve {

/// Filters that arrive by BF.LOADCHUNK and are incomplete.
///
/// A chunk with the iterator 1 is a header. The header of the load that has begun changes nothing, as it may
/// be a late repeat; another one replaces the load. A chunk that is refused leaves the load as it was. A load
/// reserves its room from its header on.
/// Clients do not announce that they give up. So a load is discarded if its key is dropped, if no chunk has
/// arrived for the request timeout, or as the oldest of more than 16.
/// Threads: any number.
class chunk_loads {
 public:
  using clock = std::chrono::steady_clock;

  /// Takes a chunk; the last one creates the filter. If that chunk comes again, because its answer was lost,
  /// nothing happens.
  /// @throws refusal  no load of this key has begun
  /// @throws error  as chunk_loader, filter_registry::begin_load
  void take(filter_registry& into, std::string_view key, std::int64_t iterator, std::string_view bytes);

  /// Dropping a key also discards its load.
  void forget(std::string_view key);
  void forget_all();
  /// Discards loads whose last chunk is older. Does not wait: a load that is in use is left for the next
  /// call.
  void forget_before(clock::time_point when);

 private:
  static constexpr std::size_t most_loads = 16;

  struct numbered {
    filter_registry::load load;
    std::uint64_t header;  // its checksum
    std::uint64_t number;  // the order in which they began
    clock::time_point last_chunk;
  };
  /// The chunk that completed a filter.
  struct last_chunk {
    std::int64_t iterator = 0;
    std::uint64_t checksum = 0;
    friend bool operator==(const last_chunk&, const last_chunk&) = default;
  };
  void begin(filter_registry& into, std::string_view key, std::span<const std::byte> header);
  [[nodiscard]] filter_registry::load begin_in_room(filter_registry& into, std::string_view key,
                                                    std::span<const std::byte> header);
  void append_chunk(filter_registry& into, std::string_view key, const last_chunk& last,
                    std::span<const std::byte> data);
  void forget_one(std::string_view key);
  void make_room();
  [[nodiscard]] bool has_completed(const filter_registry& in, std::string_view key,
                                   const last_chunk& last) const;

  std::mutex lock_{};
  std::uint64_t begun_ = 0;
  std::map<std::string, numbered, std::less<>> loads_{};
  std::map<std::string, last_chunk, std::less<>> completed_{};  // the latest ones
};

}  // namespace everseen::serve
