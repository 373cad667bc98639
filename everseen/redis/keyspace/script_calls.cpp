#include "everseen/redis/keyspace/script_calls.hpp"

#include "everseen/core/error.hpp"
#include "everseen/redis/command.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/remote_partition.hpp"

namespace everseen::redis {

namespace {

request encoded(const script_call& call, bool with_text) {
  const std::string count = std::to_string(call.keys.size());
  std::vector<std::string_view> words = {with_text ? "EVAL" : "EVALSHA",
                                         with_text ? call.what->text : call.what->sha1, count};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  request r{call.to, encode(words), 1, call.repeatable};
  r.on_replicas = call.on_replicas;
  return r;
}

bool lacks_script(const answer& a) {
  return a && a->back().is_error("NOSCRIPT");
}

}  // namespace

std::vector<answer> run_scripts(session& with, const std::vector<script_call>& calls) {
  std::vector<request> requests;
  requests.reserve(calls.size());
  for (const script_call& call : calls) requests.push_back(encoded(call, false));
  std::vector<answer> answers = with.exchange(requests);
  requests.clear();
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (lacks_script(answers[i])) requests.push_back(encoded(calls[i], true));
  if (requests.empty()) return answers;
  std::vector<answer> again = with.exchange(requests);
  auto next = again.begin();
  for (answer& a : answers)
    if (lacks_script(a)) a = std::move(*next++);
  return answers;
}

reply run_script(session& with, script_call call) {
  const std::string key = call.to.key;
  const std::vector<answer> answers = run_scripts(with, {std::move(call)});
  return expect_reply(answers.front(), key);
}

const reply& expect_reply(const answer& a, const std::string& key) {
  if (!a) throw backend_error(a.error().message);
  const reply& r = a->back();
  if (r.is_error("WRONGTYPE")) throw damaged_key(key, "has another type");
  if (r.is_error()) throw backend_error(refused_command(key, r.text()));
  return r;
}

}  // namespace everseen::redis
