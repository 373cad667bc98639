#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "everseen/server/filter_shelf.hpp"

namespace everseen::server {

/// Filters that arrive by BF.LOADCHUNK and are not yet whole.
///
/// A chunk with the iterator 1 is a header and begins anew. Each holds its room from its header on. Nobody
/// says that he gives up, so a load goes when its key is dropped, when no chunk has come for as long as the
/// rest of a request may take, or as the one that began first of more than 16.
/// Threads: any number.
class chunk_loads {
 public:
  using clock = std::chrono::steady_clock;

  /// Takes a chunk in; with the last one the filter is there.
  /// @throws refusal  no load of this key has begun    @throws error  as redisbloom_loader,
  /// filter_shelf::begin_load
  void take(filter_shelf& into, std::string_view key, std::int64_t iterator, std::string_view bytes);

  /// Whoever drops the key means the load as well.
  void forget(std::string_view key);
  void forget_all();
  /// Those whose last chunk came before. Waits for nobody: what is being loaded goes another time.
  void forget_before(clock::time_point when);

 private:
  static constexpr std::size_t most_loads = 16;

  struct numbered {
    filter_shelf::load load;
    std::uint64_t number;  // the order in which they began
    clock::time_point last_chunk;
  };
  void make_room();

  std::mutex lock_{};
  std::uint64_t begun_ = 0;
  std::map<std::string, numbered, std::less<>> loads_{};
};

}  // namespace everseen::server
