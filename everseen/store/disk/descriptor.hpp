#pragma once

#include <utility>

#include <unistd.h>

namespace everseen {

/// An open file, closed at the end of the scope.
class descriptor {
 public:
  descriptor() noexcept = default;
  /// @param number  the result of open(2); -1 means no file
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  int number_ = -1;
};

}  // namespace everseen
