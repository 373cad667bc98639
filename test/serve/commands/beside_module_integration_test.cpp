// The same EVERSEEN.* requests to `everseen serve` and to a server with the module: the same replies.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

/// All of a reply, as text. Numbers are as programs read them: servers write them with 17 digits.
std::string whole(const reply& r) {
  std::string all = r.type == ',' ? "," + std::to_string(std::stod(r.text)) : r.type + r.text;
  for (const reply& part : r.parts) all += " (" + whole(part) + ")";
  return all;
}

class BesideModule : public testing::Test {
 protected:
  void answers_alike(const std::string& line) {
    EXPECT_EQ(whole(ask(ours_, line)), whole(ask(theirs_, line))) << line;
  }
  /// Each line of a text.
  void answer_alike(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end > 0) answers_alike(std::string(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
  }

  serving server_{};
  redis_server with_module_{with_module()};
  raw_client ours_{server_.path()};
  raw_client theirs_{with_module_.unix_path()};
};

constexpr std::string_view requests = R"(
EVERSEEN.RESERVE f 0.000001 1000
EVERSEEN.RESERVE f 0.000001 1000
EVERSEEN.ADD f ITEMS alice bob alice
EVERSEEN.ADD f items alice carol
EVERSEEN.CHECK f ITEMS alice dave
EVERSEEN.INFO f
EVERSEEN.RESERVE w 0.000001 1000 WINDOW 60000 SLICES 6
EVERSEEN.ADD w TIME 1000000 ITEMS a a b
EVERSEEN.ADD w TIME 1100000 ITEMS a
EVERSEEN.CHECK w time 1000000 ITEMS a
EVERSEEN.CHECK w TIME 1100000 ITEMS a TIME ITEMS
EVERSEEN.ADD w ITEMS a
EVERSEEN.ADD w TIME 1000000 ITEMS a
EVERSEEN.INFO w
EVERSEEN.RESERVE n 0.000001 2 NONSCALING SIPHASH
EVERSEEN.ADD n ITEMS a b c a
EVERSEEN.INFO n
EVERSEEN.RESERVE x 0.01 100 XXH3 SLICES 12 WINDOW 120000
EVERSEEN.INFO x
EVERSEEN.ADD f alice bob
EVERSEEN.ADD f alice
EVERSEEN.ADD f ITEMS
EVERSEEN.ADD f TIME 5
EVERSEEN.ADD f TIME 5 ITEMS
EVERSEEN.ADD f TIME x ITEMS a
EVERSEEN.ADD f TIME 1000000 ITEMS a
EVERSEEN.CHECK f TIME 1000000 ITEMS a
EVERSEEN.CHECK f alice bob
EVERSEEN.ADD none ITEMS a
EVERSEEN.CHECK none ITEMS a
EVERSEEN.INFO none
EVERSEEN.INFO
EVERSEEN.INFO f keys
EVERSEEN.RESERVE g 0.01
EVERSEEN.RESERVE g x 100
EVERSEEN.RESERVE g 2 100
EVERSEEN.RESERVE g 1e-16 100
EVERSEEN.RESERVE g 0.01 0
EVERSEEN.RESERVE g 0.01 x
EVERSEEN.RESERVE g 0.01 100 WINDOW
EVERSEEN.RESERVE g 0.01 100 WINDOW 0
EVERSEEN.RESERVE g 0.01 100 WINDOW x
EVERSEEN.RESERVE g 0.01 100 WINDOW 100 SLICES 7
EVERSEEN.RESERVE g 0.01 100 SLICES 3
EVERSEEN.RESERVE g 0.01 100 WINDOW 1000 SLICES 0
EVERSEEN.RESERVE g 0.01 100 SIPHASH XXH3
EVERSEEN.RESERVE g 0.01 100 NONE 3
EVERSEEN.RESERVE g 0.01 100 EXPANSION 2
DEL f w n x
)";

// Promise: a command means the same, and has the same reply, in a server with the module and in `everseen
// serve` (commands, Commands of everseen).
TEST_F(BesideModule, AnswersAlikeInBothProtocols) {
  answer_alike(requests);
  if (with_module_.run({"INFO", "server"}).find("redis_version:6") != std::string::npos)
    GTEST_SKIP() << "modules know no maps before Redis 7.0";
  ask(ours_, "HELLO 3");
  ask(theirs_, "HELLO 3");
  answer_alike(requests);
}

TEST_F(BesideModule, RefusesTheSameTimes) {
  using namespace std::chrono;
  answers_alike("EVERSEEN.RESERVE w 0.000001 1000 WINDOW 60000");
  const auto current_s = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
  answers_alike("EVERSEEN.ADD w TIME " + std::to_string(current_s) + " ITEMS a");
  const std::string ahead = "EVERSEEN.ADD w TIME 2524608000000 ITEMS a";  // the text has the clock's time
  const auto beginning = [](const reply& r) { return r.text.substr(0, r.text.find("takes times up to")); };
  EXPECT_EQ(beginning(ask(ours_, ahead)), beginning(ask(theirs_, ahead)));
  EXPECT_NE(beginning(ask(ours_, ahead)), "");
}

}  // namespace
}  // namespace everseen::test
