#include "everseen/serve/resp/gathered_batches.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/open_store.hpp"
#include "everseen/serve/registry/judge_batch.hpp"

namespace everseen::serve {
namespace {

std::string replies_of(std::vector<verdict> verdicts, std::string_view fault, reply_shape shape) {
  static const filter any = create("mem:", "f", {.capacity = 10});
  key_batch batch;
  batch.keys.assign(verdicts.size(), "key");
  batch.verdicts = std::move(verdicts);
  batch.fault = fault;
  std::string bytes;
  wire::reply_writer writer(bytes);
  write_verdicts(any, batch, 0, batch.keys.size(), question::add, shape, writer);
  return bytes;
}

constexpr auto fresh = verdict::fresh, seen = verdict::seen, unknown = verdict::unknown;

TEST(Verdicts, OfAFullFilterEndWithItsError) {
  const std::string full = "-" + std::string(filter_is_full) + "\r\n";
  EXPECT_EQ(replies_of({fresh, seen}, filter_is_full, reply_shape::array), "*2\r\n:1\r\n:0\r\n");
  EXPECT_EQ(replies_of({fresh, unknown, seen, unknown}, filter_is_full, reply_shape::array),
            "*2\r\n:1\r\n" + full);
}

/// One partition was full, and another accepted a later key: its client must not take that key for not added.
TEST(Verdicts, NameEveryKeyThatWasAdded) {
  const std::string full = "-" + std::string(filter_is_full) + "\r\n";
  EXPECT_EQ(replies_of({unknown, seen, fresh, unknown, seen}, filter_is_full, reply_shape::array),
            "*3\r\n" + full + ":0\r\n:1\r\n");
}

TEST(Verdicts, AreAllPresentAfterAnyOtherFault) {
  EXPECT_EQ(replies_of({unknown, seen, unknown}, "OUTAGE x", reply_shape::array),
            "*3\r\n-OUTAGE x\r\n:0\r\n-OUTAGE x\r\n");
  EXPECT_EQ(replies_of({unknown, seen}, filter_is_full, reply_shape::words),
            "*2\r\n-" + std::string(filter_is_full) + "\r\n+seen\r\n");
}

}  // namespace
}  // namespace everseen::serve
