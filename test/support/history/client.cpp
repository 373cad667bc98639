#include "test/support/history/client.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"

#include "test/support/claimed_events.hpp"

namespace everseen::test::history {

namespace {

constexpr int most_keys = 4;
constexpr int most_names = 2;
constexpr int lanes = 2;
constexpr int events_of_lane = 40;
constexpr int numbers_of_client = 100'000;

moment current_moment() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::string key_text(int key) {
  return "key " + std::to_string(key);
}

/// An open filter, with the number of the operation that opened it.
struct handle {
  std::int64_t number = 0;
  filter opened;
};

/// The handles of a process. Threads: any.
class handles {
 public:
  std::shared_ptr<handle> find(int name) {
    const std::scoped_lock alone(lock_);
    return all_[static_cast<std::size_t>(name)];
  }
  void put(int name, std::shared_ptr<handle> h) {
    const std::scoped_lock alone(lock_);
    all_[static_cast<std::size_t>(name)] = std::move(h);
  }
  void forget(int name, const std::shared_ptr<handle>& h) {
    const std::scoped_lock alone(lock_);
    if (all_[static_cast<std::size_t>(name)] == h) all_[static_cast<std::size_t>(name)] = nullptr;
  }

 private:
  std::mutex lock_;
  std::array<std::shared_ptr<handle>, most_names> all_{};
};

/// What all threads of a client share.
struct client {
  store& in;
  const client_setup& setup;
  log_file log{setup.log};
  handles writers{};
  handles readers{};  // only where a filter has one writer
};

/// One thread.
class worker {
 public:
  worker(client& mine, int number)
      : mine_(mine),
        setup_(mine.setup),
        number_(number),
        dice_(setup_.seed * 1'000 + static_cast<unsigned>(number)) {}

  void create_all() {
    for (int name = 0; name < most_names; ++name) (void)create(name);
  }

  void run() {
    for (int i = 0; i < setup_.operations; ++i) {
      step();
      std::this_thread::sleep_for(std::chrono::microseconds(below(3'000)));
    }
  }

 private:
  int below(int limit) { return static_cast<int>(dice_() % static_cast<unsigned>(limit)); }
  [[nodiscard]] std::string text_of_name(int name) const {
    return setup_.prefix + static_cast<char>('a' + name);
  }

  operation operation_on(action kind, int name) {
    operation o;
    o.number = std::int64_t{numbers_of_client} * number_ + ++operations_;
    o.client = number_;
    o.kind = kind;
    o.name = name;
    return o;
  }
  void called(operation& o) {
    o.call = current_moment();
    mine_.log.called(o);
  }
  void returned(operation& o, outcome ended) {
    o.back = current_moment();
    o.ended = ended;
    mine_.log.returned(o);
  }

  /// Does an operation that throws if it fails.
  template <typename Call>
  outcome attempt(operation& o, Call call) {
    called(o);
    outcome ended = outcome::done;
    try {
      call();
    } catch (const no_filter&) {
      ended = outcome::absent;
    } catch (const name_taken&) {
      ended = outcome::taken;
    } catch (const error& e) {
      ended = is_outage(e) ? outcome::lost : outcome::refused;
    }
    returned(o, ended);
    return ended;
  }

  void finish_batch(operation& o, std::span<const verdict> verdicts, const batch_result& result) {
    for (std::size_t i = 0; i < verdicts.size(); ++i) o.keys[i].answer = verdicts[i];
    outcome ended = outcome::done;
    if (!result) ended = is_outage(result.error()) ? outcome::lost : outcome::refused;
    returned(o, ended);
  }

  handles& for_mode(access mode) {
    return setup_.one_writer && mode == access::read ? mine_.readers : mine_.writers;
  }

  /// The handle of a filter, opened or created if there is none yet.    @return null: that failed
  std::shared_ptr<handle> handle_of(int name, access mode) {
    if (auto known = for_mode(mode).find(name)) return known;
    operation o = operation_on(action::open, name);
    std::shared_ptr<handle> made;
    const outcome ended = attempt(o, [&] {
      made = std::make_shared<handle>(handle{o.number, everseen::open(mine_.in, text_of_name(name), mode)});
    });
    if (ended == outcome::absent && below(3) != 0) made = create(name);
    if (made) for_mode(mode).put(name, made);
    return made;
  }

  std::shared_ptr<handle> create(int name) {
    if (setup_.one_writer) close(name);
    operation o = operation_on(action::create, name);
    std::shared_ptr<handle> made;
    (void)attempt(o, [&] {
      const spec s = mine_.in.plan({.capacity = 1'000,
                                    .error_rate = 1e-12,
                                    .partitions = 1 + static_cast<std::uint32_t>(setup_.seed % 3),
                                    .judge = setup_.judge});
      made = std::make_shared<handle>(
          handle{o.number, {text_of_name(name), mine_.in.create(text_of_name(name), s)}});
    });
    return made;
  }

  void close(int name) { mine_.writers.put(name, nullptr); }

  std::vector<std::string> some_keys(operation& o, int most) {
    std::vector<std::string> texts;
    for (int n = below(most) + 1; n > 0; --n) {
      o.keys.push_back({.key = below(most_keys)});
      texts.push_back(key_text(o.keys.back().key));
    }
    return texts;
  }

  void use(action kind, int name) {
    const access mode = kind == action::check ? access::read : access::write;
    const auto h = handle_of(name, mode);
    if (!h) return;
    operation o = operation_on(kind, name);
    o.handle = h->number;
    const auto keys = some_keys(o, 5);
    std::vector<verdict> verdicts(keys.size(), verdict::unknown);
    called(o);
    filter f = h->opened;
    const batch_result result = kind == action::add ? f.add(keys, verdicts) : f.may_contain(keys, verdicts);
    finish_batch(o, verdicts, result);
    const bool is_gone = !result && !is_outage(result.error());
    if (is_gone || below(setup_.one_writer ? 2 : 20) == 0) for_mode(mode).forget(name, h);
  }

  /// Both lanes are the same for all clients.
  [[nodiscard]] int key_of_event(int lane, int position) const {
    std::minstd_rand fixed(
        static_cast<unsigned>(setup_.seed * 31 + static_cast<unsigned>(1'000 * lane + position)));
    fixed.discard(3);
    return static_cast<int>(fixed() % most_keys);
  }

  void claim(int name) {
    const auto h = handle_of(name, access::write);
    if (!h) return;
    if (worked_on_ != h) job_ = nullptr;
    try {
      if (!job_) job_ = h->opened.stored().open_ledger("job", "");
      worked_on_ = h;
    } catch (const error&) {
      return mine_.writers.forget(name, h);
    }
    const int lane = below(lanes);
    int& position = positions_[static_cast<std::size_t>(lane)];
    if (position == events_of_lane || below(20) == 0) position = 0;
    operation o = operation_on(action::claim, name);
    o.handle = h->number;
    std::vector<event> events;
    for (int i = std::min(1 + below(4), events_of_lane - position); i > 0; --i) {
      const int place = position + static_cast<int>(events.size());
      const int key = key_of_event(lane, place);
      o.keys.push_back({.key = key, .event = events_of_lane * lane + place});
      events.push_back({static_cast<std::uint64_t>(place), h->opened.hash()(key_text(key))});
    }
    called(o);
    const claimed got =
        claim_events(*job_, h->opened.get_spec(), {"lane " + std::to_string(lane), 0}, events);
    for (std::size_t i = 0; i < events.size(); ++i) o.keys[i].claimed_before = got.before[i] != 0;
    finish_batch(o, got.verdicts, got.result);
    if (got.result) position += static_cast<int>(events.size());
    if ((!got.result && !is_outage(got.result.error())) || below(20) == 0 ||
        (setup_.one_writer && below(2) == 0)) {
      job_ = nullptr;
      worked_on_ = nullptr;
      mine_.writers.forget(name, h);
    }
  }

  void rename(int name) {
    operation o = operation_on(action::rename, name);
    o.other_name = 1 - name;
    (void)attempt(
        o, [&] { mine_.in.rename(text_of_name(name), text_of_name(1 - name), store::namesake::refuse); });
  }

  void expire(int name) {
    operation o = operation_on(action::expire, name);
    std::optional<event_time> when;
    o.end = never;
    if (below(4) != 0) {
      const auto span = std::chrono::milliseconds(20 + below(800));
      when = wall_clock() + span;
      o.end = current_moment() + std::chrono::nanoseconds(span).count();
    }
    (void)attempt(o, [&] { mine_.in.expire_at(text_of_name(name), when); });
  }

  [[nodiscard]] spec rebuilt_spec(const handle& h) {
    spec s = h.opened.get_spec();
    s.partitions = 1 + static_cast<std::uint32_t>(below(3));
    return s;
  }

  void rebuild(int name) {
    const auto h = handle_of(name, access::write);
    if (!h) return;
    const spec s = rebuilt_spec(*h);
    operation o = operation_on(action::begin, name);
    std::unique_ptr<store::rebuild> made;
    if (attempt(o, [&] { made = mine_.in.begin_rebuild(text_of_name(name), s, {}); }) != outcome::done)
      return;
    operation given = operation_on(action::give, name);
    given.handle = o.number;
    const auto keys = some_keys(given, 3);
    std::vector<verdict> verdicts(keys.size(), verdict::unknown);
    const outcome ended = attempt(given, [&] {
      filter target(text_of_name(name), made->target());
      if (const auto result = target.add(keys, verdicts); !result) result.error().raise();
    });
    if (ended != outcome::done || below(4) == 0) return;
    operation last = operation_on(action::commit, name);
    last.handle = o.number;
    (void)attempt(last, [&] { made->commit(); });
  }

  /// Where the new filter replaces the old one at the end.
  void rebuild_at_once(int name) {
    auto h = handle_of(name, access::write);
    if (!h) return;
    const spec s = rebuilt_spec(*h);
    h = nullptr;
    close(name);
    operation o = operation_on(action::replace, name);
    const auto keys = some_keys(o, 3);
    (void)attempt(o, [&] {
      const auto made = mine_.in.begin_rebuild(text_of_name(name), s, {});
      filter target(text_of_name(name), made->target());
      std::vector<verdict> verdicts(keys.size(), verdict::unknown);
      if (const auto result = target.add(keys, verdicts); !result) result.error().raise();
      made->commit();
    });
  }

  void drop(int name) {
    operation o = operation_on(action::drop, name);
    (void)attempt(o, [&] { mine_.in.drop(text_of_name(name)); });
  }

  void reset(int name) {
    operation o = operation_on(action::reset, name);
    (void)attempt(o, [&] { mine_.in.reset(text_of_name(name)); });
  }

  void step() {
    const int name = setup_.does != work::jobs && below(4) == 0 ? 1 : 0;
    const int die = below(100);
    if (setup_.does == work::jobs && die < 50) return claim(name);
    if (setup_.does != work::whole || die < 70) return use(die % 3 == 0 ? action::check : action::add, name);
    if (setup_.one_writer && die < 95) close(0), close(1);
    if (die < 77) return reset(name);
    if (die < 81) return drop(name);
    if (die < 86) return rename(name);
    if (die < 91) return expire(name);
    if (die < 95 && setup_.rebuilds) return setup_.one_writer ? rebuild_at_once(name) : rebuild(name);
    if (auto made = create(name)) mine_.writers.put(name, std::move(made));
  }

  client& mine_;
  const client_setup& setup_;
  int number_;
  std::mt19937_64 dice_;
  int operations_ = 0;
  std::shared_ptr<handle> worked_on_{};
  std::unique_ptr<ledger> job_{};  // of worked_on_
  std::array<int, lanes> positions_{};
};

}  // namespace

std::vector<std::string> client_setup::to_words() const {
  const auto text = [](auto value) { return std::to_string(static_cast<std::uint64_t>(value)); };
  return {url,          log.string(),     prefix,           text(seed),
          text(number), text(threads),    text(operations), text(does),
          text(judge),  text(one_writer), text(rebuilds)};
}

client_setup client_setup::from_words(std::span<char* const> words) {
  const auto number = [&](std::size_t i) { return std::stoull(words[i]); };
  if (words.size() != 11) throw std::runtime_error("a client of a history is started by a test");
  return {words[0],
          words[1],
          words[2],
          number(3),
          static_cast<int>(number(4)),
          static_cast<int>(number(5)),
          static_cast<int>(number(6)),
          static_cast<work>(number(7)),
          static_cast<judge_kind>(number(8)),
          number(9) != 0,
          number(10) != 0};
}

void create_filters(store& in, const client_setup& setup) {
  client mine{in, setup};
  worker(mine, setup.number).create_all();
}

void run_client(store& in, const client_setup& setup) {
  client mine{in, setup};
  std::exception_ptr failure;
  std::mutex lock;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < setup.threads; ++i)
      threads.emplace_back([&, i] {
        try {
          worker(mine, setup.number + i).run();
        } catch (...) {
          const std::scoped_lock alone(lock);
          failure = std::current_exception();
        }
      });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace everseen::test::history
