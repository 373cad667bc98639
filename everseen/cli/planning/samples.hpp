#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "everseen/cli/planning/sample_random.hpp"
#include "everseen/core/spec/spec.hpp"

/// The sample streams of `everseen gen`: pure functions from a seed and a record's number to its line.
namespace everseen::cli {

/// Which record is at a place of the stream: its own, or, for a fraction of places, a repeat of an earlier
/// one.
class repeats {
 public:
  /// @param reach  how many places back the original may be; 0: anywhere
  repeats(std::uint64_t seed, double share, std::uint64_t reach) noexcept
      : seed_(~seed), again_(share), none_(share <= 0), reach_(reach) {}

  /// The record at `place`. A repeat may refer to another repeat, so the chain is followed to the original.
  /// Cost: one draw, and for a repeat about log(place) at worst.
  [[nodiscard]] std::uint64_t record_at(std::uint64_t place) const noexcept {
    if (none_) return place;
    while (place > 0) {
      sample_random random(seed_, place);
      if (!again_(random.next())) break;
      place -= 1 + random.below(reach_ == 0 || reach_ > place ? place : reach_);
    }
    return place;
  }

 private:
  std::uint64_t seed_;
  sample_share again_;
  bool none_;
  std::uint64_t reach_;
};

/// Lower-case words of 4 to 12 letters, all lengths and letters equally likely.
class sample_words {
 public:
  static constexpr std::size_t max_chars = 12;
  explicit sample_words(std::uint64_t seed) noexcept : seed_(seed) {}
  /// Writes a word and returns its end.
  char* write(std::uint64_t record, char* out) const noexcept;

 private:
  std::uint64_t seed_;
};

/// Whole numbers, uniform in a range.
class sample_ids {
 public:
  static constexpr std::size_t max_chars = 20;
  sample_ids(std::uint64_t seed, std::uint64_t first, std::uint64_t count) noexcept
      : seed_(seed), first_(first), count_(count) {}
  char* write(std::uint64_t record, char* out) const noexcept;

 private:
  std::uint64_t seed_, first_, count_;
};

/// The format of a sample's click events.
struct click_options {
  enum class format : std::uint8_t { json, csv };
  enum class time_format : std::uint8_t { rfc3339, milliseconds };

  format lines = format::json;
  time_format times = time_format::rfc3339;
  event_time start{};
  std::uint64_t events_a_second = 1000;
  std::chrono::milliseconds disorder{0};  ///< every event's time is up to this far back
  double late = 0;                        ///< fraction of events whose time is up to late_by back
  std::chrono::milliseconds late_by{0};
  std::uint64_t users = 1'000'000;
};

/// Click events, each with a unique id, as lines of JSON or CSV.
class sample_clicks {
 public:
  static constexpr std::size_t max_chars = 160;
  sample_clicks(std::uint64_t seed, const click_options& options) noexcept
      : seed_(seed), late_(options.late), options_(options) {}
  char* write(std::uint64_t record, char* out) const noexcept;

 private:
  [[nodiscard]] event_time time_of(std::uint64_t record, sample_random& random) const noexcept;

  std::uint64_t seed_;
  sample_share late_;
  click_options options_;
};

}  // namespace everseen::cli
