#include "everseen/redis/keyspace/script_calls.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "everseen/core/error.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

/// Neither side has to keep more.
constexpr std::size_t at_once = 256;

/// @param before  call.before
request encoded(const script_call& call, std::string before, bool with_text) {
  const std::string count = std::to_string(call.keys.size());
  std::vector<std::string_view> words = {with_text ? "EVAL" : "EVALSHA",
                                         with_text ? call.what->text : call.what->sha1, count};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  append_command(before, words);
  before += call.after;
  request r{call.to, std::move(before), call.commands_before + 1 + call.commands_after, call.repeatable};
  r.on_replicas = call.on_replicas;
  return r;
}

bool lacks_script(const answer& a, const script_call& call) {
  return a && (*a)[call.commands_before].is_error("NOSCRIPT");
}

const reply& no_error(const reply& r, const std::string& key) {
  if (!r.is_error()) return r;
  // Searched for: servers before Redis 7 put words of their own before what failed inside a script.
  if (r.text().find("WRONGTYPE") != std::string_view::npos) throw damaged_key(key, "has another type");
  if (forbids_scripts(r)) throw backend_error(scripts_needed(key));
  throw backend_error(refused_command(key, r.text()));
}

}  // namespace

std::vector<answer> run_scripts(session& with, std::vector<script_call> calls) {
  std::vector<request> requests;
  std::vector<std::size_t> before;  // bytes
  requests.reserve(calls.size());
  for (script_call& call : calls) {
    before.push_back(call.before.size());
    requests.push_back(encoded(call, std::move(call.before), false));
  }
  std::vector<answer> answers = with.exchange(requests);
  std::vector<request> with_text;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (lacks_script(answers[i], calls[i]))
      with_text.push_back(encoded(calls[i], requests[i].wire.substr(0, before[i]), true));
  if (with_text.empty()) return answers;
  std::vector<answer> again = with.exchange(with_text);
  auto next = again.begin();
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (lacks_script(answers[i], calls[i])) answers[i] = std::move(*next++);
  return answers;
}

reply run_script(session& with, script_call call) {
  const std::string key = call.to.key;
  const std::vector<answer> answers = run_scripts(with, {std::move(call)});
  return expect_reply(answers.front(), key);
}

std::vector<answer> exchange_all(session& with, const std::vector<request>& requests) {
  std::vector<answer> all;
  for (std::size_t from = 0; from < requests.size(); from += at_once) {
    const auto some = std::span(requests).subspan(from, std::min(at_once, requests.size() - from));
    for (answer& a : with.exchange(some)) {
      const std::string& key = requests[all.size()].to.key;
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

void refuse_lack(const answer& a, const std::string& key) {
  if (a->size() > 1) (void)no_error((*a)[a->size() - 2], key);
  throw backend_error("the server of " + key +
                      " did not keep what it was sent a moment ago; does it evict keys for lack of memory?");
}

void require_scripts(session& with, const route& at) {
  const request asked{at, encode({"EVAL", "return 1", "0"}), 1, true};
  const answer a = std::move(with.exchange(std::span(&asked, 1)).front());
  (void)expect_reply(a, at.key);
}

}  // namespace everseen::redis
