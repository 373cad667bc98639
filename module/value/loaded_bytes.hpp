#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "everseen/core/base/error.hpp"

#include "module/server/api.hpp"

namespace everseen::redis_module {

/// A string of an RDB.
class loaded_bytes {
 public:
  /// @throws format_error  the RDB ends before it
  explicit loaded_bytes(module_api::rdb* from) : bytes_(module_api::load_bytes(from, &size_)) {
    if (bytes_ == nullptr) throw format_error("the data of a filter is cut off");
  }
  loaded_bytes(loaded_bytes&& other) noexcept
      : size_(other.size_), bytes_(std::exchange(other.bytes_, nullptr)) {}
  loaded_bytes& operator=(loaded_bytes&&) = delete;
  ~loaded_bytes() {
    if (bytes_ != nullptr) module_api::free_memory(bytes_);
  }

  /// The caller frees it by free_memory().
  [[nodiscard]] char* release() noexcept { return std::exchange(bytes_, nullptr); }

  [[nodiscard]] std::span<const std::byte> get() const noexcept {
    return std::as_bytes(std::span(bytes_, size_));
  }

 private:
  std::size_t size_ = 0;
  char* bytes_;
};

}  // namespace everseen::redis_module
