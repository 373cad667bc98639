#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/client/client_store.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/client/served_store.hpp"
#include "test/serve/serving.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::client {
namespace {

using namespace std::chrono_literals;
using test::cutting_proxy;
using test::never_wrong;
using test::port_of;
using test::refusal;
using test::serving;
using test::store_of;
using test::store_through;
using testing::HasSubstr;

/// Copies a filter with some keys into a store, as `import` does.
void import_into(store& target, const spec& s, int first_key) {
  memory_store memory;
  filter source("f", memory.create("f", s));
  for (int i = 0; i < 1'000; ++i) (void)source.add(std::to_string(first_key + i));
  const auto copy = target.begin_restore("f", s);
  for (std::uint32_t p = 0; p < s.partitions; ++p)
    source.stored().visit_segments(p, [&](const auto& id, const auto& layer, auto bits) {
      std::ranges::copy(bits, copy->add_segment(id, layer).begin());
    });
  copy->commit();
}

/// An import that the network stops behind its header and its first chunks, until release().
class stopped_import {
 public:
  stopped_import(const serving& server, int first_key) : proxy_(port_of(server)), first_key_(first_key) {
    constexpr std::size_t longer_than_the_header = 6'000;
    proxy_.hold_after(cutting_proxy::direction::to_server, longer_than_the_header);
    running_ = std::thread([this] { refusal_ = refusal([&] { import_into(*place_, spec_, first_key_); }); });
    while (!proxy_.holds()) std::this_thread::sleep_for(1ms);
  }
  ~stopped_import() {
    if (running_.joinable()) (void)release();
  }
  /// @return why it failed
  std::string release() {
    proxy_.release();
    running_.join();
    return refusal_;
  }
  [[nodiscard]] bool is_whole(const filter& f) const {
    for (int key = 0; key < 1'000; ++key)
      if (!f.may_contain(std::to_string(first_key_ + key))) return false;
    return f.get_spec() == spec_;
  }

 private:
  const spec spec_ = make_spec({.capacity = 10'000, .error_rate = never_wrong, .partitions = 64});
  cutting_proxy proxy_;
  const int first_key_;
  const std::shared_ptr<store> place_ = store_through(proxy_);
  std::string refusal_{};
  std::thread running_{};
};

// Promise: of two imports of one name at the same time one fails, and the other is whole (operations, As a
// store).
TEST(ClientRestore, ImportsOfOneNameDoNotMix) {
  const serving server;
  stopped_import first(server, 0), second(server, 1'000);
  EXPECT_THAT(first.release(), HasSubstr("another copy that was begun under the same name"));
  EXPECT_EQ(second.release(), "nothing was refused");
  EXPECT_TRUE(second.is_whole(filter("f", store_of(server)->open("f", access::read))));
}

TEST(ClientRestore, ImportWhoseNameWasTakenMeanwhileFails) {
  const serving server;
  stopped_import first(server, 0), second(server, 1'000);
  EXPECT_EQ(second.release(), "nothing was refused");
  EXPECT_THAT(first.release(), HasSubstr("exists already"));
  EXPECT_TRUE(second.is_whole(filter("f", store_of(server)->open("f", access::read))));
}

TEST(ClientRestore, ImportThatTheServerHasDiscardedSaysSo) {
  const serving server;
  stopped_import stopped(server, 0);
  EXPECT_EQ(server.cli({"DEL", "f"}), "0");
  EXPECT_THAT(stopped.release(), HasSubstr("discarded the import of 'f'"));
}

TEST(ClientRestore, FilterIsCopiedBetweenServersInPieces) {
  const serving from, destination;
  const auto source = store_of(from), target = store_of(destination);
  filter f("f",
           source->create("f", make_spec({.capacity = 20'000'000, .error_rate = 1e-6, .partitions = 1})));
  EXPECT_EQ(f.add("a"), verdict::fresh);
  const auto copy = target->begin_restore("f", f.get_spec());
  std::uint64_t longest = 0;
  f.stored().visit_segments(0, [&](const auto& id, const auto& layer, auto bits) {
    longest = std::max<std::uint64_t>(longest, bits.size());
    std::ranges::copy(bits, copy->add_segment(id, layer).begin());
  });
  EXPECT_GT(longest, 33U << 20) << "it took one piece";
  copy->commit();
  filter copied("f", target->open("f", access::write));
  EXPECT_EQ(copied.add("a"), verdict::seen);
  EXPECT_EQ(copied.add("b"), verdict::fresh);
}

// Promise: an import ends over a link that carries little before it is cut (operations, As a store).
TEST(ClientRestore, FilterIsImportedOverALinkThatIsCutAgainAndAgain) {
  const serving server;
  const spec s = make_spec({.capacity = 300'000, .error_rate = 1e-6, .partitions = 2});
  cutting_proxy proxy(port_of(server));
  proxy.cut_every(cutting_proxy::direction::to_server, 60'000);
  import_into(*store_through(proxy, "?retry_for=1s"), s, 0);
  EXPECT_GT(proxy.connections(), 15U);
  const filter f("f", store_of(server)->open("f", access::read));
  EXPECT_EQ(f.get_spec(), s);
  for (int key = 0; key < 1'000; ++key) ASSERT_TRUE(f.may_contain(std::to_string(key))) << key;
  EXPECT_FALSE(f.may_contain("1000"));
}

// An answer that is lost leaves open whether a chunk arrived, also the last one.
TEST(ClientRestore, FilterIsImportedWhereverItsAnswersAreCut) {
  const serving server;
  const spec s = make_spec({.capacity = 10'000, .error_rate = 1e-6, .partitions = 2});
  for (std::size_t bytes = 0; bytes < 150; bytes += 5) {
    cutting_proxy proxy(port_of(server));
    const auto target = store_through(proxy);
    proxy.cut_after(cutting_proxy::direction::to_client, bytes);
    import_into(*target, s, 0);
    const filter f("f", store_of(server)->open("f", access::read));
    for (int key = 0; key < 1'000; ++key) ASSERT_TRUE(f.may_contain(std::to_string(key))) << bytes;
    store_of(server)->drop("f");
  }
}

}  // namespace
}  // namespace everseen::client
