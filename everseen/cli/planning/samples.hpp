/// The sample streams of `everseen gen`: pure functions from a seed and a record's number to its line.

#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::cli {

/// Random numbers for one sample record: Steele, Lea and Flood's SplitMix64 (public domain). It uses only
/// integers, so a sample is the same on every machine.
///
/// Each record has its own sequence, a function of the seed and the record's number alone. So an earlier
/// record can be generated again at any time, and repeats need no memory.
class sample_random {
 public:
  sample_random(std::uint64_t seed, std::uint64_t record) noexcept
      : state_(mix(mix(seed) + record * 0x9E3779B97F4A7C15)) {}

  [[nodiscard]] std::uint64_t next() noexcept { return mix(state_ += 0xD1B54A32D192ED03); }

  /// Uniform in [0, range).
  [[nodiscard]] std::uint64_t below(std::uint64_t range) noexcept { return draw::reduce(next(), range); }

  /// The finalizer of SplitMix64: a bijection in which every input bit moves every output bit.
  [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t state_;
};

/// True for a fixed share of records.
class sample_share {
 public:
  explicit sample_share(double share) noexcept
      : all_(share >= 1), limit_(all_ ? 0 : static_cast<std::uint64_t>(std::ldexp(share, 64))) {}
  [[nodiscard]] bool operator()(std::uint64_t random) const noexcept { return all_ || random < limit_; }

 private:
  bool all_;
  std::uint64_t limit_;
};

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
