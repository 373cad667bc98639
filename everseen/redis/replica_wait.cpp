#include "everseen/redis/replica_wait.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/command.hpp"

namespace everseen::redis {

namespace {

/// Less would fail batches for the jitter of a healthy replica.
constexpr std::chrono::milliseconds shortest{100};

batch_failure failure(std::string message) {
  return {batch_failure::cause::backend, std::move(message), {}};
}

/// Whether any command of a call did something: of a pipeline some may, and others be refused. An error, and
/// the OK and QUEUED of a transaction that was not run, did nothing.
bool may_have_written(const std::vector<reply>& answers) {
  return std::ranges::any_of(answers, [](const reply& r) {
    return r.what() == reply::kind::integer || r.what() == reply::kind::string ||
           r.what() == reply::kind::array;
  });
}

}  // namespace

std::string replica_wait::wire(std::size_t calls) const {
  // A server answers its calls one by one, so the waits add up; all together stay below the time limit of the
  // URL.
  const auto each = std::max<std::chrono::milliseconds>(shortest, limit_ / static_cast<int>(calls));
  return encode({"WAIT", std::to_string(replicas_), std::to_string(each.count())});
}

std::vector<std::optional<batch_failure>> replica_wait::look_before(session& with,
                                                                    std::span<const route> partitions) {
  std::vector<std::optional<batch_failure>> lacking(partitions.size());
  if (replicas_ == 0) return lacking;
  std::vector<request> requests;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < partitions.size(); ++i)
    if (!is_known(partitions[i])) {
      requests.push_back({partitions[i], wire(partitions.size()), 1, true});
      asked.push_back(i);
    }
  if (requests.empty()) return lacking;
  const std::vector<answer> answers = with.exchange(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    // No answer, or a server that is no master any more: what the call itself is told says more.
    if (!answers[i] || answers[i]->back().is_error()) continue;
    const std::int64_t there = answers[i]->back().integer();
    if (there >= static_cast<std::int64_t>(replicas_)) continue;
    lacking[asked[i]] = failure("only " + std::to_string(there) + " of the " + std::to_string(replicas_) +
                                " replicas that wait= asks for are in step (at " + requests[i].to.key +
                                "), so nothing was added there. Look after the replicas, or ask for fewer");
  }
  return lacking;
}

void replica_wait::follow(request& call, std::size_t calls) const {
  if (replicas_ == 0) return;
  call.wire += wire(calls);
  ++call.commands;
}

std::optional<batch_failure> replica_wait::take_off(const route& partition, answer& a) {
  if (replicas_ == 0 || !a) return {};
  const reply waited = a->back();
  a->pop_back();
  if (!may_have_written(*a)) return {};  // there is nothing that could be waited for
  const bool enough = !waited.is_error() && waited.integer() >= static_cast<std::int64_t>(replicas_);
  note(partition, enough);
  if (enough) return {};
  if (waited.is_error())
    return failure("the Redis server refused the WAIT that wait= asks for: " + std::string(waited.text()));
  return failure("only " + std::to_string(waited.integer()) + " of the " + std::to_string(replicas_) +
                 " replicas that wait= asks for had the batch in time (at " + partition.key +
                 "); the master has it, so its keys may be seen when they are asked about again. Look after "
                 "the replicas, or ask for fewer");
}

bool replica_wait::is_known(const route& partition) {
  const std::scoped_lock alone(lock_);
  const auto last = acknowledged_.find({partition.key, partition.partition});
  return last != acknowledged_.end() && clock::now() - last->second < std::chrono::seconds(1);
}

void replica_wait::note(const route& partition, bool acknowledged) {
  const std::scoped_lock alone(lock_);
  if (acknowledged)
    acknowledged_[{partition.key, partition.partition}] = clock::now();
  else
    acknowledged_.erase({partition.key, partition.partition});
}

}  // namespace everseen::redis
