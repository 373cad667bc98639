// Several processes that share one directory.

#include <memory>

#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/child_process.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace test;
using namespace std::chrono_literals;

spec growing() {
  return make_spec({.capacity = 100, .error_rate = 1e-9, .seed = hash_seed{}, .partitions = 2});
}

// Promise: a reader sees every key that a writer elsewhere acknowledged (files, Readers and writers).
TEST(FileProcesses, ReaderSeesEveryKeyThatAWriterElsewhereAcknowledged) {
  const scratch_directory scratch;
  constexpr int batches = 60;
  const auto keys_of = [](int batch) { return random_digests(static_cast<std::uint64_t>(batch)).take(50); };
  const auto time_of = [](int batch) { return event_time(batch * 4s); };
  spec s = growing();
  s.window = window_spec{60s, 3};
  file_store(scratch.path(), sync_policy::never).create("f", s).reset();

  child_process writer([&](const child_process::tell& tell) {
    file_store filters(scratch.path(), sync_policy::never);
    const auto filter = filters.open("f", access::write);
    for (int batch = 0; batch < batches; ++batch)
      if (add_keys(*filter, keys_of(batch), time_of(batch)).result) tell(batch);
  });
  file_store filters(scratch.path(), sync_policy::never);
  const auto reader = filters.open("f", access::read);
  int last = -1;
  while (const auto batch = writer.next()) {
    last = *batch;
    const answers got = check_keys(*reader, keys_of(last), time_of(last));
    ASSERT_TRUE(got.result) << got.result.error().message;
    // The writer is ahead, but by less than a window within the time of a look-up: otherwise keys would be
    // late.
    for (const verdict v : got.verdicts) ASSERT_TRUE(v == verdict::seen || v == verdict::late) << last;
  }
  EXPECT_EQ(last, batches - 1);
  EXPECT_EQ(tally_of(check_keys(*reader, keys_of(last), time_of(last))).seen, 50u);
}

// Promise: of many processes that create a filter exactly one succeeds (files, Durability).
TEST(FileProcesses, OfManyThatCreateAFilterExactlyOneSucceeds) {
  const scratch_directory scratch;
  enum { created = 1, existed = 2, wrong = 3 };
  for (int round = 0; round < 20; ++round) {
    const std::string name = "f" + std::to_string(round);
    std::vector<std::unique_ptr<child_process>> children;
    for (int i = 0; i < 4; ++i)
      children.push_back(std::make_unique<child_process>([&](const child_process::tell& tell) {
        try {
          file_store filters(scratch.path(), sync_policy::never);
          const auto filter = filters.create(name, growing());
          tell(add_keys(*filter, random_digests(1).take(10)).result ? created : wrong);
        } catch (const parameter_error&) {
          tell(existed);
        } catch (...) {
          tell(wrong);
        }
      }));
    int winners = 0;
    for (const auto& child : children) {
      const auto told = child->next();
      ASSERT_TRUE(told == created || told == existed) << round;
      winners += told == created;
    }
    EXPECT_EQ(winners, 1);
    children.clear();
    EXPECT_EQ(keys_in(*file_store(scratch.path()).open(name, access::read)), 10u);
  }
}

// Promise: a second writer is refused, and the lock of a killed one is free (files, Readers and writers).
TEST(FileProcesses, WriterElsewhereIsRefusedAndTheLockOfAKilledWriterIsFree) {
  const scratch_directory scratch;
  file_store filters(scratch.path(), sync_policy::never);
  filters.create("f", growing()).reset();
  child_process writer([&](const child_process::tell& tell) {
    file_store own(scratch.path(), sync_policy::never);
    const auto filter = own.open("f", access::write);
    tell(1);
    ::pause();
  });
  ASSERT_TRUE(writer.next());
  EXPECT_THROW((void)filters.open("f", access::write), storage_error);
  EXPECT_THROW(filters.drop("f"), storage_error);
  writer.kill();
  EXPECT_NO_THROW((void)filters.open("f", access::write));
}

}  // namespace
}  // namespace everseen
