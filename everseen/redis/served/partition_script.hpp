#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/gear.hpp"

namespace everseen::redis {

/// Calls of scripts about a partition, and what all of them may answer instead of doing something.
class partition_script {
 public:
  /// KEYS and ARGV of a call.
  struct words {
    std::vector<std::string> keys;
    std::vector<std::string> arguments;
  };

  explicit partition_script(const filter_identity& f) : filter_(f) {}

  /// Of a partition, whose state is the first key.
  [[nodiscard]] request call(const script& s, std::uint32_t partition, const words& w) const;

  [[nodiscard]] meaning understand(std::uint32_t partition, const answer& a) const;
  [[nodiscard]] meaning understand(std::uint32_t partition, const reply& r) const;

 private:
  const filter_identity& filter_;
};

}  // namespace everseen::redis
