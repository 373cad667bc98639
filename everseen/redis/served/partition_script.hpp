#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/gear.hpp"

namespace everseen::redis {

/// Calls of scripts about a partition: by their name, and by their text where the server does not know that,
/// and what all of them may answer instead of doing something. Threads: one at a time.
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
  /// A call as bytes.
  [[nodiscard]] std::string encoded(const script& s, const words& w) const {
    return encoded(s, w, with_text_);
  }
  [[nodiscard]] static std::string encoded(const script& s, const words& w, bool with_text);

  [[nodiscard]] meaning understand(std::uint32_t partition, const answer& a);
  [[nodiscard]] meaning understand(std::uint32_t partition, const reply& r);

 private:
  const filter_identity& filter_;
  bool with_text_ = false;  // the server does not know the script yet
};

}  // namespace everseen::redis
