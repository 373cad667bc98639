#include "everseen/redis/filter/partition_admin.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/keyspace/stored_id.hpp"
#include "everseen/redis/served/remote_partition.hpp"
#include "everseen/redis/served/served_scripts.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// Attempts while other clients change it.
constexpr int most_partition_attempts = 1000;

bool is_judged_by_clients(const filter_identity& f) noexcept {
  return f.spec.judge == judge_kind::client;
}

/// Names of the fields of a partition's state.    @throws storage_error  it is gone
std::vector<std::string> state_fields(session& with, const filter_identity& f, std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  const reply fields = ask_about(with, {key, partition}, {"HKEYS", key});
  if (fields.size() == 0) throw filter_is_gone(key);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) names.emplace_back(fields[i].text());
  return names;
}

/// The fields that count the segments of a partition. They name segments even if the list is unreadable, and
/// the list names those whose count was lost.
std::set<std::string> counts_of(session& with, const filter_identity& f, std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  std::set<std::string> counts;
  for (std::string& field : state_fields(with, f, partition))
    if (field.starts_with("keys:")) counts.insert(std::move(field));
  const reply manifest = ask_about(with, {key, partition}, {"HGET", key, "manifest"});
  try {
    for (const auto& entry : decode_manifest(f, partition, manifest.text()).segments)
      counts.insert(count_field(entry.id));
  } catch (const format_error&) {
    // Damaged.
  }
  return counts;
}

/// The records of jobs beside a partition, listed or not.
void append_lanes(session& with, const filter_identity& f, std::uint32_t partition,
                  std::vector<std::string>& to) {
  const std::string mark = partition_keys::job_field("");
  for (const std::string& field : state_fields(with, f, partition))
    if (field.starts_with(mark))
      to.push_back(partition_keys::lane_records(f.keys.state(partition), field.substr(mark.size())));
}

std::string segment_counted_by(const std::string& state, const std::string& field) {
  return state + field.substr(field.find(':'));
}

/// @return false  it has changed meanwhile
bool try_to_empty(session& with, const filter_identity& f, std::uint32_t partition, const std::string& word) {
  const std::string key = f.keys.state(partition);
  const reply epoch = ask_about(with, {key, partition}, {"HGET", key, "epoch"});
  script_call call{&scripts::empty(),
                   {key, partition},
                   {key},
                   {std::string(epoch.text()), word, encode_manifest(f, partition, {})}};
  for (const std::string& field : counts_of(with, f, partition)) {
    call.keys.push_back(segment_counted_by(key, field));
    call.arguments.push_back(field);
  }
  const reply said = run_script(with, std::move(call));
  if (said.text() == "M") throw filter_is_gone(key);
  if (said.text() == "N") throw not_emptied(with, f, partition);
  if (said.text() == "J")
    throw parameter_error(
        "a job of the filter was created meanwhile, so it cannot be reset; end the job first");
  return said.text() == "K";
}

}  // namespace

std::vector<std::string> first_state(const filter_identity& f, std::uint32_t partition,
                                     const partition_state& s) {
  if (!is_judged_by_clients(f)) return first_fields(f, partition, s);
  const std::string begin = to_text(journal_position{});
  return {"begin",  begin,           "end", begin, "manifest", encode_manifest(f, partition, s),
          "counts", encode_counts(s)};
}

std::vector<std::string> strings_of(session& with, const filter_identity& f, std::uint32_t partition) {
  std::vector<std::string> keys;
  append_lanes(with, f, partition, keys);
  if (is_judged_by_clients(f)) {
    std::ranges::move(strings_of(f, partition, read_checkpoint(with, f, partition)),
                      std::back_inserter(keys));
    return keys;
  }
  for (const std::string& field : counts_of(with, f, partition))
    keys.push_back(segment_counted_by(f.keys.state(partition), field));
  return keys;
}

void make_permanent(session& with, const filter_identity& f) {
  std::vector<request> requests;
  const auto persist = [&](const std::string& key, std::uint32_t partition) {
    requests.push_back({{key, partition}, encode({"PERSIST", key}), 1, true});
  };
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    persist(f.keys.state(p), p);
    for (const std::string& key : strings_of(with, f, p)) persist(key, p);
  }
  (void)exchange_all(with, std::exchange(requests, {}));
  persist(f.keys.header(), 0);
  (void)exchange_all(with, requests);
}

bool seal(session& with, const filter_identity& f, const image::filter_id& successor) {
  std::vector<script_call> calls;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(p);
    calls.push_back({&journal_scripts::seal(), {key, p}, {key}, {bytes_of(successor)}});
    calls.back().on_replicas = successor != f.id;
  }
  const std::vector<answer> answers = run_scripts(with, calls);
  bool is_whole = true;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& key = calls[i].to.key;
    const std::string_view said = expect_reply(answers[i], key)[0].text();
    // A filter that is being removed may have been sealed for another filter before.
    if (said == "N" && successor != f.id)
      throw damaged_key(key, "was sealed for another filter than its successor");
    is_whole = is_whole && said != "M";
  }
  return is_whole;
}

void empty_partition(session& with, const filter_identity& f, std::uint32_t partition) {
  if (is_judged_by_clients(f)) return empty_journal(with, f, partition);
  const std::string word = random_name();
  for (int i = 0; i < most_partition_attempts; ++i)
    if (try_to_empty(with, f, partition, word)) return;
  throw backend_error("other clients change " + f.keys.state(partition) +
                      " faster than it can be emptied; try again when they add fewer keys");
}

}  // namespace everseen::redis
