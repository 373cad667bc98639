// Question: how many events a second and core does a job take from Kafka, through a filter in memory, to
// standard output?
//
// Two million clicks as JSON in 64 partitions, one in twenty delivered twice. The brokers are librdkafka's
// mock cluster in a process of its own, which needs a core, too; so it is the program's own CPU time an event
// that answers, `cpu_us`, all of its threads and librdkafka's together: below 1 is more than a million events
// a second and core. The lines that came out are counted before anything is printed. Wall time includes the
// three seconds that a group waits for its members.

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.hpp"
#include "bench/timed_command.hpp"

#if defined(EVERSEEN_PROGRAM) && defined(EVERSEEN_KAFKA_MOCK)

namespace everseen::bench {
namespace {

constexpr std::size_t events = 2'000'000;

/// Brokers with events, in a process of their own that ends with this one's end of a pipe.
class brokers {
 public:
  static const brokers& instance() {
    static const brokers one;
    return one;
  }
  ~brokers() {
    ::close(to_[1]);
    ::waitpid(process_, nullptr, 0);
  }
  brokers(const brokers&) = delete;
  brokers& operator=(const brokers&) = delete;

  [[nodiscard]] const std::string& addresses() const noexcept { return addresses_; }

 private:
  brokers() {
    std::array<int, 2> from{};
    require(::pipe(to_.data()) == 0 && ::pipe(from.data()) == 0, "no pipe");
    process_ = ::fork();
    require(process_ >= 0, "no process");
    if (process_ == 0) {
      ::dup2(to_[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      ::close(to_[1]);
      const std::string topic = "clicks:64:" + std::to_string(events);
      ::execl(EVERSEEN_KAFKA_MOCK, EVERSEEN_KAFKA_MOCK, "--topic", topic.c_str(), nullptr);
      std::_Exit(127);
    }
    ::close(to_[0]);
    ::close(from[1]);
    for (char c = 0; ::read(from[0], &c, 1) == 1 && c != '\n';) addresses_ += c;
    ::close(from[0]);
    require(!addresses_.empty(), "no mock cluster");
  }

  std::array<int, 2> to_{};
  pid_t process_ = -1;
  std::string addresses_;
};

std::size_t lines_of(const std::string& path) {
  std::ifstream in(path);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) ++count;
  return count;
}

void BM_stream_kafka_to_stdout(benchmark::State& state) {
  const std::string out =
      std::filesystem::temp_directory_path() / ("everseen-kafka-" + std::to_string(getpid()));
  run_result sum;
  std::size_t number = 0, fresh = 0;
  for (auto _ : state) {
    const std::string group = "bench-" + std::to_string(::getpid()) + '-' + std::to_string(++number);
    const run_result one =
        run(std::string(EVERSEEN_PROGRAM) + " stream --from 'kafka://" + brokers::instance().addresses() +
            "/clicks?until=end&group=" + group +
            "' --to - --store mem: --filter clicks --capacity 3M --error-rate 1e-9 --key-json /id > " + out +
            " 2> " + out + ".said");
    state.SetIterationTime(one.seconds);
    sum.cpu_seconds += one.cpu_seconds;
    const std::size_t lines = lines_of(out);
    require(lines > events * 9 / 10 && lines < events && (fresh == 0 || lines == fresh),
            "of the events came out: " + std::to_string(lines));
    fresh = lines;
  }
  std::filesystem::remove(out);
  std::filesystem::remove(out + ".said");
  const auto all = static_cast<double>(state.iterations()) * static_cast<double>(events);
  state.counters["events/s"] = benchmark::Counter(all, benchmark::Counter::kIsRate);
  state.counters["cpu_us"] = sum.cpu_seconds / all * 1e6;
}
BENCHMARK(BM_stream_kafka_to_stdout)->UseManualTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace everseen::bench

#endif
