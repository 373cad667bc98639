#include "everseen/server/api/http_keys.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <sodium.h>

#include "everseen/server/api/filter_json.hpp"
#include "everseen/server/http/json_body.hpp"
#include "everseen/text/json.hpp"

namespace everseen::server {

namespace {

/// The keys of a request, the owner of their bytes, and the receiver of the answer.
struct asked_keys {
  asked_keys(http_call& c, question q, const answer_taker& t)
      : body(c.from.body, c.all.settings().request.arguments), all(c.all), asks(q), to(t) {}
  json_body body;
  service& all;
  const question asks;
  const answer_taker to;
  std::shared_ptr<shared_filter> of{};
  std::vector<std::string> decoded{};
  key_batch batch{};
  std::optional<std::int64_t> when_ms{};
};

void decode(asked_keys& a) {
  a.decoded.reserve(a.batch.keys.size());
  for (std::string_view& key : a.batch.keys)
    key = a.decoded.emplace_back(decoded_key(key, key_encoding::base64));
}

void parse(asked_keys& a) {
  auto keys = a.body.texts("keys", a.all.settings().request.arguments);
  const key_encoding how = encoding_of(a.body.text("encoding").value_or("utf8"));
  a.when_ms = a.body.integer("time_ms", {INT64_MIN, INT64_MAX});
  a.body.must_be_all_taken();
  if (!keys || keys->empty())
    throw http_problem{400, "bad_parameter", "keys is missing: an array of at least one key"};
  a.batch.keys = std::move(*keys);
  if (how == key_encoding::base64) decode(a);
}

std::string verdicts_json(std::span<const verdict> verdicts, const std::string& fault) {
  std::string text = "{\"verdicts\":[";
  text.reserve(verdicts.size() * 8 + 128);
  tally t;
  for (const verdict v : verdicts) {
    text += '"';
    text += to_string(v);
    text += "\",";
    ++(v == verdict::fresh ? t.fresh : v == verdict::seen ? t.seen : v == verdict::late ? t.late : t.unknown);
  }
  if (!verdicts.empty()) text.pop_back();
  text += fmt::format("],\"fresh\":{},\"seen\":{},\"late\":{},\"unknown\":{}", t.fresh, t.seen, t.late,
                      t.unknown);
  if (!fault.empty())
    text += ",\"fault\":" + json(fault).dump(-1, ' ', false, json::error_handler_t::replace);
  return text + "}\n";
}

/// @throws http_problem, error  nothing is known of any key: a client that checks only the status must not
///         take that for an answer
http_response answer_of(const asked_keys& a) {
  // A filter that was dropped, emptied or rebuilt elsewhere must be reopened.
  if (a.batch.is_stale) a.all.filters().forget(a.of);
  if (a.batch.why.thrown) std::rethrow_exception(a.batch.why.thrown);
  const auto unknown = std::ranges::count(a.batch.verdicts, verdict::unknown);
  const auto& failure = a.batch.why.failure;
  if (failure && unknown == std::ssize(a.batch.keys)) throw problem_of(*failure);
  http_response r;
  r.body = verdicts_json(a.batch.verdicts, failure && unknown > 0 ? failure->message : std::string());
  return r;
}

void finish(const asked_keys& a) {
  const auto answered = [&] {
    try {
      return answer_of(a);
    } catch (...) {
      return response_of(problem_of_current_exception());
    }
  };
  a.to(answered());
}

void ask(http_call& c, question q, const answer_taker& to) {
  const auto a = std::make_shared<asked_keys>(c, q, to);
  parse(*a);
  a->of = need_filter(c);
  if (q == question::add && c.all.filters().is_full())
    throw http_problem{507, "no_room", "the filters take all the memory they may; no key was added"};
  const auto when = time_of(*a->of, a->when_ms);
  if (c.all.filters().batches_wait())
    return a->of->queue(q).submit(
        a->batch, when, [a] { finish(*a); }, a->of);
  judge(a->of->counted(), q, a->batch, when);
  finish(*a);
}

}  // namespace

key_encoding encoding_of(std::string_view word) {
  if (word == "utf8") return key_encoding::utf8;
  if (word == "base64") return key_encoding::base64;
  throw http_problem{400, "bad_parameter",
                     fmt::format("encoding is '{}'; it must be utf8 or base64", word.substr(0, 64))};
}

std::string decoded_key(std::string_view written, key_encoding how) {
  if (how == key_encoding::utf8) return std::string(written);
  std::string bytes(written.size() / 4 * 3 + 3, '\0');
  std::size_t size = 0;
  const int failed =
      ::sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), written.data(),
                          written.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0)
    throw http_problem{400, "bad_parameter", "a key is not in base64 (RFC 4648, with padding)"};
  bytes.resize(size);
  return bytes;
}

http_problem unknown_filter(std::string_view name) {
  return {404, "no_filter",
          fmt::format("there is no filter named '{}'; POST /api/v1/filters makes one", name.substr(0, 128))};
}

std::shared_ptr<shared_filter> need_filter(http_call& c) {
  auto found = c.all.filters().open(c.name);
  if (!found) throw unknown_filter(c.name);
  return found;
}

std::optional<event_time> time_of(const shared_filter& f, std::optional<std::int64_t> ms) {
  if (!f.has_window()) return std::nullopt;
  return ms ? event_time(std::chrono::milliseconds(*ms)) : service::now();
}

void add_keys(http_call& c, const answer_taker& to) {
  ask(c, question::add, to);
}

void check_keys(http_call& c, const answer_taker& to) {
  ask(c, question::check, to);
}

}  // namespace everseen::server
