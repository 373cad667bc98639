#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/image.hpp"
#include "everseen/core/segments.hpp"

namespace everseen::redis {

/// The keys of a filter, all named by its id: doc/format.md, "Names". Its name stands in the index
/// alone, so that giving it another one moves nothing.
///
/// The part in braces is the hash tag: all keys of one partition lie in one cluster slot, so that one script
/// may touch them all.
class filter_keys {
 public:
  filter_keys(std::string prefix, const image::filter_id& id)
      : prefix_(std::move(prefix)), id_(to_text(id)) {}

  /// 32 hexadecimal digits.
  [[nodiscard]] static std::string to_text(const image::filter_id& id);
  [[nodiscard]] static std::optional<image::filter_id> parse_id(std::string_view digits);

  /// Hash of the filters' names, each with its id. No filter's header has such a name.
  [[nodiscard]] static std::string index(const std::string& prefix) { return prefix + ":{names}"; }
  /// Beside it, in one cluster slot: the links, and the sign that there are names.
  [[nodiscard]] static std::string links(const std::string& prefix) { return index(prefix) + ":links"; }
  [[nodiscard]] static std::string sign(const std::string& prefix) { return index(prefix) + ":sign"; }

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::string header() const { return prefix_ + ":{" + id_ + "}"; }
  /// What a partition remembers beside bits and journal.
  [[nodiscard]] std::string state(std::uint32_t partition) const {
    return prefix_ + ":{" + id_ + "/" + std::to_string(partition) + "}";
  }
  [[nodiscard]] std::string segment(const segment_id& s) const {
    return state(s.partition) + ":" + std::to_string(s.slice) + "." + std::to_string(s.layer);
  }
  /// A part of the journal.
  [[nodiscard]] std::string chunk(std::uint32_t partition, std::uint64_t number) const {
    return state(partition) + ":j" + std::to_string(number);
  }

 private:
  std::string prefix_;
  std::string id_;
};

/// 128 random bits in hexadecimal digits: a name that nothing else has.
[[nodiscard]] inline std::string random_word() {
  return filter_keys::to_text(image::random_filter_id());
}

}  // namespace everseen::redis
