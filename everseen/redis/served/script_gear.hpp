#pragma once

#include <string>

#include "everseen/redis/served/gear.hpp"
#include "everseen/redis/served/partition_script.hpp"

namespace everseen::redis {

/// One script call a batch, whatever slices its keys are of: atomic as a whole. A batch carries a sequence
/// number under which the server remembers its answer, so that it may be sent again after an outage.
class script_gear : public gear {
 public:
  script_gear(const filter_identity& f, std::string_view client, std::chrono::milliseconds keeps_answers = {})
      : filter_(f), script_(f), client_(client), keeps_answers_(keeps_answers) {}

  [[nodiscard]] bool makes_segments() const noexcept override { return false; }
  [[nodiscard]] std::size_t keys_a_call() const noexcept override { return 1000; }
  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;

 protected:
  /// Puts behind them what script_text::segments reads.
  void append_keys(partition_script::words& w, const judging& q) const;
  /// As many positions a key as the segment with most probes wants.
  [[nodiscard]] static unsigned probes_of(const judging& q) noexcept;
  /// The verdicts of a script that judges, or what it says instead.
  [[nodiscard]] meaning verdicts_in(const judging& q, const reply& r, meaning o) const;

  const filter_identity& filter_;
  partition_script script_;

 private:
  std::string client_;
  std::chrono::milliseconds keeps_answers_;
};

}  // namespace everseen::redis
