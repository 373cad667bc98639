#include "everseen/core/commands/request.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::commands {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> all;
  while (!line.empty()) {
    all.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(line.size(), all.back().size() + 1));
  }
  return all;
}

template <typename Parse>
std::string refusal_of(std::string_view line, Parse parse) {
  try {
    (void)parse(split(line));
    return "none";
  } catch (const refusal& why) {
    return why.text;
  }
}

TEST(ItemWords, HaveATimeOrNone) {
  const items plain = parse_items(split("EVERSEEN.ADD f ITEMS a b"));
  EXPECT_EQ(plain.first, 3U);
  EXPECT_FALSE(plain.time_ms);
  const items timed = parse_items(split("EVERSEEN.ADD f time -5 items TIME"));
  EXPECT_EQ(timed.first, 5U);
  EXPECT_EQ(timed.time_ms, -5);
}

TEST(ItemWords, WithoutItemsAreRefused) {
  EXPECT_EQ(refusal_of("EVERSEEN.ADD f ITEMS", parse_items), "") << "too few words";
  for (const char* line : {"EVERSEEN.ADD f a", "EVERSEEN.ADD f a b", "EVERSEEN.ADD f TIME 5",
                           "EVERSEEN.ADD f TIME 5 TIME 6 ITEMS a"})
    EXPECT_EQ(refusal_of(line, parse_items), "ERR syntax error: the items follow the word ITEMS") << line;
  EXPECT_EQ(refusal_of("EVERSEEN.ADD f TIME", parse_items), "ERR syntax error: a word has no value");
  EXPECT_EQ(refusal_of("EVERSEEN.ADD f TIME x ITEMS a", parse_items),
            "ERR 'x' is not a whole number from -9223372036854775808 to 9223372036854775807");
}

TEST(ReserveWords, AreReadInAnyOrder) {
  const spec_request r =
      parse_reserve(split("EVERSEEN.RESERVE f 0.01 50 xxh3 SLICES 6 NONSCALING WINDOW 600")).spec;
  EXPECT_EQ(r.capacity, 50U);
  EXPECT_EQ(r.error_rate, 0.01);
  EXPECT_EQ(r.hash, hash_kind::xxh3);
  EXPECT_EQ(r.growth, growth_kind::refuse);
  EXPECT_EQ(r.window, (window_spec{std::chrono::milliseconds(600), 6}));
  EXPECT_EQ(parse_reserve(split("EVERSEEN.RESERVE f 0.01 50 WINDOW 600")).spec.window->slices,
            default_slices);
}

TEST(ReserveWords, ThatAreNoneAreRefusedWithThoseThatAre) {
  for (const char* options : {"NONE", "EXPANSION 2", "SIPHASH XXH3", "PX 1000"})
    EXPECT_EQ(refusal_of("EVERSEEN.RESERVE f 0.01 50 " + std::string(options), parse_reserve),
              "ERR syntax error: the options are WINDOW ms, SLICES n, NONSCALING, and SIPHASH or XXH3")
        << options;
  EXPECT_EQ(refusal_of("EVERSEEN.RESERVE f 0.01 50 SLICES 5", parse_reserve),
            "ERR SLICES is for a filter with a WINDOW");
  EXPECT_EQ(refusal_of("EVERSEEN.RESERVE f 0.01", parse_reserve), "") << "too few words";
  for (const char* ms : {"0", "-1", "x", "3153600000001"})
    EXPECT_EQ(refusal_of("EVERSEEN.RESERVE f 0.01 50 WINDOW " + std::string(ms), parse_reserve),
              "ERR '" + std::string(ms) + "' is not a whole number from 1 to 3153600000000");
}

}  // namespace
}  // namespace everseen::commands
