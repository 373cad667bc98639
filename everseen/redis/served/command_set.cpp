#include "everseen/redis/served/command_set.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

bool lacks_module(const answer& a) {
  return a && !says_module(a->front());
}

/// If the user may not ask, the answer says nothing about the module.
bool hides_module(const answer& a) {
  return a && is_denial(a->front());
}

/// The name of the server that gave this answer.
std::string server_of(const redis_url& url, std::size_t answer) {
  if (url.shape == redis_url::topology::cluster) return "a server of the cluster";
  return "redis at " + to_string(url.endpoints.at(answer));
}

}  // namespace

call_result call_result::failed(std::string message) {
  return {.what = kind::failed,
          .failure = batch_failure{batch_failure::cause::backend, std::move(message), {}}};
}

call_result call_result::damaged(const std::string& key, const std::string& what) {
  return {.what = kind::failed,
          .failure = batch_failure{batch_failure::cause::format, damaged_key(key, what).what(), {}}};
}

call_result call_result::refused(const std::string& key, const reply& error) {
  // Search the whole text: servers before Redis 7 put words of their own before an error inside a script.
  if (error.text().find("WRONGTYPE") != std::string_view::npos) return damaged(key, "has another type");
  return failed(refused_command(key, error.text()));
}

call_result call_result::gone(const std::string& state) {
  return {.what = kind::failed,
          .failure = batch_failure{batch_failure::cause::storage, filter_is_gone(state).what(), {}}};
}

command_set::command_set(const filter_identity& f, command_kind kind, std::string client,
                         std::chrono::milliseconds keeps_answers)
    : filter_(&f), kind_(kind), client_(std::move(client)), keeps_answers_(keeps_answers) {
  EVERSEEN_ASSERT(kind != command_kind::bitfield);
}

std::size_t command_set::keys_a_call(bool are_claimed) const noexcept {
  if (kind_ == command_kind::module) return 16'384;
  return are_claimed ? 16'000 : 1000;
}

request command_set::judge(const judge_call& q) const {
  return kind_ == command_kind::module ? judge_by_module(q) : judge_by_scripts(q);
}

call_result command_set::judged(const judge_call& q, const answer& a) {
  return kind_ == command_kind::module ? judged_by_module(q, a) : judged_by_scripts(q, a);
}

bool have_module(session& with) {
  const auto answers = with.exchange_with_all(module_question());
  if (std::ranges::none_of(answers, [](const answer& a) { return a.has_value(); }))
    throw backend_error(answers.front().error().message);
  return std::ranges::none_of(answers, lacks_module);
}

command_kind choose_commands(session& with, const redis_url& url) {
  if (url.commands == command_kind::bitfield)
    throw parameter_error(
        "commands=bitfield is for attached filters; this one has commands=script and commands=module");
  const auto answers = with.exchange_with_all(module_question() + encode({"EVAL", "return 1", "0"}));
  if (std::ranges::none_of(answers, [](const answer& a) { return a.has_value(); }))
    throw backend_error(answers.front().error().message);
  const bool is_forced = url.commands == command_kind::module;
  const auto lacking = std::ranges::find_if(
      answers, [&](const answer& a) { return lacks_module(a) && !(is_forced && hides_module(a)); });
  if (is_forced && lacking != answers.end())
    throw parameter_error(
        "commands=module needs the everseen module (of this version) on every server, and " +
        server_of(url, static_cast<std::size_t>(lacking - answers.begin())) +
        " does not have it; load it there, or leave out commands=");
  if (is_forced || (!url.commands && lacking == answers.end())) return command_kind::module;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i] && forbids_scripts(answers[i]->back()))
      throw backend_error(scripts_forbidden(server_of(url, i)) +
                          (std::ranges::any_of(answers, hides_module)
                               ? ". If it is loaded already, allow COMMAND INFO, which shows that, or give "
                                 "commands=module"
                               : ""));
  return command_kind::script;
}

}  // namespace everseen::redis
