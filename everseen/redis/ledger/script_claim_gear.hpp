#pragma once

#include <memory>

#include "everseen/redis/ledger/claim_call.hpp"
#include "everseen/redis/served/script_gear.hpp"

namespace everseen::redis {

/// Claims by a chain of script calls, all sent before the first is answered.
///
/// Each call names the head of the record that the one before it leaves, if that judges all of its events:
/// the position of the last of them. So they take effect one behind the other, or not at all: where one stops
/// early, is refused, or was never run, those behind it find another head, and do nothing. No other call
/// leaves that head, since positions ascend. It needs no token: a chain that is sent again, in whole or in
/// part, does what is left of it, and where a call says `claimed`, the record has what became of its events.
class script_claim_gear final : public script_gear {
 public:
  script_claim_gear(const filter_identity& f, std::shared_ptr<claim_call> c)
      : script_gear(f, {}), claim_(std::move(c)) {}

  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;
  /// Of a chain.
  [[nodiscard]] std::size_t keys_a_call() const noexcept override { return 16'000; }

 private:
  [[nodiscard]] std::size_t events_a_call(const judging& q) const noexcept;
  [[nodiscard]] partition_script::words words_of(const judging& q, const claim_call::link& at) const;
  meaning judged_part(const judging& part, const reply& r);

  std::shared_ptr<claim_call> claim_;
};

}  // namespace everseen::redis
