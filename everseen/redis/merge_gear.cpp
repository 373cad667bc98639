#include "everseen/redis/merge_gear.hpp"

#include <algorithm>
#include <iterator>

#include "everseen/redis/fence.hpp"
#include "everseen/redis/lease.hpp"
#include "everseen/redis/lease_scripts.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/replica_wait.hpp"
#include "everseen/store/unanswered.hpp"

namespace everseen::redis {

namespace {

/// Requests on their way at once: of a megabyte each.
constexpr std::size_t at_once = 16;

std::vector<answer> exchange_all(session& with, const std::vector<request>& requests) {
  std::vector<answer> all;
  for (std::size_t from = 0; from < requests.size(); from += at_once) {
    auto some = with.exchange(std::span(requests).subspan(from, std::min(at_once, requests.size() - from)));
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

/// The word that a script of the lease gave back.
/// @throws backend_error  no answer, or an error
std::string word_of(const answer& a, const std::string& key) {
  if (!a) throw backend_error(a.error().message);
  const reply& r = a->back();
  if (r.is_error()) throw backend_error(refused_command(key, r.text()));
  return std::string(r.text());
}

/// @throws format_error, backend_error  it was not done
void require_done(const std::string& word, const std::string& key) {
  if (word == "K") return;
  if (word == "M") throw damaged_key(key, "is missing");
  if (word.starts_with('D')) throw damaged_key(key, "is missing, or has another type or length");
  throw backend_error(
      "the lease of " + key +
      " ended before the keys were written, so somebody else may have added some; add them again");
}

}  // namespace

merge_gear::merge_gear(const remote_filter& f, const redis_url& url)
    : filter_(f), patience_(url.retry_for), replicas_(url), owner_(new_owner()), place_(f.spec.partitions) {}

batch_result merge_gear::add(session& with, std::span<const partition_batch> batches) {
  const std::scoped_lock alone(lock_);
  try {
    // To take many large partitions may outlast the lease of the first.
    for (int round = 0; round < 3 && hold(with, batches); ++round) {
    }
    look_before_adding(with, batches);
    tally done;
    std::optional<batch_failure> failure;
    for (const partition_batch& batch : batches) {
      const batch_result result = held_.at(batch.partition)->add(batch);
      done += result ? *result : result.error().done;
      if (!result && !failure) failure = result.error();
    }
    write(with, batches);
    if (!failure) return done;
    failure->done = done;
    return tl::unexpected(*std::move(failure));
  } catch (const error&) {
    const batch_failure why = batch_failure::from_current_exception();
    for (const partition_batch& batch : batches) held_.erase(batch.partition);
    return unanswered(batches, why.why, why.message);
  }
}

/// @throws backend_error  the batch could not be acknowledged
void merge_gear::look_before_adding(session& with, std::span<const partition_batch> batches) {
  std::vector<route> places;
  for (const partition_batch& batch : batches)
    places.push_back({filter_.keys.state(filter_.generation, batch.partition), batch.partition});
  for (const auto& lacking : replicas_.look_before(with, places))
    if (lacking) lacking->raise();
}

/// Renews the leases of the partitions of a batch, and takes those that are not held.
/// @return whether some had to be taken
bool merge_gear::hold(session& with, std::span<const partition_batch> batches) {
  std::vector<request> requests;
  std::vector<std::uint32_t> asked;
  for (const partition_batch& batch : batches)
    if (const auto held = held_.find(batch.partition); held != held_.end()) {
      requests.push_back(held->second->settle());
      asked.push_back(batch.partition);
    }
  const std::vector<answer> answers = exchange_all(with, requests);
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (word_of(answers[i], requests[i].to.key) != "K") held_.erase(asked[i]);
  bool taken = false;
  for (const partition_batch& batch : batches)
    if (!held_.contains(batch.partition)) {
      take(with, batch.partition);
      taken = true;
    }
  return taken;
}

void merge_gear::take(session& with, std::uint32_t partition) {
  for (lease_wait wait(patience_);;) {
    const auto held = try_to_take(with, partition);
    if (!held) return;
    if (held->count() == 0) continue;  // somebody has changed the partition: look again
    if (wait.is_over()) throw backend_error(held_message(filter_, partition, *held));
    wait.pause();
  }
}

/// @return nothing if it is held now; else how long somebody else holds it, 0 if nobody does
std::optional<std::chrono::milliseconds> merge_gear::try_to_take(session& with, std::uint32_t partition) {
  const std::string key = filter_.keys.state(filter_.generation, partition);
  const auto load = [&] {
    return decode_state(filter_, partition, ask_about(with, {key, partition}, {"HGETALL", key}));
  };
  remote_partition now = load();
  if (now.closed || now.next != 0)
    throw storage_error("the filter '" + filter_.keys.name() +
                            "' is being rebuilt, or was; open it again afterwards to load it in bulk",
                        0, key);
  const std::string epoch = std::to_string(now.epoch);
  ++now.epoch;
  const request taking{
      {key, partition},
      encode({"EVAL", scripts::take_lease().text, "2", key, filter_.keys.fence(filter_.generation, partition),
              epoch, std::to_string(now.epoch), encode_state(filter_, now), fence::bytes_of(now.epoch),
              owner_, std::to_string(lease_life.count())}),
      1,
      true};
  const std::string word = word_of(with.exchange(std::span(&taking, 1)).front(), key);
  if (const auto left = held_for(word)) return *left;
  if (word == "S") return std::chrono::milliseconds(0);
  require_done(word, key);
  now = load();  // the counts may have risen since, up to the lease
  auto held = std::make_unique<leased_partition>(filter_, owner_, place_, std::move(now));
  held->take_pages(exchange_all(with, held->reads()));
  held_[partition] = std::move(held);
  return {};
}

void merge_gear::write(session& with, std::span<const partition_batch> batches) {
  std::vector<request> settling;
  for (const partition_batch& batch : batches) {
    const leased_partition& held = *held_.at(batch.partition);
    const std::vector<request> pages = held.writes();
    for (const answer& a : exchange_all(with, pages))
      require_done(word_of(a, pages[0].to.key), pages[0].to.key);
    if (!pages.empty()) settling.push_back(held.settle());
  }
  for (request& r : settling) r.on_replicas = true;
  const std::vector<answer> answers = exchange_all(with, settling);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& key = settling[i].to.key;
    replicas_.note(settling[i].to, answers[i]);
    require_done(word_of(answers[i], key), key);
  }
  for (const partition_batch& batch : batches) held_.at(batch.partition)->settled();
}

void merge_gear::release(session& with) {
  const std::scoped_lock alone(lock_);
  std::vector<request> requests;
  for (const auto& [number, held] : held_) requests.push_back(held->release());
  (void)exchange_all(with, requests);
  held_.clear();
}

}  // namespace everseen::redis
