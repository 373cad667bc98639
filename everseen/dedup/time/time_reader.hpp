#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/spec/spec.hpp"

/// Times that do not say everything themselves: their zone, or their form, is known to the user alone.
namespace everseen {

/// Where times without a zone belong.
///
/// Clocks that are set back make an hour that occurs twice, and clocks that are set forward one that does not
/// occur. Of the former, the first occurrence is taken. A time of the latter counts as if the clocks had not
/// been set yet: 02:30 is then 03:30.
/// Threads: one at a time; copies are independent.
class time_zone {
 public:
  /// An offset as in UTC or +01:00, or a name of the system's time zone database, as in Europe/Berlin.
  ///
  /// A named zone becomes that of this process (TZ), since the C library knows no more than one: no second
  /// one may be in use, and no other threads yet.
  /// @throws parameter_error  no such zone is known here
  [[nodiscard]] static time_zone of(std::string_view text);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// @param local  a time of this zone, as if it were of UTC
  [[nodiscard]] event_time to_utc(event_time local) noexcept;
  /// A moment as this zone's clocks show it, as if they were of UTC.
  [[nodiscard]] event_time to_local(event_time moment) const noexcept;

 private:
  time_zone(std::string_view name, std::optional<std::chrono::minutes> east) : name_(name), east_(east) {}

  std::string name_;
  std::optional<std::chrono::minutes> east_;     // of Greenwich; nothing: as the C library says
  event_time known_minute_ = event_time::min();  // asking it costs as much as the rest of a record
  std::chrono::milliseconds known_east_{};
};

/// Reads times in the forms of parse_event_time(), or in one other form.
///
/// Threads: one at a time; copies are independent.
class time_reader {
 public:
  time_reader() = default;
  /// @param format  of strptime(3), and %f for a fraction of a second; or a unit (is_unit): numbers of it
  /// since
  ///   1970, with a fraction or not; empty: the forms of parse_event_time()
  /// @param zone    of times and dates that name none
  /// @throws parameter_error  the format has no year, or is of times without a zone, and `zone` is none
  explicit time_reader(std::string format, std::optional<time_zone> zone);

  /// s, ms, us or ns.
  [[nodiscard]] static bool is_unit(std::string_view text) noexcept;

  [[nodiscard]] std::optional<event_time> read(std::string_view text) noexcept;

  [[nodiscard]] const std::string& format() const noexcept { return format_; }
  [[nodiscard]] const std::optional<time_zone>& zone() const noexcept { return zone_; }

  /// What to do about a text that read() refused.
  [[nodiscard]] std::string advice(std::string_view text) const;

 private:
  [[nodiscard]] std::optional<event_time> read_by_format(std::string_view text) noexcept;

  std::string format_{};
  struct fraction_place {
    std::string before;   // it
    std::string removed;  // the whole without it
  };
  std::optional<fraction_place> fraction_{};  // where %f is
  bool format_has_zone_ = false;
  std::uint64_t ns_per_unit_ = 0;  // 0: the format is no unit
  std::optional<time_zone> zone_{};
};

}  // namespace everseen
