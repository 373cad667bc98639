#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// The library that shifts the clock of a program (shifted_clock/main.cpp).
[[nodiscard]] std::string shifted_clock_library();

/// A clock for programs that is ahead of the machine's, and can be set while they run.
class shifted_clock {
 public:
  explicit shifted_clock(std::chrono::seconds ahead) { set(ahead); }

  void set(std::chrono::seconds ahead) {
    // In place: the programs have it mapped.
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    if (!file) file.open(path_, std::ios::out | std::ios::binary);
    const std::int64_t seconds = ahead.count();
    file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
  }
  /// What gives this clock to a program.
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return {{"LD_PRELOAD", shifted_clock_library()}, {"EVERSEEN_CLOCK", path_}};
  }

 private:
  scratch_directory directory_{};
  std::string path_ = (directory_.path() / "clock").string();
};

/// A redis-server with a clock of its own.
class clock_server {
 public:
  explicit clock_server(std::vector<std::string> config = {}) {
    for (const auto& [name, value] : clock.environment()) ::setenv(name.c_str(), value.c_str(), 1);
    server_ = std::make_unique<redis_server>(std::move(config));
    for (const auto& [name, value] : clock.environment()) ::unsetenv(name.c_str());
  }
  [[nodiscard]] redis_server* operator->() const noexcept { return server_.get(); }

  shifted_clock clock{std::chrono::seconds(0)};

 private:
  std::unique_ptr<redis_server> server_;
};

}  // namespace everseen::test
