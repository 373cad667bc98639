#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/keys/keys.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

/// The keys of a command, of which some are counted before the first is used.
///
/// A file is read twice. The input from a pipe is kept in a temporary file without a name, since it may be
/// larger than memory.
class key_preview {
 public:
  /// @param arguments  as for key_source    @param separator  of lines, each of which is a key
  key_preview(const std::vector<std::string>& arguments, char separator);

  /// Reads until there are `enough` keys, or no more.    @pre called at most once, before next()
  /// @return the count; if it is less than `enough`, it is the count of all keys
  /// @throws storage_error  also without a temporary file
  [[nodiscard]] std::uint64_t count(std::uint64_t enough);

  /// As key_source::next, from the first key on.
  [[nodiscard]] bool next(std::vector<std::string_view>& keys);
  /// As key_source::place_of.
  [[nodiscard]] std::string place_of(std::size_t index) const { return source_.place_at(before_ + index); }

 private:
  [[nodiscard]] bool next_of_both(std::vector<std::string_view>& keys);
  [[nodiscard]] std::uint64_t keep(std::uint64_t enough);

  key_source source_;
  char separator_;
  bool ended_ = false;
  std::uint64_t before_ = 0;  // keys before those that next() returned last
  std::uint64_t last_ = 0;    // how many these are
  descriptor kept_{};
  std::optional<key_source> again_{};  // what is kept
};

}  // namespace everseen::cli
