#pragma once

#include <string>
#include <vector>

#include "everseen/redis/gear.hpp"
#include "everseen/redis/scripts.hpp"

namespace everseen::redis {

/// One script call a batch, whatever slices its keys are of: atomic as a whole. A batch carries a sequence
/// number under which the server remembers its answer, so that it may be sent again after an outage, or asked
/// for when it was judged by the module, which has the same memory.
class script_gear : public gear {
 public:
  script_gear(const remote_filter& f, std::string_view client) : filter_(f), client_(client) {}

  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;
  [[nodiscard]] bool takes_slices() const noexcept override { return true; }
  [[nodiscard]] bool recalls() const noexcept override { return true; }
  request recall(const judging& q) override;
  meaning recalled(const judging& q, const answer& a) override;
  request lengthen(const lengthening& l) override;
  meaning lengthened(const lengthening& l, const answer& a) override;
  request publish(const publication& p) override;
  meaning published(const publication& p, const answer& a) override;

 protected:
  /// KEYS and ARGV of a call.
  struct script_words {
    std::vector<std::string> keys;
    std::vector<std::string> arguments;
  };
  /// Puts behind them what script_text::segments reads.
  void append_keys(script_words& w, const judging& q) const;
  /// As many positions a key as the segment with most probes wants.
  [[nodiscard]] static unsigned probes_of(const judging& q) noexcept;
  /// A call of a script, as bytes.
  [[nodiscard]] static std::string encoded(const script& s, const script_words& w, bool with_text);
  /// The same about a partition, whose state is the first key.
  [[nodiscard]] request call(const script& s, std::uint32_t partition, const script_words& w) const;
  /// What all scripts may answer instead of doing something.
  meaning understand(std::uint32_t partition, const answer& a);
  meaning understand(std::uint32_t partition, const reply& r);
  /// The verdicts of a script that judges, or what it says instead.
  [[nodiscard]] meaning verdicts_in(const judging& q, const reply& r, meaning o) const;

  const remote_filter& filter_;
  bool with_text_ = false;  // the server does not know the script yet

 private:
  std::string client_;
};

}  // namespace everseen::redis
