#include "everseen/redis/journal/mirror_set.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

namespace {

/// The interval between checks for the end of another client's append lease.
constexpr std::chrono::milliseconds another_clients_lease{2};

/// How often a server may lose what it was just sent, before that is an error.
constexpr int most_lacks = 3;

/// No exception may leave a batch of which parts were added.
batch_failure failure_of_this_exception() {
  try {
    return batch_failure::from_current_exception();
  } catch (const std::exception& e) {
    return {batch_failure::cause::storage, e.what(), {}};
  }
}

struct held_task {
  partition_mirror* mirror;
  std::unique_lock<std::mutex> order;
  std::unique_ptr<mirror_task> task;
};

}  // namespace

template <typename Step>
void mirror_task::guarded(Step step) {
  try {
    step();
  } catch (...) {
    fail(failure_of_this_exception());
    give_up();
  }
}

std::optional<script_call> mirror_task::next(server_connections& connections) {
  std::optional<script_call> call;
  if (failure_ && failure_->ends_batch()) return call;
  guarded([&] {
    if (mirror_.is_empty()) {
      mirror_.load(connections);
      is_current_ = true;
    }
    mirror_.require_unsealed();
    is_looking_ = must_look();
    if (!is_looking_ && !lost_before_) lost_before_ = connections.lost_answers();
    call = is_looking_ ? mirror_.compare_call() : go_on(connections);
  });
  return call;
}

std::size_t mirror_task::most_keys(const server_connections& connections) const noexcept {
  return has_lost_answers(connections) ? mirror_.short_record_keys() : max_journal_record_keys;
}

/// If other clients add keys, checking first costs less than a refused record.
bool mirror_task::must_look() const noexcept {
  return !is_current_ && (mirror_.others_add() || mirror_.unasked() > mirror_set::unasked_at_most);
}

void mirror_task::take(server_connections& connections, const answer& a,
                       std::chrono::steady_clock::time_point asked) {
  waits_ = false;
  guarded([&] {
    if (!a && a.error().may_have_run && looks_again()) return;
    const std::string key = mirror_.place().key;
    const std::size_t after = is_looking_ ? partition_mirror::commands_after_compare : 0;
    const reply& r = expect_reply(a, key, after);
    const std::string_view message = r[0].text();
    if (message == "K" && is_looking_) {
      mirror_.note_unchanged(asked);
      is_current_ = true;
    } else if (message == "K") {
      done();  // it is in the journal, even if this mirror fails
      mirror_.accept(asked);
      is_current_ = false;
      write_checkpoint(connections);
    } else if (message == "S" || message == "W") {
      waits_ = message == "W";
      is_current_ = !waits_;
      mirror_.read_on(connections, r, std::span(*a).last(after), asked);
    } else if (message == "N") {
      mirror_.note_successor(id_in_field(r[1], key));
      mirror_.require_unsealed();
    } else if (message == "D") {
      mirror_.clear();  // nothing is answered from what is known to be damaged, or gone
      throw damaged_key(key, "has a journal whose last part is missing");
    } else if (message == "U") {
      // What it was sent expires after a minute: its clock may have jumped.
      if (++lacks_ == most_lacks) refuse_lack(a, key);
    } else if (message == "M") {
      mirror_.clear();
      throw filter_is_gone(key);
    } else {
      take_other(connections, r);
    }
  });
}

void mirror_task::stop(batch_failure why) {
  fail(std::move(why));
  give_up();
}

/// A failed checkpoint only costs memory on the server and space in its log; the next batch tries again.
void mirror_task::write_checkpoint(server_connections& connections) {
  if (!mirror_.wants_checkpoint()) return;
  try {
    mirror_.write_checkpoint(connections);
  } catch (const lost_history&) {
    throw;
  } catch (const error&) {
    mirror_.put_checkpoint_off();
  }
}

void mirror_task::take_other(server_connections&, const reply& r) {
  throw format_error("a script answered '" + std::string(r[0].text()) + "', which is not one of its answers");
}

