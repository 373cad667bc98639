#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "module/partition/refusal.hpp"
#include "module/server/values.hpp"

namespace everseen::redis_module {

/// The memory of a client's last batch: its sequence number, then its reply (doc/format.md, "In Redis"). If
/// the reply was lost, the client may send the batch again and gets the first reply.
class token {
 public:
  token(api::context* ctx, api::string* key, std::string_view sequence, std::chrono::milliseconds life)
      : ctx_(ctx), key_(key), sequence_(sequence), life_ms_(std::to_string(life.count())) {}

  /// The earlier reply to this batch, whose lifetime then starts again; nothing if there is none.
  [[nodiscard]] judged<std::optional<std::string>> recall() const;
  void remember(std::string_view answer) const;

 private:
  api::context* ctx_;
  api::string* key_;
  std::string_view sequence_;
  std::string life_ms_;
};

}  // namespace everseen::redis_module
