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

}  // namespace
}  // namespace everseen
