#pragma once

#include <memory>

#include "everseen/redis/ledger/claim_call.hpp"
#include "everseen/redis/served/module_gear.hpp"

namespace everseen::redis {

/// Claims by the module, one command a batch. As with scripts, a call that is sent again says `claimed`.
class module_claim_gear final : public module_gear {
 public:
  module_claim_gear(const filter_identity& f, std::shared_ptr<claim_call> c)
      : module_gear(f, {}), claim_(std::move(c)) {}

  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;

 private:
  std::shared_ptr<claim_call> claim_;
};

}  // namespace everseen::redis
