#include "everseen/redis/wire/refusal.hpp"

#include <algorithm>
#include <initializer_list>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/url_text.hpp"

namespace everseen::redis {

namespace {

/// "MOVED 3999 127.0.0.1:6381"; the host may be empty, and an IPv6 address has no brackets.
std::optional<refusal> read_redirection(refusal::kind why, std::string_view text, const endpoint& asked) {
  const auto words = url_text::split(text, ' ');
  if (words.size() < 3) return {};
  const auto slot = read_number(words[1]);
  const std::size_t colon = words[2].rfind(':');
  if (!slot || *slot >= slot_map::slots || colon == std::string_view::npos) return {};
  const auto port = read_number(words[2].substr(colon + 1));
  if (!port || *port == 0 || *port > 65535) return {};
  const std::string_view host = words[2].substr(0, colon);
  const bool same = host.empty() || host == "?";
  return refusal{why, static_cast<slot_number>(*slot),
                 endpoint{same ? asked.host : std::string(host), static_cast<std::uint16_t>(*port)},
                 std::string(text)};
}

/// The text of an error. Servers before Redis 7 put words of their own before what failed inside a script:
/// "ERR Error running script (call to f_…): @user_script:1: @user_script: 1: -READONLY You can't …".
std::string_view without_script(std::string_view text) noexcept {
  constexpr std::string_view mark = ": -";
  if (!text.starts_with("ERR Error running script")) return text;
  const std::size_t begin = text.find(mark);
  return begin == std::string_view::npos ? text : text.substr(begin + mark.size());
}

bool is_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text.substr(0, text.find(' '))) != words.end();
}

}  // namespace

std::optional<refusal> refusal_of(const reply& r, const endpoint& asked) {
  if (!r.is_error()) return {};
  if (r.is_error("MOVED")) return read_redirection(refusal::kind::moved, r.text(), asked);
  if (r.is_error("ASK")) return read_redirection(refusal::kind::ask, r.text(), asked);
  // These refuse the first write of a script, and none changes while it runs: a refused one has changed
  // nothing.
  const std::string_view text = without_script(r.text());
  if (is_any(text, {"TRYAGAIN", "LOADING", "BUSY", "MISCONF"}))
    return refusal{refusal::kind::later, 0, {}, std::string(r.text())};
  if (is_any(text, {"READONLY", "NOREPLICAS", "CLUSTERDOWN", "MASTERDOWN"}))
    return refusal{refusal::kind::not_master, 0, {}, std::string(r.text())};
  return {};
}

bool is_denial(const reply& r) noexcept {
  return r.is_error("NOPERM") || (r.is_error() && r.text().starts_with("ERR unknown command"));
}

bool forbids_scripts(const reply& r) noexcept {
  if (!is_denial(r)) return false;
  // The error names the refused command, in different kinds of quotes: 'evalsha', `EVAL`. A command that was
  // refused inside a script is another case.
  for (const std::string_view name : {"'eval", "'EVAL", "`eval", "`EVAL"})
    if (r.text().find(name) != std::string_view::npos) return true;
  return false;
}

std::string scripts_needed(std::string_view key) {
  return "the Redis server forbids scripts (at " + std::string(key) +
         "); allow its user EVAL and EVALSHA. To make, change or drop a filter takes them, also where the "
         "module judges, and so does a job";
}

std::string_view without_arguments(std::string_view message) noexcept {
  return message.substr(0, std::min(message.find(", with args beginning"), message.size()));
}

std::string refused_command(std::string_view key, std::string_view message) {
  // Searched for: servers before Redis 7 put words of their own before what failed inside a script.
  if (message.find("OOM ") != std::string_view::npos)
    return "the Redis server has reached its maxmemory (at " + std::string(key) +
           "); give it more, or drop a filter";
  return "the Redis server refused a command on " + std::string(key) + ": " +
         std::string(without_arguments(message));
}

}  // namespace everseen::redis
