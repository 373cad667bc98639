#include "test/support/crash_matrix/crash_matrix.hpp"

#include <atomic>
#include <csignal>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "test/support/cutting_proxy.hpp"

namespace everseen::test {

namespace {

using std::chrono::milliseconds;

std::vector<std::string> command_of(const matrix_world& world, const matrix_source& from,
                                    const matrix_sink& sink, const std::string& store, int worker) {
  std::vector<std::string> words = {
      world.on.program,      "stream",      "--store", store,        "--filter",
      world.filter,          "--job",       world.job, "--key-json", "/id",
      "--time-json",         "/time",       "--block", "4096",       "--settle-every",
      world.on.settle_every, "--on-outage", "hold",    "--late-to",  world.path("late.jsonl")};
  for (const auto& more : {world.on.words, from.words(world, worker), sink.words(world, worker)})
    words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Triggers something some time after a job began, unless the job has ended before. end() rethrows its
/// exceptions.
class mishap {
 public:
  template <typename Happen>
  mishap(disaster::time after, const running_program& program, Happen happen) {
    if (!after) return;
    const auto deadline = std::chrono::steady_clock::now() + *after;
    thread_ = std::thread([this, deadline, &program, happen] {
      if (program.ends_within(std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now())))
        return;
      ++happened_;
      try {
        happen();
      } catch (...) {
        thrown_ = std::current_exception();
      }
    });
  }
  ~mishap() {
    if (thread_.joinable()) thread_.join();
  }
  mishap(const mishap&) = delete;
  mishap& operator=(const mishap&) = delete;

  /// @return how often it happened
  int end() {
    if (thread_.joinable()) thread_.join();
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return happened_;
  }

 private:
  std::atomic<int> happened_ = 0;
  std::exception_ptr thrown_{};
  std::thread thread_{};
};

/// One attempt: its job, possibly a second one, and their disasters.
class attempt {
 public:
  attempt(const matrix_world& world, const matrix_source& from, const matrix_sink& sink, const disaster& d,
          int worker)
      : world_(world), from_(from), sink_(sink), d_(d), worker_(worker) {}

  program_result run(matrix_outcome& into) {
    running_program job(command(worker_), setup(d_.die_at, d_.stop_at));
    std::optional<running_program> other;
    if (d_.second != disaster::beside::nobody && !d_.second_after) start(other);
    mishap second(d_.second_after, job, [&] { start(other); });
    mishap kill(d_.kill_after, job, [&] { job.send(SIGKILL); });
    mishap stop(d_.stop_after, job, [&] { pause_job(job); });
    mishap halt(d_.stop_at.empty() ? disaster::time{} : milliseconds(0), job,
                [&] { wait_for_halt(job, other); });
    mishap store(d_.kill_store_after, job, [&] { restart_store(); });
    mishap brokers(d_.lose_brokers_after, job, [&] { lose_network(); });
    program_result ended = job.wait(longest_attempt);
    second.end();
    halt.end();
    into.stops += stop.end() + halts_;
    into.store_deaths += d_.lost_at_stop == loss::store ? halts_ : 0;
    into.broker_losses += d_.lost_at_stop == loss::network || d_.lost_at_stop == loss::broker ? halts_ : 0;
    into.store_deaths += store.end();
    into.broker_losses += brokers.end();
    into.deaths += ended.exit_code == 128 + SIGKILL && !ended.too_slow;
    const bool has_failed = ended.exit_code != 0 && ended.exit_code != 128 + SIGKILL;
    into.failures += has_failed;
    if (has_failed) into.last_failure = ended.err;
    into.cuts += network_ && network_->has_cut();
    ++into.attempts;
    if (other) ended.out += other->wait(longest_attempt).out;
    return ended;
  }

 private:
  using loss = disaster::loss;
  static constexpr milliseconds time_without_network{700};
  static constexpr std::chrono::minutes longest_attempt{10};  // a busy machine may need minutes for a broker

  [[nodiscard]] std::vector<std::string> command(int worker) {
    if (d_.cut_after && !network_)
      network_.emplace(world_.on.store.port()).cut_after(cutting_proxy::direction::to_client, *d_.cut_after);
    return command_of(world_, from_, sink_, network_ ? network_->url("?timeout=2s") : world_.store_url(),
                      worker);
  }
  [[nodiscard]] program_setup setup(const std::string& die_at, const std::string& stop_at) const {
    program_setup made;
    if (!die_at.empty()) made.environment["EVERSEEN_DIE_AT"] = die_at;
    if (!stop_at.empty()) made.environment["EVERSEEN_STOP_AT"] = stop_at;
    if (from_.on_standard_input) made.input = world_.clicks.text();
    return made;
  }
  void start(std::optional<running_program>& other) {
    other.emplace(command(d_.second == disaster::beside::a_worker ? 1 : 0), setup({}, {}));
  }
  void pause_job(running_program& job) const {
    job.send(SIGSTOP);
    std::this_thread::sleep_for(d_.stop_for);
    job.send(SIGCONT);
  }
  void wait_for_halt(running_program& job, const std::optional<running_program>& other) {
    if (!job.waits_to_stop()) return;
    ++halts_;
    if (d_.lost_at_stop == loss::store) world_.on.store.kill();
    if (d_.lost_at_stop == loss::network) world_.on.brokers.cut();
    if (d_.lost_at_stop == loss::broker) world_.on.brokers.kill();
    if (d_.stopped == disaster::return_of::by_time)
      std::this_thread::sleep_for(d_.stop_for);
    else if (other)
      (void)other->ends_within(std::chrono::minutes(2));
    job.send(d_.stopped == disaster::return_of::nobody ? SIGKILL : SIGCONT);
    if (d_.lost_at_stop == loss::broker) world_.on.brokers.start();
    if (d_.lost_at_stop == loss::network) {
      std::this_thread::sleep_for(time_without_network);
      world_.on.brokers.mend();
    }
    if (d_.lost_at_stop != loss::store) return;
    std::this_thread::sleep_for(d_.store_back_after);
    world_.on.store.start();
  }
  void lose_network() const {
    world_.on.brokers.cut();
    std::this_thread::sleep_for(time_without_network);
    world_.on.brokers.mend();
  }
  void restart_store() const {
    world_.on.store.kill();
    std::this_thread::sleep_for(d_.store_back_after);
    world_.on.store.start();
  }