mirror_set::mirror_set(const filter_identity& f, const redis_url& url)
    : filter_(f), memory_(f.spec.partitions, url.mirror_bytes) {
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p)
    mirrors_.push_back(std::make_unique<partition_mirror>(filter_, p, memory_, url.wait_replicas > 0));
}

std::optional<batch_failure> mirror_set::run(server_connections& connections,
                                             std::span<const std::uint32_t> partitions,
                                             const task_maker& make) {
  try {
    life_.require(connections);
    if (const auto next = successor()) throw filter_is_sealed(filter_, *next, filter_.keys.header());
  } catch (const error&) {
    return batch_failure::from_current_exception();
  }
  std::vector<std::size_t> left(partitions.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::optional<batch_failure> failure;
  while (!left.empty()) {
    std::vector<held_task> taken;
    const auto take = [&](std::size_t i, std::unique_lock<std::mutex> order) {
      partition_mirror& mirror = (*this)[partitions[i]];
      taken.push_back({&mirror, std::move(order), make(i, mirror)});
    };
    std::erase_if(left, [&](std::size_t i) {
      std::unique_lock order((*this)[partitions[i]].order(), std::try_to_lock);
      const bool is_free = order.owns_lock();
      if (is_free) take(i, std::move(order));
      return is_free;
    });
    if (taken.empty()) {
      take(left.front(), std::unique_lock((*this)[partitions[left.front()]].order()));
      left.erase(left.begin());
    }
    std::vector<mirror_task*> tasks;
    for (held_task& each : taken) tasks.push_back(each.task.get());
    while (exchange(connections, tasks)) {
    }
    for (held_task& each : taken) {
      note_successor(*each.mirror);
      if (auto& one = each.task->failure(); one && (!failure || !failure->ends_batch()))
        failure = std::move(one);
    }
  }
  return failure;
}

/// Makes one call for each task that needs one.    @return whether there was any
bool mirror_set::exchange(server_connections& connections, std::span<mirror_task* const> tasks) {
  std::vector<script_call> calls;
  std::vector<mirror_task*> callers;
  for (mirror_task* task : tasks)
    if (auto call = task->next(connections)) {
      calls.push_back(*std::move(call));
      callers.push_back(task);
    }
  if (calls.empty()) return false;
  const auto asked = std::chrono::steady_clock::now();
  std::vector<answer> answers;
  try {
    answers = run_scripts(connections, std::move(calls));
  } catch (...) {  // out of descriptors or memory
    for (mirror_task* caller : callers) caller->stop(failure_of_this_exception());
    return true;
  }
  for (std::size_t i = 0; i < answers.size(); ++i) callers[i]->take(connections, answers[i], asked);
  if (std::ranges::all_of(callers, [](const mirror_task* t) { return t->waits(); }))
    std::this_thread::sleep_for(another_clients_lease);
  return true;
}

std::optional<image::filter_id> mirror_set::successor() const {
  const std::scoped_lock alone(succession_);
  return successor_;
}

void mirror_set::note_successor(const partition_mirror& mirror) {
  if (!mirror.successor()) return;
  const std::scoped_lock alone(succession_);
  successor_ = mirror.successor();
}

void mirror_set::clear() {
  for (const auto& mirror : mirrors_) {
    const std::scoped_lock order(mirror->order());
    mirror->clear();
  }
}

void mirror_set::take_end(server_connections& connections, partition_mirror& mirror, const reply& fields,
                          std::chrono::steady_clock::time_point asked) {
  if (fields[0].text() != to_text(mirror.position())) return mirror.read_on(connections);
  mirror.note_asked(asked);
  mirror.note_successor(id_in_field(fields[1], mirror.place().key));
}

void mirror_set::bring_up_to_date(server_connections& connections, partition_mirror& mirror) {
  if (mirror.is_empty()) return mirror.load(connections);
  const route destination = mirror.place();
  const auto asked = std::chrono::steady_clock::now();
  const reply fields = ask_about(connections, destination, {"HMGET", destination.key, "end", "successor"});
  take_end(connections, mirror, fields, asked);
}

}  // namespace everseen::redis
