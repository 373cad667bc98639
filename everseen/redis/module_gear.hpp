#pragma once

#include <string>

#include "everseen/redis/gear.hpp"

namespace everseen::redis {

/// By the Redis module (doc/module.md), where a server has loaded it: one command a batch, with the digests
/// as they are, judged by the core inside the server on the same keys that the other gears use.
///
/// Atomic as a whole, and remembered under a sequence like a script's batch, by the same token: so a batch
/// whose answer was lost may be sent again, and gets the first answer. Where the module has gone
/// meanwhile, a gear that recalls what it answered tells. The server makes the segments that are needed, in
/// steps; where a call could not finish one, the rest is asked again.
class module_gear : public gear {
 public:
  module_gear(const remote_filter& f, std::string_view client) : filter_(f), client_(client) {}

  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;
  [[nodiscard]] bool takes_slices() const noexcept override { return true; }
  [[nodiscard]] bool makes_segments() const noexcept override { return true; }
  [[nodiscard]] std::size_t keys_a_call() const noexcept override { return 16'384; }

  /// Never asked, since the server makes segments by itself.
  request lengthen(const lengthening& l) override;
  meaning lengthened(const lengthening& l, const answer& a) override;
  request publish(const publication& p) override;
  meaning published(const publication& p, const answer& a) override;

 protected:
  /// A byte a key: how many slices behind that of the question; none: all are of that.
  [[nodiscard]] static std::string offsets(const judging& q);
  /// Digests travel as they are in memory.
  [[nodiscard]] static std::string_view packed(std::span<const digest> digests) noexcept;

  const remote_filter& filter_;

 private:
  std::string client_;
};

/// What asks a server whether it has the module, and whether its answer says so.
[[nodiscard]] std::string module_question();
[[nodiscard]] bool says_module(const reply& r) noexcept;
/// Whether one call of it may be about several slices. Modules from before do not take the word for that.
/// @pre says_module(r)
[[nodiscard]] bool says_slices(const reply& r) noexcept;

}  // namespace everseen::redis
