#include "everseen/core/base/error.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace everseen {
namespace {

TEST(BatchFailure, KeepsTheDetailsOfAStorageError) {
  batch_failure failure;
  try {
    throw storage_error("no room", ENOSPC, "/data/f");
  } catch (...) {
    failure = batch_failure::from_current_exception();
  }
  try {
    failure.raise();
  } catch (const storage_error& e) {
    EXPECT_STREQ(e.what(), "no room");
    EXPECT_EQ(e.code(), ENOSPC);
    EXPECT_EQ(e.path(), "/data/f");
  }
}

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
