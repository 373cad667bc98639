#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/support/redis_server.hpp"

namespace everseen::test {

/// Configuration of a server that keeps everything it acknowledges, in an AOF.
inline std::vector<std::string> with_aof(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--appendonly", "yes", "--appendfsync", "always"});
  return more;
}

/// The result of kill -9 in the middle of a write: an AOF that ends at any byte.
///
/// If Redis finds its AOF truncated inside a command of a MULTI block, it removes that command and leaves
/// the block open. Whatever it appends later then becomes part of the block, and at its next start the
/// commands of the half block are run, too.
class torn_aof {
 public:
  /// @param server  with_aof(), and its base file is written
  explicit torn_aof(redis_server& server) : server_(server) {
    for (const auto& file : std::filesystem::directory_iterator(server.directory() / "appendonlydir"))
      if (file.path().string().ends_with(".incr.aof")) path_ = file.path();
    if (path_.empty()) throw std::runtime_error("the server has no AOF");
  }

  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// The server was killed after it had written this many bytes.
  void end_with(const std::string& all, std::size_t length) {
    server_.kill();
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(all.data(), static_cast<std::streamsize>(length));
    server_.start();
  }
  void crash() {
    server_.kill();
    server_.start();
  }

  /// Where each command after `from` begins, and a position inside it.
  [[nodiscard]] static std::vector<std::size_t> cuts(const std::string& all, std::size_t from) {
    std::vector<std::size_t> places;
    std::size_t offset = from;
    while (offset < all.size()) {
      places.insert(places.end(), {offset, offset + 3});
      std::size_t words = number(all, offset);
      while (words-- > 0) offset += number(all, offset) + 2;
    }
    return places;
  }

 private:
  /// Reads `*N` or `$N` and its line end.
  static std::size_t number(const std::string& all, std::size_t& offset) {
    const std::size_t end = all.find("\r\n", offset);
    if (end == std::string::npos) throw std::runtime_error("the AOF is not a sequence of commands");
    const std::size_t n = std::stoul(all.substr(offset + 1, end - offset - 1));
    offset = end + 2;
    return n;
  }

  redis_server& server_;
  std::filesystem::path path_;
};

}  // namespace everseen::test
