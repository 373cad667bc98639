#include <array>
#include <string>

#include <gtest/gtest.h>

#include "everseen/cli/planning/samples.hpp"

namespace everseen::cli {
namespace {

/// FNV-1a of the first 100,000 lines.
template <typename Sample>
std::uint64_t fingerprint(const Sample& sample, const repeats& order) {
  std::uint64_t hash = 0xcbf29ce484222325;
  std::array<char, Sample::max_chars + 1> line;
  for (std::uint64_t place = 0; place < 100'000; ++place) {
    char* end = sample.write(order.record_at(place), line.data());
    *end++ = '\n';
    for (const char* c = line.data(); c != end; ++c)
      hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
  }
  return hash;
}

const repeats none(1, 0, 0);

TEST(SamplesGolden, WordsNeverChange) {
  EXPECT_EQ(fingerprint(sample_words(1), none), 454555732720465020U);
  EXPECT_EQ(fingerprint(sample_words(2), none), 16562451266499471591U);
}

TEST(SamplesGolden, IdsNeverChange) {
  EXPECT_EQ(fingerprint(sample_ids(1, 1, 10'000'000'000), none), 15383248085572107052U);
}

TEST(SamplesGolden, ClicksNeverChange) {
  click_options options;
  EXPECT_EQ(fingerprint(sample_clicks(1, options), none), 12577716172952990855U);
  options.lines = click_options::format::csv;
  options.times = click_options::time_format::milliseconds;
  options.disorder = std::chrono::seconds(10);
  options.late = 0.01;
  options.late_by = std::chrono::hours(1);
  options.start = event_time(std::chrono::milliseconds(1'700'000'000'000));
  EXPECT_EQ(fingerprint(sample_clicks(7, options), none), 18417677830844842595U);
}

TEST(SamplesGolden, RepeatsNeverChange) {
  EXPECT_EQ(fingerprint(sample_words(1), repeats(1, 0.25, 0)), 4947636826304857063U);
  EXPECT_EQ(fingerprint(sample_words(1), repeats(1, 0.25, 1000)), 17775406514394124454U);
}

}  // namespace
}  // namespace everseen::cli
