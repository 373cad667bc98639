#include "everseen/core/base/outage.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace everseen {
namespace {

using cause = batch_failure::cause;

batch_failure failed(cause why, int code = 0) {
  return {.why = why, .message = "failed", .done = {}, .code = code};
}

TEST(Outage, IsAStoreThatGivesNoAnswer) {
  EXPECT_TRUE(is_outage(failed(cause::backend)));
  EXPECT_TRUE(is_outage(backend_error("no answer")));
  EXPECT_TRUE(is_outage(failed(cause::storage, ENOSPC)));
  EXPECT_TRUE(is_outage(storage_error("no room", ENOSPC, "/data/f")));
}

TEST(Outage, IsNotAnAnswerAboutAFilter) {
  EXPECT_FALSE(is_outage(failed(cause::storage)));
  EXPECT_FALSE(is_outage(storage_error("the filter is gone", 0, "/data/f")));
  EXPECT_FALSE(is_outage(failed(cause::full, ENOMEM)));
  EXPECT_FALSE(is_outage(failed(cause::key)));
  EXPECT_FALSE(is_outage(failed(cause::format)));
}

}  // namespace
}  // namespace everseen
