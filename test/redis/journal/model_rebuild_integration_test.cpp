// Any order of actions of clients of one filter while others rebuild it, reset it and set its end, where each
// may crash at any byte and some are late, is equivalent to one exact set.

#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/filter/sealable_filter.hpp"

#include "test/redis/journal/journal_model.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::cutting_proxy;
using ::testing::SizeIs;

class JournalModelOfRebuilds : public JournalModelling {
 protected:
  JournalModelOfRebuilds() : JournalModelling(60'000) {}

  /// A rebuild, step by step. Each step may be interrupted; then it is abandoned, or repeated by another
  /// client.
  struct rebuild {
    enum class step : std::uint8_t { prepare, decide, place, seal, fill, unlink, over };
    step next = step::prepare;
    std::optional<filter_identity> old{}, made{};
    exact_set::moment began = 0;
    exact_set::moment in_use = 0;
    std::string word = random_name();
  };
  struct slow_call {
    std::size_t client;
    std::list<exact_set::call>::iterator call;
    std::future<test::answers> answers;
  };

  /// Connections or a store that may crash at any byte.
  std::string failing_url(cutting_proxy& proxy) {
    if (below(3) == 0) {
      const auto towards = below(2) == 0 ? direction::to_server : direction::to_client;
      proxy.cut_for_long_after(towards, below(towards == direction::to_server ? 3'000 : 1'000));
    }
    return proxy.url("/?retry_for=0s&connect_timeout=20s");
  }
  bool may_die(const std::function<void(const std::string& url)>& work) {
    cutting_proxy proxy(server_.port());
    bool done = true;
    try {
      work(failing_url(proxy));
    } catch (const error&) {
      done = false;
    }
    let_the_server_read();
    return done;
  }

  spec sized(std::uint64_t capacity, std::uint32_t partitions) const {
    return judged_by_clients({.capacity = capacity, .error_rate = 1e-12, .partitions = partitions});
  }

  /// @return false  it had no effect: others were faster
  bool take_step(rebuild& r, const std::string& url) {
    using step = rebuild::step;
    server_connections connections(parse_redis_url(url));
    const filter_directory all("everseen", 1);
    switch (r.next) {
      case step::prepare: {
        if (!r.made) {
          r.began = exact_.now();
          r.made = all.draft(sized(1'000 + below(9'000), 1 + static_cast<std::uint32_t>(below(3))));
        }
        const found_filter old = all.look_up(connections, "clicks", true);
        r.old = old.identity;
        all.prepare(connections, *r.made, {},
                    {.spec = r.made->spec,
                     .expires_at = old.header.expires_at,
                     .after = old.identity.id,
                     .origin = old.header.origin});
        return true;
      }
      case step::decide:
        return decide_succession(connections, *r.old, r.made->id) == succession::decided;
      case step::place:
        return put_in_place(connections, *r.old, r.made->id) == placing::done;
      case step::seal:
        (void)asked_before(connections, *r.made, sealing::yes);
        r.in_use = exact_.now();
        return true;
      case step::fill:
        return fill(*r.made, url);
      default:
        return unlink(r, connections, all);
    }
  }
  bool fill(const filter_identity& made, const std::string& url) {
    const auto target =
        open_sealable(std::make_shared<connection_pool>(parse_redis_url(url)), "clicks", made, access::write);
    for (int i = 0; i < 3; ++i) {
      const range r = some(3'000);
      const auto got = add_keys(*target, keys(r));
      let_the_server_read();
      exact_.note_added(r.from, got.verdicts);
      if (!got.result) return false;
    }
    return true;
  }
  bool unlink(rebuild& r, server_connections& connections, const filter_directory& all) {
    bool is_alone = false;
    try {
      is_alone = forget_before(connections, *r.made, r.old->id, r.word);
    } catch (const error&) {
      let_the_server_read();
      exact_.forget_before(r.began, r.in_use, exact_set::outcome::unknown);
      throw;
    }
    if (is_alone) exact_.forget_before(r.began, r.in_use, exact_set::outcome::done);
    all.removal().finish(connections);
    return is_alone;
  }

  /// @return false  it has finished, or was abandoned
  bool go_on(rebuild& r) {
    bool has_come_to_nothing = false;
    const bool done = may_die([&](const std::string& url) { has_come_to_nothing = !take_step(r, url); });
    if (has_come_to_nothing) return false;
    // After a crash in the first step, no client knows the new filter.
    if (!done) return r.next != rebuild::step::prepare && below(2) == 0;
    r.next = static_cast<rebuild::step>(static_cast<int>(r.next) + 1);
    return r.next != rebuild::step::over;
  }

  void reset() {
    const bool done = may_die([](const std::string& url) { store_at(url)->reset("clicks"); });
    exact_.forget_all(done ? exact_set::outcome::done : exact_set::outcome::unknown);
  }
  void set_an_end() {
    const auto when = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) +
                      std::chrono::hours(1 + below(100));
    const std::optional<event_time> end = below(3) == 0 ? std::nullopt : std::optional<event_time>(when);
    (void)may_die([&](const std::string& url) { store_at(url)->expire_at("clicks", end); });
  }

