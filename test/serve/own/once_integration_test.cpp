// EVERSEEN.ONCE: commands that run once, however often a client sends them.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"

namespace everseen::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Once : public testing::Test {
 protected:
  Once() { EXPECT_EQ(said("EVERSEEN.SESSION s"), "OK"); }
  std::string said(const std::string& request) { return ask(client_, request).text; }

  serving server_{};
  raw_client client_{server_.path()};
};

TEST_F(Once, CommandThatIsSentAgainGetsItsFirstAnswer) {
  EXPECT_EQ(said("EVERSEEN.ONCE s 1 BF.ADD a x"), "1");
  EXPECT_EQ(said("EVERSEEN.ONCE s 1 BF.ADD a x"), "1");
  EXPECT_EQ(said("EVERSEEN.ONCE s 2 DEL a"), "1");
  EXPECT_EQ(said("BF.ADD a x"), "1");
  raw_client another(server_.path());
  EXPECT_EQ(ask(another, "EVERSEEN.ONCE s 2 DEL a").text, "1");
  EXPECT_EQ(said("BF.EXISTS a x"), "1") << "it was not dropped again";
}

TEST_F(Once, AnswerOfSeveralPartsIsRememberedWhole) {
  for (int i = 0; i < 2; ++i) {
    const reply verdicts = ask(client_, "EVERSEEN.ONCE s 1 BF.MADD a x y x");
    ASSERT_EQ(verdicts.parts.size(), 3U);
    EXPECT_EQ(verdicts.parts[0].text + verdicts.parts[1].text + verdicts.parts[2].text, "110");
  }
  EXPECT_EQ(said("PING"), "PONG") << "the replies are in step";
}

TEST_F(Once, ErrorIsAnAnswerThatIsRememberedAndEndsNoSession) {
  EXPECT_THAT(said("EVERSEEN.ONCE s 1 RENAME a b"), HasSubstr("no such key"));
  EXPECT_EQ(said("BF.ADD a x"), "1");
  EXPECT_THAT(said("EVERSEEN.ONCE s 1 RENAME a b"), HasSubstr("no such key"));
  EXPECT_EQ(said("EVERSEEN.ONCE s 2 RENAME a b"), "OK");
}

TEST_F(Once, SharesItsNumbersWithBatches) {
  EXPECT_EQ(said("EVERSEEN.ONCE s 1 BF.RESERVE a 0.01 100"), "OK");
  EXPECT_EQ(said("EVERSEEN.ADD a SESSION s 2 DIGITS ITEMS x"), "0");
  EXPECT_THAT(said("EVERSEEN.ONCE s 4 DEL a"), StartsWith("EARLY"));
  EXPECT_EQ(said("EVERSEEN.ONCE s 3 DEL a"), "1");
}

TEST_F(Once, RunsNothingThatHasASessionOfItsOwnOrChangesNoFilter) {
  for (const std::string refused :
       {"EVERSEEN.ONCE s 2 DEL a", "EVERSEEN.ADD a SESSION s 1 DIGITS ITEMS x", "EVERSEEN.SESSION t",
        "BF.EXISTS a x", "FLUSHALL SYNC", "SHUTDOWN NOSAVE", "EXEC now", "MULTI now", "QUIT now"})
    EXPECT_THAT(said("EVERSEEN.ONCE s 1 " + refused),
                StartsWith("ERR EVERSEEN.ONCE runs commands that change filters and have no session"))
        << refused;
  EXPECT_THAT(said("EVERSEEN.ONCE s 1 NONSENSE a"), StartsWith("ERR unknown command"));
  EXPECT_THAT(said("EVERSEEN.ONCE s 1 RENAME a"), StartsWith("ERR wrong number of arguments"));
  EXPECT_THAT(said("EVERSEEN.ONCE s 0 DEL a"), StartsWith("ERR the number"));
  EXPECT_EQ(said("EVERSEEN.ONCE s 1 DEL a"), "0") << "no number was used up";
}

TEST_F(Once, RunsInATransactionToo) {
  EXPECT_EQ(said("MULTI"), "OK");
  EXPECT_EQ(said("EVERSEEN.ONCE s 1 BF.ADD a x"), "QUEUED");
  EXPECT_EQ(said("EVERSEEN.ONCE s 1 BF.ADD a x"), "QUEUED");
  const reply all = ask(client_, "EXEC");
  ASSERT_EQ(all.parts.size(), 2U);
  EXPECT_EQ(all.parts[0].text + all.parts[1].text, "11");
}

TEST(OnceWithUsers, NeedsTheRightToWrite) {
  const serving server("mem:", {"--user", "reader:secret:read"});
  raw_client client(server.path());
  EXPECT_EQ(ask(client, "AUTH reader secret").text, "OK");
  EXPECT_THAT(ask(client, "EVERSEEN.ONCE s 1 DEL a").text, StartsWith("NOPERM"));
}

}  // namespace
}  // namespace everseen::test
