#include "everseen/redis/filter/partition_admin.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/staged_key.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/staged_value.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

bool is_judged_by_clients(const filter_identity& f) noexcept {
  return f.spec.judge == judge_kind::client;
}

/// Names of the fields of a partition's state.    @throws storage_error  it is gone
std::vector<std::string> state_fields(server_connections& connections, const filter_identity& f,
                                      std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  const reply fields = ask_about(connections, {key, partition}, {"HKEYS", key});
  if (fields.size() == 0) throw filter_is_gone(key);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) names.emplace_back(fields[i].text());
  return names;
}

/// The records of jobs beside a partition, listed or not.
void append_lanes(server_connections& connections, const filter_identity& f, std::uint32_t partition,
                  std::vector<std::string>& out) {
  const std::string mark = partition_keys::job_field("");
  for (const std::string& field : state_fields(connections, f, partition))
    if (field.starts_with(mark))
      out.push_back(partition_keys::lane_records(f.keys.state(partition), field.substr(mark.size())));
}

format_error sealed_for_another(const std::string& key) {
  return damaged_key(key, "was sealed for another filter than its successor");
}

/// Requests about all partitions; an error in their answers is left to the caller.
std::vector<answer> ask_partitions(server_connections& connections, const filter_identity& f,
                                   std::initializer_list<std::string_view> words_after_key,
                                   std::string_view command, bool on_replicas) {
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(p);
    std::vector<std::string_view> words = {command, key};
    words.insert(words.end(), words_after_key);
    requests.push_back({{key, p}, encode(words), 1, true});
    requests.back().on_replicas = on_replicas;
  }
  return connections.exchange(requests);
}

/// @return false  a value is gone
bool seal_values(server_connections& connections, const filter_identity& f,
                 const image::filter_id& successor) {
  const std::vector<answer> answers =
      ask_partitions(connections, f, {bytes_of(successor)}, "EVERSEEN.SEAL", successor != f.id);
  bool is_whole = true;
  for (std::uint32_t p = 0; p < answers.size(); ++p) {
    if (!answers[p]) throw backend_error(answers[p].error().message);
    const reply& last = answers[p]->back();
    if (last.is_error("GONE")) {
      is_whole = false;
    } else if (successor_in(last)) {
      if (successor != f.id) throw sealed_for_another(f.keys.state(p));
    } else if (last.is_error()) {
      raise_refusal(f, p, last);
    }
  }
  return is_whole;
}

void empty_value(server_connections& connections, const filter_identity& f, std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  const request clear{{key, partition}, encode({"EVERSEEN.CLEAR", key, bytes_of(random_content())}), 1, true};
  const answer a = std::move(connections.exchange(std::span(&clear, 1)).front());
  if (!a) throw backend_error(a.error().message);
  const reply& last = a->back();
  if (const auto next = successor_in(last); next && *next != f.id)
    throw storage_error("the filter is being rebuilt; try again", 0, key);
  if (last.is_error()) raise_refusal(f, partition, last);
}

}  // namespace

script_call first_call(const filter_identity& f, std::uint32_t partition, const partition_state& s) {
  const std::string key = f.keys.state(partition), begin = to_text(journal_position{});
  if (!is_judged_by_clients(f))
    return creation_of(key, header_of(f, partition, s, random_content()), unseen_life_ms);
  script_call call{&staging_scripts::create(),
                   {key, partition},
                   {key},
                   {std::string(unseen_life_ms), "HSET", "begin", begin, "end", begin, "manifest",
                    encode_manifest(f, partition, s), "counts", encode_counts(s)}};
  for (const announced_filter::segment& each : segments_of(partition, s.slices))
    call.keys.push_back(f.keys.segment(each.id));
  return call;
}

std::vector<std::string> keys_beside(server_connections& connections, const filter_identity& f,
                                     std::uint32_t partition) {
  if (!is_judged_by_clients(f)) return {};
  std::vector<std::string> keys;
  append_lanes(connections, f, partition, keys);
  std::ranges::move(strings_of(f, partition, read_checkpoint(connections, f, partition)),
                    std::back_inserter(keys));
  return keys;
}

bool has_all_partitions(server_connections& connections, const filter_identity& f) {
  std::vector<request> partitions;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p)
    partitions.push_back({{f.keys.state(p), p}, encode({"EXISTS", f.keys.state(p)}), 1, true});
  return std::ranges::all_of(exchange_all(connections, partitions),
                             [](const answer& a) { return a->front().integer() == 1; });
}

void make_permanent(server_connections& connections, const filter_identity& f) {
  // One request for each partition, and its state last: a server that keeps it keeps what it names.
  std::vector<request> partitions;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string state = f.keys.state(p);
    std::vector<std::string> keys = keys_beside(connections, f, p);
    keys.push_back(state);
    request& r = partitions.emplace_back(request{{state, p}, encode({"EXISTS", state}), 1, true});
    for (const std::string& key : keys) r.wire += encode({"PERSIST", key});
    r.commands += keys.size();
    r.on_replicas = true;
  }
  const auto persist_all = [&] {
    const std::vector<answer> answers = exchange_all(connections, partitions);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i]->front().integer() == 0) throw filter_is_gone(partitions[i].destination.key);
  };
  persist_all();
  const std::string header = f.keys.header();
  request keep{{header, 0}, encode({"PERSIST", header}), 1, true};
  keep.on_replicas = true;
  (void)exchange_all(connections, {std::move(keep)});
  // With a permanent header nobody does it again. A server that took over meanwhile may have lost it.
  persist_all();
}

bool seal(server_connections& connections, const filter_identity& f, const image::filter_id& successor) {
  if (!is_judged_by_clients(f)) return seal_values(connections, f, successor);
  std::vector<script_call> calls;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(p);
    calls.push_back({&journal_scripts::seal(), {key, p}, {key}, {bytes_of(successor)}});
    calls.back().on_replicas = successor != f.id;
  }
  const std::vector<answer> answers = run_scripts(connections, calls);
  bool is_whole = true;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& key = calls[i].destination.key;
    const std::string_view message = expect_reply(answers[i], key)[0].text();
    // A filter that is being removed may have been sealed for another filter before.
    if (message == "N" && successor != f.id) throw sealed_for_another(key);
    is_whole = is_whole && message != "M";
  }
  return is_whole;
}

void empty_partition(server_connections& connections, const filter_identity& f, std::uint32_t partition) {
  is_judged_by_clients(f) ? empty_journal(connections, f, partition) : empty_value(connections, f, partition);
}

}  // namespace everseen::redis
