#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace everseen::test {

/// How click events are distributed over time.
struct click_shape {
  /// The time over which events advance, out of order by up to a minute; zero: random times within an hour.
  std::chrono::minutes span{0};
  /// Some events arrive half an hour too late. For jobs with a window of ten minutes.
  bool some_are_late = false;
};

/// Click events with repeats, and the expected results, computed without code of everseen.
///
/// Late events come only after every partition of a filter has had others, also if each is one of several
/// lanes; a repeat comes within ten minutes of the first.
struct click_stream {
  std::vector<std::string> lines{};
  std::map<std::string, std::string> first_lines{};          ///< by id; without late ones
  std::map<std::string, std::int64_t> by_minute_and_site{};  ///< as `2025-01-01T00:10:00Z,news`
  std::set<std::string> late{};
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] click_stream make_clicks(std::uint64_t seed, std::size_t count, const click_shape& shape = {});

/// The fault of the output; empty if there is none. Each fresh event must occur once, or at least once
/// (`may_repeat`), as its first line.
[[nodiscard]] std::string fault_of_lines(const click_stream& clicks, const std::string& text,
                                         bool may_repeat);

}  // namespace everseen::test
