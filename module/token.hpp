#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "module/refusal.hpp"
#include "module/values.hpp"

namespace everseen::redis_module {

/// The memory of a client's last batch: its sequence, then what it was answered (doc/format.md, "In Redis").
/// A batch whose answer was lost may be sent again, and gets the first answer.
class token {
 public:
  token(api::context* ctx, api::string* key, std::string_view sequence, std::chrono::milliseconds life)
      : ctx_(ctx), key_(key), sequence_(sequence), life_ms_(std::to_string(life.count())) {}

  /// What the batch was answered before, which is then remembered for its whole life anew; nothing if it was
  /// not.
  [[nodiscard]] judged<std::optional<std::string>> recall() const;
  void remember(std::string_view answer) const;

 private:
  api::context* ctx_;
  api::string* key_;
  std::string_view sequence_;
  std::string life_ms_;
};

}  // namespace everseen::redis_module
