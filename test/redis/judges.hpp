#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/redis/stored.hpp"

namespace everseen::redis {

/// The judge of the filters in a test.
enum class judges : std::uint8_t { clients, servers };

inline std::string name_of_judges(const testing::TestParamInfo<judges>& one) {
  constexpr const char* names[] = {"clients", "servers"};
  return names[static_cast<std::size_t>(one.param)];
}

/// Filters of one judge on a server, and clients like other processes.
class JudgedBy : public testing::TestWithParam<judges> {
 protected:
  explicit JudgedBy(std::vector<std::string> config = {}) : server_(with_judge(std::move(config))) {}

  /// The configuration of a server for such filters.
  static std::vector<std::string> with_judge(std::vector<std::string> config = {}) {
    if (GetParam() == judges::servers) std::ranges::copy(test::with_module(), std::back_inserter(config));
    return config;
  }
  /// A store like that of another process.
  std::shared_ptr<redis_store> store(const std::string& options = "") const {
    return store_at(server_.url(options.empty() ? "" : "?" + options));
  }
  std::shared_ptr<stored_filter> client(const std::string& name = "clicks",
                                        access mode = access::write) const {
    return store()->open(name, mode);
  }
  spec spec_of(spec_request request) const {
    request.judge = GetParam() == judges::clients ? judge_kind::client : judge_kind::server;
    return planned(*store_, request);
  }
  /// Keys under ids of filters.
  std::vector<std::string> keys_of_filters(const test::redis_server& on) const {
    return lasting_keys_like(on, "everseen:{????????????????????????????????*}*");
  }
  std::vector<std::string> keys_of_filters() const { return keys_of_filters(server_); }
  std::vector<std::string> all_keys() const { return lasting_keys_like(server_, "*"); }

  test::redis_server server_;
  std::shared_ptr<redis_store> store_ = store();
};

}  // namespace everseen::redis
