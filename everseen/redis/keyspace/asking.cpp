#include "everseen/redis/keyspace/asking.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

reply ask_about(server_connections& connections, const route& key,
                std::initializer_list<std::string_view> words) {
  return exchange_all(connections, {{key, encode(words), 1, true}}).front()->front();
}

std::vector<std::string> read_ranges(server_connections& connections, std::span<const string_range> ranges) {
  std::vector<request> requests;
  for (const string_range& range : ranges)
    for (std::uint64_t from = range.begin; from < range.end; from += piece_bytes) {
      const std::uint64_t last = std::min(range.end, from + piece_bytes) - 1;
      requests.push_back({range.source,
                          encode({"GETRANGE", range.source.key, std::to_string(from), std::to_string(last)}),
                          1, true});
    }
  const std::vector<answer> answers = exchange_all(connections, requests);
  std::vector<std::string> read(ranges.size());
  auto piece = answers.begin();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const string_range& range = ranges[i];
    for (std::uint64_t from = range.begin; from < range.end; from += piece_bytes, ++piece)
      // A string may have grown since an earlier piece ended it.
      if (range.begin + read[i].size() == from) read[i] += (*piece)->front().text();
  }
  return read;
}

format_error damaged_key(const std::string& key, const std::string& subject) {
  return format_error(
      "the key " + key + " " + subject +
      "; it was deleted, renamed, evicted or overwritten. Restore the filter from an export, or drop it");
}

std::string to_text(event_time t) {
  return std::to_string(t.time_since_epoch().count());
}

namespace {

/// Sent again if a server refuses it, but not if its connection was lost: its answer counts as forgotten.
constexpr repetition unless_lost{std::chrono::milliseconds(1)};
/// Much longer than the next piece takes.
constexpr std::string_view piece_life_ms = "60000";

/// Returns the new length of the string. A piece that does not begin where the string ends changes nothing:
/// it comes a second time, or late, or the server has lost what was before it.
constexpr std::string_view store_piece = R"(
local call, key = redis.call, KEYS[1]
local length = call('STRLEN', key)
if length == tonumber(ARGV[1]) then
  length = call('SETRANGE', key, ARGV[1], ARGV[2])
  call('PEXPIRE', key, ARGV[3])
end
return length
)";

/// @param wire  the command that stores its string, if it has one; the call is appended
request request_of(const script_call& call, std::string wire) {
  const bool stages = !wire.empty();
  wire += encode_call(*call.called, call.keys, call.arguments);
  wire += call.after;
  request r{call.destination, std::move(wire), (stages ? 1 : 0) + 1 + call.commands_after,
            stages ? unless_lost : call.repeatable};
  r.called = call.called;
  r.on_replicas = call.on_replicas;
  return r;
}

request piece_of(const script_call& call, std::string_view bytes, std::size_t from) {
  // By its text: a server that does not know the script would refuse all pieces that are on their way.
  return {call.destination,
          encode({"EVAL", store_piece, "1", call.staged.key, std::to_string(from),
                  bytes.substr(from, piece_bytes), piece_life_ms}),
          1, true};
}

/// Sends the string of a call piece by piece, and then the call. If the server loses pieces again and again,
/// the script finds that the string is not whole.
answer run_in_pieces(server_connections& connections, const script_call& call, std::string_view bytes) {
  std::size_t rounds = 2 * (bytes.size() / piece_bytes + 1);  // each stores one or more
  for (std::size_t stored = 0; stored < bytes.size() && rounds > 0; --rounds) {
    std::vector<request> pieces;
    for (std::size_t from = stored; from < bytes.size(); from += piece_bytes)
      pieces.push_back(piece_of(call, bytes, from));
    stored = 0;
    for (answer& a : connections.exchange(pieces)) {
      if (!a || a->front().is_error()) return std::move(a);
      stored = std::max(stored, static_cast<std::size_t>(a->front().integer()));
    }
  }
  const request alone = request_of(call, {});
  return std::move(connections.exchange(std::span(&alone, 1)).front());
}

const reply& no_error(const reply& r, const std::string& key) {
  if (!r.is_error()) return r;
  // Search the whole text: servers before Redis 7 put words of their own before an error inside a script.
  if (r.text().find("WRONGTYPE") != std::string_view::npos) throw damaged_key(key, "has another type");
  if (forbids_scripts(r)) throw backend_error(scripts_needed(key));
  throw backend_error(refused_command(key, r.text()));
}

}  // namespace

script_call remembered(const server_connections& connections, script_call call) {
  const std::string& key = call.keys.front();
  const std::chrono::milliseconds life = connections.keeps_answers();
  call.keys.push_back(partition_keys::token(key.substr(0, key.find('}') + 1), connections.name()));
  call.arguments.insert(call.arguments.end(), {next_sequence(), std::to_string(life.count())});
  call.repeatable = repetition(life);
  return call;
}

std::vector<answer> run_scripts(server_connections& connections, std::vector<script_call> calls) {
  std::vector<request> requests;
  requests.reserve(calls.size());
  for (script_call& call : calls) requests.push_back(request_of(call, std::move(call.staged.command)));
  std::vector<answer> answers = connections.exchange(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const staged_string& s = calls[i].staged;
    if (answers[i] || !answers[i].error().may_have_run || s.key.empty()) continue;
    answers[i] =
        run_in_pieces(connections, calls[i], std::string_view(requests[i].wire).substr(s.begin, s.bytes));
  }
  return answers;
}

reply run_script(server_connections& connections, script_call call) {
  const std::string key = call.destination.key;
  const std::vector<answer> answers = run_scripts(connections, {std::move(call)});
  return expect_reply(answers.front(), key);
}

std::vector<answer> exchange_all(server_connections& connections, const std::vector<request>& requests) {
  std::vector<answer> all;
  for (std::size_t from = 0; from < requests.size(); from += requests_at_once) {
    const auto some = std::span(requests).subspan(from, std::min(requests_at_once, requests.size() - from));
    for (answer& a : connections.exchange(some)) {
      const std::string& key = requests[all.size()].destination.key;
      if (!a) throw backend_error(a.error().message);
      for (const reply& r : *a) (void)no_error(r, key);
      all.push_back(std::move(a));
    }
  }
  return all;
}

const reply& expect_reply(const answer& a, const std::string& key, std::size_t after) {
  if (!a) throw backend_error(a.error().message);
  return no_error((*a)[a->size() - 1 - after], key);
}

backend_error lost_data(const std::string& key) {
  return backend_error("the server of " + key +
                       " has already lost data that it was just sent: it was replaced, or it evicts keys for "
                       "lack of memory; try again");
}

void refuse_lack(const answer& a, const std::string& key) {
  if (a->size() > 1) (void)no_error((*a)[a->size() - 2], key);
  throw lost_data(key);
}

void require_scripts(server_connections& connections, const route& destination) {
  (void)exchange_all(connections, {{destination, encode({"EVAL", "return 1", "0"}), 1, true}});
}

}  // namespace everseen::redis
