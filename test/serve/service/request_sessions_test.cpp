#include "everseen/serve/service/request_sessions.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::serve {
namespace {

using testing::StartsWith;

class RequestSessions : public testing::Test {
 protected:
  std::string run(std::uint64_t number, const std::string& answer, bool ends = false) {
    return sessions_.run("s", number, time_, [&] {
      ++judged_;
      return request_sessions::answer{answer, ends};
    });
  }
  std::string refusal(std::uint64_t number) {
    try {
      return "answered " + run(number, "?");
    } catch (const serve::refusal& why) {
      return why.text;
    }
  }

  request_sessions sessions_{};
  request_sessions::clock::time_point time_{};
  int judged_ = 0;
};

TEST_F(RequestSessions, ResentBatchIsNotJudgedAgain) {
  sessions_.begin("s", time_);
  EXPECT_EQ(run(1, "one"), "one");
  EXPECT_EQ(run(2, "two"), "two");
  EXPECT_EQ(run(1, "other"), "one");
  EXPECT_EQ(run(2, "other"), "two");
  EXPECT_EQ(judged_, 2);
}

TEST_F(RequestSessions, BatchBeforeItsTurnIsRefused) {
  sessions_.begin("s", time_);
  EXPECT_THAT(refusal(2), StartsWith("EARLY"));
  run(1, "one");
  EXPECT_EQ(run(2, "two"), "two");
}

TEST_F(RequestSessions, NothingIsJudgedAfterAFailure) {
  sessions_.begin("s", time_);
  EXPECT_EQ(run(1, "failed", true), "failed");
  EXPECT_THAT(refusal(2), StartsWith("ENDED"));
  EXPECT_THAT(refusal(3), StartsWith("ENDED"));
  EXPECT_EQ(run(1, "other"), "failed") << "its answer may have been lost";
  EXPECT_EQ(judged_, 1);
}

TEST_F(RequestSessions, UnknownSessionIsRefused) {
  EXPECT_THAT(refusal(1), StartsWith("NOSESSION"));
  EXPECT_EQ(judged_, 0);
}

TEST_F(RequestSessions, ForgottenAnswerIsRefusedAndNotJudgedAgain) {
  sessions_.begin("s", time_);
  for (std::uint64_t i = 1; i <= wire::requests_in_flight + 1; ++i) run(i, std::to_string(i));
  EXPECT_THAT(refusal(1), StartsWith("NOSESSION"));
  EXPECT_THAT(refusal(0), StartsWith("NOSESSION"));
  EXPECT_EQ(run(2, "other"), "2");
}

TEST_F(RequestSessions, IdIsTakenOnce) {
  sessions_.begin("s", time_);
  run(1, "one");
  EXPECT_THROW(sessions_.begin("s", time_), serve::refusal) << "two clients would share the numbers";
  EXPECT_EQ(run(1, "other"), "one");
}

TEST_F(RequestSessions, BatchThatFailedWithAnExceptionIsNotJudgedAgain) {
  sessions_.begin("s", time_);
  EXPECT_THROW(
      (void)sessions_.run("s", 1, time_, []() -> request_sessions::answer { throw std::bad_alloc(); }),
      std::bad_alloc);
  EXPECT_THAT(refusal(1), StartsWith("NOSESSION"));
  EXPECT_THAT(refusal(2), StartsWith("ENDED"));
  EXPECT_EQ(judged_, 0);
}

TEST_F(RequestSessions, BatchThatCouldNotBeginIsJudgedWhenItComesAgain) {
  sessions_.begin("s", time_);
  run(1, "one");
  const auto not_yet = []() -> request_sessions::answer { throw request_sessions::not_begun{{"BUSY"}}; };
  EXPECT_THROW((void)sessions_.run("s", 2, time_, not_yet), request_sessions::not_begun);
  EXPECT_THAT(refusal(3), StartsWith("EARLY"));
  EXPECT_EQ(run(1, "other"), "one");
  EXPECT_EQ(run(2, "two"), "two");
  EXPECT_EQ(judged_, 2);
}

TEST_F(RequestSessions, IdleSessionEndsWhenAnotherBegins) {
  sessions_.begin("s", time_);
  time_ += wire::session_idle - std::chrono::minutes(1);
  run(1, "one");
  time_ += wire::session_idle - std::chrono::minutes(1);
  sessions_.begin("t", time_);
  EXPECT_EQ(run(1, "other"), "one");
  time_ += wire::session_idle + std::chrono::minutes(1);
  sessions_.begin("u", time_);
  EXPECT_THAT(refusal(2), StartsWith("NOSESSION"));
}

TEST_F(RequestSessions, AnswersOfAllSessionsTakeBoundedMemory) {
  const std::string long_answer(1 << 20, 'x');
  sessions_.begin("s", time_);
  run(1, "one");
  for (int i = 0; i < 70; ++i) {
    const std::string id = "other" + std::to_string(i);
    sessions_.begin(id, time_);
    (void)sessions_.run(id, 1, time_, [&] { return request_sessions::answer{long_answer, false}; });
  }
  EXPECT_THAT(refusal(2), StartsWith("NOSESSION")) << "the longest unused one is forgotten";
}

TEST_F(RequestSessions, SessionsWithoutAnswersTakeBoundedMemoryToo) {
  sessions_.begin("s", time_);
  for (int i = 0; i < 70'000; ++i) sessions_.begin("other" + std::to_string(i), time_);
  EXPECT_THAT(refusal(1), StartsWith("NOSESSION"));
}

TEST_F(RequestSessions, AnswerOfAReplacedSessionIsNotCounted) {
  sessions_.begin("s", time_);
  (void)sessions_.run("s", 1, time_, [&] {
    time_ += wire::session_idle + std::chrono::minutes(1);
    sessions_.begin("other", time_);
    sessions_.begin("s", time_);
    return request_sessions::answer{std::string(40 << 20, 'x'), false};
  });
  sessions_.begin("last", time_);
  const std::string answer(30 << 20, 'x');
  EXPECT_EQ(sessions_.run("other", 1, time_,
                          [&] {
                            return request_sessions::answer{answer, false};
                          }),
            answer);
  EXPECT_EQ(run(1, "one"), "one") << "nothing had to give way";
}

TEST_F(RequestSessions, RefusesInvalidIds) {
  EXPECT_THROW(sessions_.begin("", time_), serve::refusal);
  EXPECT_THROW(sessions_.begin(std::string(65, 'x'), time_), serve::refusal);
}

// Promise: a request of a session is run once, on whatever connection it comes (operations, Requests that run
// once).
TEST_F(RequestSessions, OfManyConnectionsThatSendABatchOneIsJudged) {
  sessions_.begin("s", time_);
  std::vector<std::thread> all;
  std::vector<std::string> answers(4);
  for (std::size_t i = 0; i < answers.size(); ++i)
    all.emplace_back([&, i] {
      while (answers[i].empty()) try {
          answers[i] = sessions_.run("s", 1, time_, [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            return request_sessions::answer{std::to_string(++judged_), false};
          });
        } catch (const serve::refusal& why) {
          ASSERT_THAT(why.text, StartsWith("BUSY"));
          std::this_thread::yield();
        }
    });
  for (std::thread& t : all) t.join();
  EXPECT_THAT(answers, testing::Each("1"));
}

TEST_F(RequestSessions, RepeatOfABatchThatIsBeingJudgedOccupiesNoThread) {
  sessions_.begin("s", time_);
  std::string reason;
  (void)sessions_.run("s", 1, time_, [&] {
    std::thread([&] { reason = refusal(1); }).join();
    return request_sessions::answer{"one", false};
  });
  EXPECT_THAT(reason, StartsWith("BUSY"));
}

}  // namespace
}  // namespace everseen::serve
