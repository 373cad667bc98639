#pragma once

#include <string>

#include "everseen/redis/served/gear.hpp"

namespace everseen::redis {

/// By the Redis module (doc/module.md), where a server has loaded it: one command a batch, with the digests
/// as they are, judged by the core inside the server on the same keys that scripts use.
///
/// Atomic as a whole, and remembered under a sequence like a script's batch, by the same token: so a batch
/// whose answer was lost may be sent again, and gets the first answer. The server makes the segments that are
/// needed, in steps; where a call could not finish one, the rest is asked again.
class module_gear : public gear {
 public:
  module_gear(const filter_identity& f, std::string_view client, std::chrono::milliseconds keeps_answers = {})
      : filter_(f), client_(client), keeps_answers_(keeps_answers) {}

  [[nodiscard]] bool makes_segments() const noexcept override { return true; }
  [[nodiscard]] std::size_t keys_a_call() const noexcept override { return 16'384; }
  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;

 protected:
  /// A byte a key: how many slices behind that of the question; none: all are of that.
  [[nodiscard]] static std::string offsets(const judging& q);
  /// Digests travel as they are in memory.
  [[nodiscard]] static std::string_view packed(std::span<const digest> digests) noexcept;

  const filter_identity& filter_;

 private:
  std::string client_;
  std::chrono::milliseconds keeps_answers_;
};

/// What asks a server whether it has the module, and whether its answer says so: a module from before, whose
/// calls are about one slice, does not count.
[[nodiscard]] std::string module_question();
[[nodiscard]] bool says_module(const reply& r) noexcept;

}  // namespace everseen::redis
