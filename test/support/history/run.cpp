#include "test/support/history/run.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "everseen/open_store.hpp"

#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test::history {

namespace {

using namespace std::chrono_literals;

constexpr int numbers_apart = 10;

int any_below(dice& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

std::chrono::milliseconds any_pause(dice& random, int least, int most) {
  return std::chrono::milliseconds(least + any_below(random, most - least));
}

/// The clients of one history, each a process.
class processes {
 public:
  processes(const stage& on, client_setup setup, dice& random, figures& sum)
      : on_(on), setup_(std::move(setup)), random_(random), sum_(sum) {}

  /// @return why a client failed
  std::optional<std::string> run() {
    const int count = 2 + any_below(random_, 3);
    for (int i = 0; i < count; ++i) start();
    int faults = any_below(random_, 5);
    while (!all_have_ended()) {
      std::this_thread::sleep_for(any_pause(random_, 10, 80));
      if (faults-- > 0) do_harm();
    }
    for (const auto& one : running_)
      if (const program_result ended = one->wait(); ended.exit_code != 0)
        return "a client ended with " + std::to_string(ended.exit_code) + ": " + ended.err;
    return {};
  }

 private:
  void start() {
    setup_.url = on_.url(random_);
    setup_.threads = setup_.one_writer ? 1 : 1 + any_below(random_, 2);
    std::vector<std::string> words = setup_.to_words();
    words.insert(words.begin(), history_client());
    running_.push_back(std::make_unique<running_program>(words));
    setup_.number += numbers_apart;
  }

  [[nodiscard]] bool all_have_ended() const {
    return std::ranges::all_of(running_, [](const auto& one) { return one->has_ended(); });
  }

  void do_harm() {
    const int die = any_below(random_, on_.disasters.empty() ? 2 : 5);
    if (die >= 2) {
      const disaster& d =
          on_.disasters[static_cast<std::size_t>(any_below(random_, static_cast<int>(on_.disasters.size())))];
      d.strike(random_);
      ++sum_.faults[d.name];
      return;
    }
    const auto victim = running_.begin() + any_below(random_, static_cast<int>(running_.size()));
    if ((*victim)->has_ended()) return;
    if (die == 0) {
      (*victim)->send(SIGKILL);
      (void)(*victim)->wait();
      running_.erase(victim);
      start();
      ++sum_.faults["client killed"];
      return;
    }
    (*victim)->send(SIGSTOP);
    std::this_thread::sleep_for(any_below(random_, 8) == 0 ? 1'300ms : any_pause(random_, 20, 300));
    (*victim)->send(SIGCONT);
    ++sum_.faults["client stopped"];
  }

  const stage& on_;
  client_setup setup_;
  dice& random_;
  figures& sum_;
  std::vector<std::unique_ptr<running_program>> running_{};
};

work any_work(const stage& on, dice& random) {
  const int die = any_below(random, 100);
  if (die < 20 && on.has_jobs) return work::jobs;
  return die < 35 || !on.has_whole ? work::keys : work::whole;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const figures& f) {
  out << f.histories << " histories, " << f.operations << " operations (" << f.lost << " lost, " << f.refused
      << " refused), " << f.visited << " configurations, " << f.undecided << " undecided";
  for (const auto& [name, times] : f.faults) out << ", " << times << " × " << name;
  return out;
}

std::optional<std::string> run_history(const stage& on, std::uint64_t seed, figures& sum) {
  const scratch_directory directory;
  dice random(seed);
  client_setup setup = on.clients;
  setup.log = directory.path() / "log";
  setup.prefix = "h" + std::to_string(seed) + "-";
  setup.seed = seed;
  setup.does = any_work(on, random);
  setup.operations = 20 + any_below(random, 60);
  std::optional<std::string> failure;
  if (on.begin) {
    setup.url = on.url(random);
    create_filters(*open_store(setup.url), setup);
    on.begin();
    setup.number += numbers_apart;
  }
  if (on.memory != nullptr) {
    setup.threads = 2 + any_below(random, 7);
    run_client(*on.memory, setup);
  } else {
    failure = processes(on, setup, random, sum).run();
  }
  if (failure) return failure;

  const record all = read_log(setup.log);
  const finding found = check(all, on.allowed);
  ++sum.histories;
  sum.operations += all.size();
  sum.visited += found.visited;
  for (const operation& o : all) {
    sum.lost += o.ended == outcome::lost;
    sum.refused += o.ended == outcome::refused;
  }
  sum.undecided += found.is == judgement::undecided;
  if (found.is != judgement::contradictory) return {};
  const auto kept = std::filesystem::temp_directory_path() / fmt::format("everseen-history-{}.log", seed);
  std::filesystem::copy_file(setup.log, kept, std::filesystem::copy_options::overwrite_existing);
  return fmt::format("key {} contradicts itself (everything: {}):\n{}", found.key, kept.string(),
                     found.contradiction);
}

}  // namespace everseen::test::history
