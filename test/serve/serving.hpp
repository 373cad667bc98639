#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/serve/raw_client.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// `everseen serve` on a Unix socket and a free TCP port. Ends with this object.
class serving {
 public:
  explicit serving(const std::string& store = "mem:", std::vector<std::string> more = {})
      : store_(store), more_(std::move(more)) {
    start();
  }

  void start() {
    std::vector<std::string> command = {
        test::everseen_program(), "serve",    "--store",    store_, "--listen",
        "unix:" + path(),         "--listen", "127.0.0.1:0"};
    command.insert(command.end(), more_.begin(), more_.end());
    program_.emplace(command);
    const std::size_t lines =
        2 + static_cast<std::size_t>(std::ranges::count_if(
                more_, [](const std::string& each) { return each == "--listen" || each == "--http"; }));
    for (int i = 0; i < 30'000 && !program_->has_ended(); ++i) {
      const std::string output = program_->out();
      if (static_cast<std::size_t>(std::count(output.begin(), output.end(), '\n')) == lines) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("the server does not start to listen: " + program_->err());
  }

  [[nodiscard]] std::string path() const { return (directory_.path() / "s").string(); }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// The lines with its addresses.
  [[nodiscard]] std::string said() const { return program_->out(); }
  [[nodiscard]] std::string port(std::string_view before = "listening on 127.0.0.1:") const {
    const std::string all = said();
    const std::size_t position = all.find(before) + before.size();
    return all.substr(position, all.find('\n', position) - position);
  }

  /// The output of redis-cli for a command.
  [[nodiscard]] std::string cli(const std::vector<std::string>& words) const {
    std::vector<std::string> command = {"redis-cli", "-s", path()};
    command.insert(command.end(), words.begin(), words.end());
    std::string out = run_program(command).out;
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }

  void kill() { program_->send(SIGKILL), program_->wait(); }
  /// Shuts it down cleanly.
  program_result stop() { return program_->send(SIGTERM), program_->wait(); }
  [[nodiscard]] running_program& program() { return *program_; }

 private:
  scratch_directory directory_{};
  std::string store_;
  std::vector<std::string> more_;
  std::optional<running_program> program_{};
};

}  // namespace everseen::test
