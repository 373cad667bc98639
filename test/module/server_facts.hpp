#pragma once

#include <string>
#include <vector>

#include "test/support/redis_server.hpp"

/// What the tests of the module ask a server about itself.
namespace everseen::redis_module {

using test::redis_server;

inline std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::vector<std::string> with_module_and(const std::vector<std::string>& words) {
  return joined(test::with_module(), words);
}
inline std::vector<std::string> with_redisbloom_layout(const std::vector<std::string>& words = {}) {
  return joined(with_module_and({"LAYOUT", "redisbloom"}), words);
}

/// The whole contents of a server, as a number.
inline std::string content(const redis_server& server) {
  return server.run({"DEBUG", "DIGEST"});
}

inline void must_become_equal(const redis_server& master, const redis_server& replica) {
  const std::string wanted = content(master);
  test::wait_until([&] { return content(replica) == wanted; }, "the replica has the same values");
}

inline std::string field_of(const redis_server& server, const std::string& section,
                            const std::string& field) {
  const std::string info = server.run({"INFO", section});
  const std::size_t offset = info.find("\n" + field + ":");
  if (offset == std::string::npos) return "";
  const std::size_t from = offset + field.size() + 2;
  return info.substr(from, info.find('\r', from) - from);
}

inline std::string calls_of(const redis_server& server, const std::string& command) {
  const std::string stats = server.run({"INFO", "commandstats"});
  const std::string beginning = "cmdstat_" + command + ":calls=";
  const std::size_t offset = stats.find(beginning);
  if (offset == std::string::npos) return "0";
  const std::size_t from = offset + beginning.size();
  return stats.substr(from, stats.find(',', from) - from);
}

}  // namespace everseen::redis_module
