#pragma once

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
/// A chunk with the iterator 1 is a header and begins anew. There are at most 16 at a time; of more the one
/// that began first is forgotten, since nobody says that he gives up. Each holds its room from its header on.
/// Threads: any number.
class chunk_loads {
 public:
  /// Takes a chunk in; with the last one the filter is there.
  /// @throws refusal  no load of this key has begun    @throws error  as redisbloom_loader,
  /// filter_shelf::begin_load
  void take(filter_shelf& into, std::string_view key, std::int64_t iterator, std::string_view bytes);

 private:
  static constexpr std::size_t most_loads = 16;

  struct numbered {
    filter_shelf::load load;
    std::uint64_t number;  // the order in which they began
  };
  void make_room();

  std::mutex lock_{};
  std::uint64_t begun_ = 0;
  std::map<std::string, numbered, std::less<>> loads_{};
};

}  // namespace everseen::server
