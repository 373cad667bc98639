#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/redis_url.hpp"
#include "everseen/redis/reply.hpp"

namespace everseen::redis {

/// Which of several independent servers is which.
///
/// Partition P lies on server P modulo their number, and the header on the first. So the same servers in
/// another order, or fewer of them, would be taken for a place without the filter, or for one that has lost
/// it. Therefore every server says under the header's name which place it has: the first in the header, each
/// other one in a *sign*. In a cluster, where slots say where keys are, there is nothing of this.
class server_order {
 public:
  explicit server_order(const redis_url& url);

  /// How many servers there are beside the first; 0 in a cluster.
  [[nodiscard]] std::uint32_t others() const noexcept { return count_ == 0 ? 0 : count_ - 1; }

  /// What a header or sign on the server of this place, from 0, says: fields and values for HSET.
  [[nodiscard]] std::vector<std::string> fields(std::uint32_t place) const;

  /// @param place    the field `place` of what is on that server, if it is there
  /// @param servers  the field `servers`
  /// @throws parameter_error  it says something else than fields(); names the order that the filter has
  void require(std::string_view filter, std::uint32_t asked, const reply& place, const reply& servers) const;

 private:
  [[nodiscard]] std::string place_text(std::uint32_t place) const;

  std::uint32_t count_ = 0;  // 0: a cluster
  std::string servers_;
};

}  // namespace everseen::redis