  const matrix_world& world_;
  const matrix_source& from_;
  const matrix_sink& sink_;
  const disaster& d_;
  int worker_;
  std::optional<cutting_proxy> network_{};
  int halts_ = 0;
};

/// With several partitions, so that a crash may find a claim in only some of them. On Redis the seed selects
/// the judge: in two of four seeds the clients, in two the server if it has the module.
void create_filter(const matrix_world& world, std::uint64_t seed) {
  std::vector<std::string> words = {
      world.on.program, "create", world.filter,   "--store", world.store_url(), "--error-rate", "1e-12",
      "--capacity",     "10k",    "--partitions", "8"};
  words.insert(words.end(), world.on.words.begin(), world.on.words.end());
  if (world.store_url().starts_with("redis") && seed / 2 % 2 != 0)
    words.insert(words.end(), {"--judge", "client"});
  if (const program_result made = run_program(words); made.exit_code != 0)
    throw std::runtime_error("no filter for the matrix: " + made.err);
}

std::set<std::string> lines_written_aside(const matrix_world& world) {
  std::set<std::string> written;
  std::ifstream in(world.path("late.jsonl"));
  for (std::string line; std::getline(in, line);) written.insert(line);
  return written;
}

/// Late events are written to a side file, at least once.
std::string fault_of_late_events(const matrix_world& world) {
  const auto written = lines_written_aside(world);
  std::size_t lost = 0;
  for (const std::string& line : world.clicks.late) lost += !written.contains(line);
  return lost == 0 ? "" : std::to_string(lost) + " late events are not written aside; ";
}

/// For who looks for the cause of a fault. A repeat may be late.
std::string events_called_late(const matrix_world& world) {
  const auto written = lines_written_aside(world);
  std::string names;
  for (const auto& [id, line] : world.clicks.first_lines)
    if (written.contains(line)) names += "\ncalled late: " + line;
  return names;
}

}  // namespace

matrix_outcome& matrix_outcome::operator+=(const matrix_outcome& other) {
  fault += other.fault;
  attempts += other.attempts;
  deaths += other.deaths;
  store_deaths += other.store_deaths;
  cuts += other.cuts;
  broker_losses += other.broker_losses;
  failures += other.failures;
  if (!other.last_failure.empty()) last_failure = other.last_failure;
  stops += other.stops;
  return *this;
}

matrix_outcome run_matrix(const matrix_stage& on, const matrix_source& from, const matrix_sink& sink,
                          const std::vector<disaster>& disasters, std::uint64_t seed) {
  static std::atomic<int> runs = 0;  // runs of one seed, with other pairs, share a broker
  matrix_world world{{},
                     on,
                     make_clicks(seed, on.events, on.clicks),
                     "job-" + std::to_string(seed) + '-' + std::to_string(++runs),
                     "matrix-" + std::to_string(seed) + '-' + std::to_string(runs)};
  create_filter(world, seed);
  from.prepare(world);
  if (sink.prepare) sink.prepare(world);
  matrix_outcome outcome;
  std::string printed, messages;
  const auto run = [&](const disaster& d, int worker) {
    program_result ended = attempt(world, from, sink, d, worker).run(outcome);
    messages += "\nattempt, exit code " + std::to_string(ended.exit_code) + ":\n" + ended.err;
    if (sink.early_fault) outcome.fault += sink.early_fault(world);
    return ended;
  };
  for (const disaster& d : disasters) printed += run(d, 0).out + '\n';  // ends a truncated line
  const program_result last = run({}, on.last_worker);
  if (last.exit_code == 0)
    outcome.fault += sink.fault(world, printed + last.out) + fault_of_late_events(world);
  else
    outcome.fault += "the last attempt ended with " + std::to_string(last.exit_code);
  if (!outcome.fault.empty()) outcome.fault += events_called_late(world) + messages;
  return outcome;
}

const std::vector<std::string>& fault_points() {
  static const std::vector<std::string> all = {"read",    "claimed",        "half_put",
                                               "put",     "half_committed", "committed",
                                               "settled", "half_shown",     "accounted"};
  return all;
}

const std::vector<std::string>& common_fault_points() {
  static const std::vector<std::string> all = {"read", "claimed", "put", "committed", "settled", "accounted"};
  return all;
}

}  // namespace everseen::test
