#include "everseen/redis/keyspace/script_calls.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

/// Limits the memory that the requests need on both sides.
constexpr std::size_t requests_at_once = 256;

request request_of(script_call call) {
  std::string wire = std::move(call.before);
  wire += encode_call(*call.what, call.keys, call.arguments);
  wire += call.after;
  request r{std::move(call.to), std::move(wire), call.commands_before + 1 + call.commands_after, true};
  r.what = call.what;
  r.on_replicas = call.on_replicas;
  return r;
}

const reply& no_error(const reply& r, const std::string& key) {
  if (!r.is_error()) return r;
  // Search the whole text: servers before Redis 7 put words of their own before an error inside a script.
  if (r.text().find("WRONGTYPE") != std::string_view::npos) throw damaged_key(key, "has another type");
  if (forbids_scripts(r)) throw backend_error(scripts_needed(key));
  throw backend_error(refused_command(key, r.text()));
}

}  // namespace

std::vector<answer> run_scripts(session& with, std::vector<script_call> calls) {
  std::vector<request> requests;
  requests.reserve(calls.size());
  for (script_call& call : calls) requests.push_back(request_of(std::move(call)));
  return with.exchange(requests);
}

reply run_script(session& with, script_call call) {
  const std::string key = call.to.key;
  const std::vector<answer> answers = run_scripts(with, {std::move(call)});
  return expect_reply(answers.front(), key);
}

std::vector<answer> exchange_all(session& with, const std::vector<request>& requests) {
  std::vector<answer> all;
  for (std::size_t from = 0; from < requests.size(); from += requests_at_once) {
    const auto some = std::span(requests).subspan(from, std::min(requests_at_once, requests.size() - from));
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
                      " has already lost data that it was just sent; does it evict keys for lack of memory?");
}

void require_scripts(session& with, const route& at) {
  (void)exchange_all(with, {{at, encode({"EVAL", "return 1", "0"}), 1, true}});
}

}  // namespace everseen::redis
