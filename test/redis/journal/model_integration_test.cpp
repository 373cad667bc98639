// Any order of actions of clients of one filter, with lost answers, refusals, checkpoints and new clients, is
// equivalent to one exact set.

#include <gtest/gtest.h>

#include "test/redis/journal/journal_model.hpp"

namespace everseen::redis {
namespace {

class JournalModel : public JournalModelling {
 protected:
  JournalModel() : JournalModelling(150'000) {}
};

INSTANTIATE_TEST_SUITE_P(Seeds, JournalModel, testing::Range<std::uint64_t>(1, 7));

TEST_P(JournalModel, AnyOrderOfClientActionsIsOneExactSet) {
  (void)make({.capacity = 5000, .error_rate = 1e-12, .partitions = 2});
  std::vector<one> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(newcomer());
  for (int step = 0; step < 80 && !HasFailure(); ++step) {
    one& c = clients[below(clients.size())];
    const std::uint64_t choice = below(16);
    if (choice == 0) {
      c = newcomer();
      continue;
    }
    if (choice == 1) let_checkpoints_pass();
    if (choice < 8) cut_soon(*c.proxy);
    ask(c, some(choice == 5 ? 70'000 : 4000), choice % 4 != 3);
  }
  const auto last = client();
  const std::size_t seen = ask_about_all(*last);
  EXPECT_EQ(test::keys_in(*last), seen);
}

// Promise: after a merge every key of the siblings is seen, and nothing that others add meanwhile is lost
// (redis, What holds for all filters on Redis).
TEST_P(JournalModel, MergesAreStepsOfThisOrder) {
  const spec s = judged_by_clients({.capacity = 200'000, .error_rate = 1e-12, .partitions = 2});
  (void)store_->create("clicks", s);
  std::vector<one> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(newcomer());
  int merged = 0;
  for (int step = 0; step < 50 && !HasFailure(); ++step) {
    one& c = clients[below(clients.size())];
    const std::uint64_t choice = below(16);
    if (choice == 0) c = newcomer();
    if (choice == 1) let_checkpoints_pass();
    if (choice < 8) cut_soon(*c.proxy);
    if (choice % 3 == 0)
      merged += merge(c, some(choice == 6 ? 40'000 : 300), s) ? 1 : 0;
    else
      ask(c, some(choice == 5 ? 70'000 : 4000), choice % 4 != 3);
  }
  EXPECT_GT(merged, 0);
  const auto last = client();
  const std::size_t seen = ask_about_all(*last);
  EXPECT_NEAR(static_cast<double>(test::keys_in(*last)), static_cast<double>(seen), 0.001 * 150'000);
}

}  // namespace
}  // namespace everseen::redis
