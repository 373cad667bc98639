#pragma once

#include <memory>

#include "everseen/redis/claim_call.hpp"
#include "everseen/redis/script_gear.hpp"

namespace everseen::redis {

/// Claims by one script call a batch. It needs no token: a call that is sent again finds the record of its
/// lane changed, and says `claimed`.
class script_claim_gear final : public script_gear {
 public:
  script_claim_gear(const remote_filter& f, std::shared_ptr<claim_call> c)
      : script_gear(f, {}), claim_(std::move(c)) {}

  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;

 private:
  std::shared_ptr<claim_call> claim_;
};

}  // namespace everseen::redis
