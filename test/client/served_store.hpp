#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/open_store.hpp"

#include "test/serve/serving.hpp"
#include "test/support/cutting_proxy.hpp"

/// A running server as a store, directly or through a network that fails.
namespace everseen::test {

inline constexpr double never_wrong = 1e-12;

/// The message of the error that a call must throw.
template <typename Error = error>
std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was refused";
}

inline std::shared_ptr<store> store_of(const serving& server, const std::string& options = "") {
  return open_store("everseen+unix:" + server.path() + options);
}

inline std::shared_ptr<store> store_through(const cutting_proxy& proxy, const std::string& options = "") {
  return open_store("everseen://127.0.0.1:" + std::to_string(proxy.port()) + options);
}

inline std::uint16_t port_of(const serving& server) {
  return static_cast<std::uint16_t>(std::stoul(server.port()));
}

}  // namespace everseen::test