  /// No key of a filter, or of the filters that it asks, may expire.
  void expect_no_limits() {
    server_connections connections(parse_redis_url(server_.url()));
    auto f = filter_directory("everseen", 1).open(connections, "clicks", false);
    for (;;) {
      const auto h = read_filter_header(connections, f);
      ASSERT_TRUE(h);
      for (const std::string& key : lasting_keys_like(server_, "everseen:{" + f.keys.id() + "*"))
        if (key.find("}:s") == std::string::npos) {
          ASSERT_EQ(server_.run({"PTTL", key}), "-1") << key;
        }
      if (!h->after) return;
      f = {{"everseen", *h->after}, {}, *h->after};
    }
  }

  /// A call of a client that is stopped in the middle.
  void begin_slow_call(std::size_t client) {
    one& c = clients_[client];
    const range r = some(2'000);
    c.proxy->hold_after(direction::to_server, below(r.count * sizeof(digest) + 200));
    slow_call s{client, exact_.begin(r.from, r.count, true, c.knew),
                add_beside(*c.filter, {keys(r).begin(), keys(r).end()})};
    test::wait_until([&] { return c.proxy->holds() || s.answers.wait_for(0s) == std::future_status::ready; },
                     "a call is stopped, or done");
    slow_.push_back(std::move(s));
    if (!c.proxy->holds()) end_slow_call(std::prev(slow_.end()));
  }
  void end_slow_call(std::list<slow_call>::iterator s) {
    cutting_proxy& proxy = *clients_[s->client].proxy;
    if (below(3) == 0) proxy.cut_after(direction::to_client, below(300));
    proxy.release();
    const auto got = s->answers.get();
    let_the_server_read();
    exact_.end(s->call, got.verdicts);
    slow_.erase(s);
  }
  bool is_slow(std::size_t client) const {
    return std::ranges::any_of(slow_, [&](const slow_call& s) { return s.client == client; });
  }

  void do_something() {
    const std::uint64_t choice = below(32);
    const std::size_t client = below(clients_.size());
    if (choice < 7) {
      if (rebuilds_.size() < 2 && (rebuilds_.empty() || below(8) == 0)) rebuilds_.emplace_back();
      const auto r = std::next(rebuilds_.begin(), static_cast<std::ptrdiff_t>(below(rebuilds_.size())));
      if (!go_on(*r)) rebuilds_.erase(r);
    } else if (choice == 7) {
      if (below(2) == 0) reset();
    } else if (choice < 10) {
      set_an_end();
      expect_no_limits();
    } else if (choice == 10) {
      let_checkpoints_pass();
    } else if (choice < 14 && !slow_.empty()) {
      end_slow_call(slow_.begin());
    } else if (is_slow(client)) {
      return;
    } else if (choice == 14) {
      clients_[client] = newcomer();
    } else if (choice < 17) {
      begin_slow_call(client);
    } else {
      if (choice < 23) cut_soon(*clients_[client].proxy);
      ask(clients_[client], some(choice == 20 ? 40'000 : 2'000), choice % 4 != 3);
    }
  }

  std::vector<one> clients_;
  std::list<rebuild> rebuilds_;
  std::list<slow_call> slow_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, JournalModelOfRebuilds, testing::Range<std::uint64_t>(1, 7));

TEST_P(JournalModelOfRebuilds, AnyOrderOfActionsOfClientsAndOthersIsOneExactSet) {
  (void)make({.capacity = 5000, .error_rate = 1e-12, .partitions = 2});
  for (int i = 0; i < 4; ++i) clients_.push_back(newcomer());
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    do_something();
  }
  while (!slow_.empty()) end_slow_call(slow_.begin());
  (void)ask_about_all(*client());
  expect_no_limits();
  if (HasFailure()) return;

  // Whatever was left half done, an undisturbed rebuild leaves one filter with the given keys.
  const auto began = exact_.now();
  const auto last = store_->begin_rebuild("clicks", sized(20'000, 3), {});
  const auto in_use = exact_.now();
  const range kept = {0, 10'000};
  exact_.note_added(kept.from, answered(add_keys(*last->target(), keys(kept))).verdicts);
  last->commit();
  exact_.forget_before(began, in_use, exact_set::outcome::done);
  const auto filter = client();
  EXPECT_EQ(ask_about_all(*filter), kept.count);
  EXPECT_EQ(test::keys_in(*filter), kept.count);
  EXPECT_THAT(lines_of(server_.run({"HKEYS", "everseen:{names}"})), SizeIs(1));
  for (one& c : clients_) ask(c, some(2'000), false);
}

}  // namespace
}  // namespace everseen::redis
