// Question: how many events a second and core does a job take from Kafka, through a filter in memory, to
// standard output?
//
// Two million clicks as JSON in 64 partitions, one in twenty delivered twice. The brokers are librdkafka's
// mock cluster in a separate process, which also needs a core. So the answer is the program's own CPU time
// an event, `cpu_us`, of all of its threads including librdkafka's: below 1 means more than a million events
// a second and core. The output lines are counted before anything is printed. Wall time includes the three
// seconds that a group waits for its members.
//
// The peer, in the same run, is the usual hand-written program: a plain consumer of librdkafka in this
// process that keeps each id in a hash set and writes the record if it is new. It commits nothing, and loses
// its set in a crash. `vs_peer` is the peer's CPU time an event divided by ours.

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/redis_server.hpp"
#include "bench/support.hpp"
#include "bench/timed_command.hpp"

#if defined(EVERSEEN_PROGRAM) && defined(EVERSEEN_KAFKA_MOCK)

namespace everseen::bench {
namespace {

constexpr std::size_t events = 2'000'000;

/// Brokers with events, in a separate process that ends when this one's end of a pipe is closed.
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

/// @return CPU seconds of a plain consumer with a hash set
double by_hand(const std::string& out) {
  const double before = own_cpu_seconds();
  rd_kafka_conf_t* const how = rd_kafka_conf_new();
  std::array<char, 512> said{};
  for (const auto& [name, value] :
       {std::pair<std::string, std::string>{"bootstrap.servers", brokers::instance().addresses()},
        {"group.id", "by-hand-" + std::to_string(::getpid())},
        {"auto.offset.reset", "earliest"},
        {"enable.auto.commit", "false"}})
    require(rd_kafka_conf_set(how, name.c_str(), value.c_str(), said.data(), said.size()) == RD_KAFKA_CONF_OK,
            said.data());
  rd_kafka_t* const consumer = rd_kafka_new(RD_KAFKA_CONSUMER, how, said.data(), said.size());
  require(consumer != nullptr, said.data());
  rd_kafka_poll_set_consumer(consumer);
  rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, "clicks", RD_KAFKA_PARTITION_UA);
  require(rd_kafka_subscribe(consumer, topics) == RD_KAFKA_RESP_ERR_NO_ERROR, "no subscription");
  rd_kafka_topic_partition_list_destroy(topics);
  rd_kafka_queue_t* const queue = rd_kafka_queue_get_consumer(consumer);
  std::ofstream to(out);
  std::unordered_set<std::string> known;
  std::vector<rd_kafka_message_t*> some(10'000);
  for (std::size_t read = 0; read < events;) {
    const auto got = rd_kafka_consume_batch_queue(queue, 1'000, some.data(), some.size());
    for (ssize_t i = 0; i < got; ++i) {
      const rd_kafka_message_t& m = *some[static_cast<std::size_t>(i)];
      const std::string_view line(static_cast<const char*>(m.payload), m.err == 0 ? m.len : 0);
      constexpr std::size_t id = std::string_view("{\"id\":\"").size();
      if (m.err == 0 && known.emplace(line.substr(id, line.find('"', id) - id)).second) to << line << '\n';
      read += m.err == 0;
      rd_kafka_message_destroy(some[static_cast<std::size_t>(i)]);
    }
  }
  rd_kafka_queue_destroy(queue);
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  return own_cpu_seconds() - before;
}

void BM_stream_kafka_to_stdout(benchmark::State& state) {
  const std::string out =
      std::filesystem::temp_directory_path() / ("everseen-kafka-" + std::to_string(getpid()));
  run_result sum;
  std::size_t number = 0, fresh = 0;
  const double peer = by_hand(out);
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
  state.counters["peer_cpu_us"] = peer / static_cast<double>(events) * 1e6;
  state.counters["vs_peer"] = peer / static_cast<double>(events) / (sum.cpu_seconds / all);
}
BENCHMARK(BM_stream_kafka_to_stdout)->UseManualTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace everseen::bench

#endif
