#include "everseen/jobs/job_marks.hpp"

#include <gtest/gtest.h>

namespace everseen::job_marks {
namespace {

TEST(JobMarks, DistinguishLanesFromOtherCheckpoints) {
  EXPECT_TRUE(is_of_a_lane("web-1:/var/log/clicks"));
  EXPECT_TRUE(is_of_a_lane("clicks/3"));
  EXPECT_FALSE(is_of_a_lane(sink("web-1", "/data/fresh")));
  EXPECT_FALSE(is_of_a_lane(last_settled));
}

TEST(JobMarks, FindTheLastSinkOfAWorker) {
  checkpoints known;
  const auto put = [&](const std::string& name, std::uint64_t order) { known[name] = {name, order, ""}; };
  EXPECT_FALSE(last_sink(known, "web-1"));
  put(sink("web-1", "/z"), 0);
  put(sink("web-1", "/a"), 1);
  put(sink("web-2", "/other"), 7);
  put("web-1:/read", 99);
  EXPECT_EQ(last_sink(known, "web-1")->target, "/a");
  EXPECT_EQ(last_sink(known, "web-1")->order, 1U);
  put(sink("", "counts"), 2);
  EXPECT_EQ(last_sink(known, "web-1")->target, "counts");
  EXPECT_EQ(last_sink(known, "web-2")->target, "/other");
}

}  // namespace
}  // namespace everseen::job_marks
