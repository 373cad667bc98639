#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sodium.h>

#include "everseen/core/base/names.hpp"
#include "everseen/report/explanation.hpp"
#include "everseen/serve/api/filter_json.hpp"
#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/serve/http/json_body.hpp"
#include "everseen/serve/registry/shared_filter.hpp"
#include "everseen/text/json.hpp"

/// Operations of the HTTP interface on keys: their encodings and the answers.
namespace everseen::serve {

namespace {

/// How keys, which may be any bytes, are written in JSON and paths.
enum class key_encoding : std::uint8_t { utf8, base64 };

key_encoding encoding_of(std::string_view word) {
  if (word == "utf8") return key_encoding::utf8;
  if (word == "base64") return key_encoding::base64;
  throw http_problem{400, "bad_parameter",
                     fmt::format("encoding is '{}'; it must be utf8 or base64", word.substr(0, 64))};
}

std::string decoded_key(std::string_view written, key_encoding encoding) {
  if (encoding == key_encoding::utf8) return std::string(written);
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

/// The time of the keys: the client's, else now; nothing without a window.
std::optional<event_time> time_of(const shared_filter& f, std::optional<std::int64_t> ms) {
  if (!f.has_window() && ms)
    throw http_problem{400, "bad_parameter", "time_ms is for a filter with a window; leave it out"};
  if (!f.has_window()) return std::nullopt;
  return ms ? event_time(std::chrono::milliseconds(*ms)) : service::now();
}

/// The keys of a request, the owner of their bytes, and the receiver of the answer.
struct keys_call {
  keys_call(service& s, question q, answer_taker t) : all(s), asks(q), answer(std::move(t)) {}
  service& all;
  const question asks;
  const answer_taker answer;
  std::shared_ptr<shared_filter> filter{};
  std::optional<json_body> body{};
  std::vector<std::string> decoded{};
  key_batch batch{};
  std::optional<std::int64_t> when_ms{};
  bool is_one = false;  ///< the key of a path
};

void decode(keys_call& a) {
  a.decoded.reserve(a.batch.keys.size());
  for (std::string_view& key : a.batch.keys)
    key = a.decoded.emplace_back(decoded_key(key, key_encoding::base64));
}

void parse_json(const http_call& c, keys_call& a) {
  query_parameters(c.from.query()).must_be_all_taken();
  const std::size_t most = a.all.settings().request.arguments;
  json_body& body = a.body.emplace(c.from.body, most);
  auto keys = body.texts("keys", most);
  const key_encoding encoding = encoding_of(body.text("encoding").value_or("utf8"));
  a.when_ms = body.integer("time_ms", {INT64_MIN, INT64_MAX});
  body.must_be_all_taken();
  if (!keys || keys->empty())
    throw http_problem{400, "bad_parameter", "keys is missing: an array of at least one key"};
  a.batch.keys = std::move(*keys);
  if (encoding == key_encoding::base64) decode(a);
}

void take_time(const http_call& c, keys_call& a) {
  query_parameters query(c.from.query());
  a.when_ms = query.integer("time_ms", INT64_MIN, INT64_MAX);
  query.must_be_all_taken();
}

void parse_lines(const http_call& c, keys_call& a) {
  take_time(c, a);
  const std::size_t most = a.all.settings().request.arguments;
  std::string_view rest = c.from.body;
  while (!rest.empty()) {
    const std::string_view key = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    a.batch.keys.push_back(key);
    if (a.batch.keys.size() > most)
      throw http_problem{400, "bad_parameter", fmt::format("the body has more than {} lines", most)};
  }
  if (a.batch.keys.empty())
    throw http_problem{400, "bad_parameter", "the body is empty: at least one key, one per line"};
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
http_response answer_of(const keys_call& a) {
  // A filter that was dropped, emptied or rebuilt elsewhere must be reopened.
  if (a.batch.is_stale) a.all.filters().forget(a.filter);
  if (a.batch.why.thrown) std::rethrow_exception(a.batch.why.thrown);
  const auto unknown = std::ranges::count(a.batch.verdicts, verdict::unknown);
  const auto& failure = a.batch.why.failure;
  if (failure && unknown == std::ssize(a.batch.keys)) throw problem_of(*failure);
  http_response r;
  if (a.is_one)
    r.body = fmt::format("{{\"verdict\":\"{}\"}}\n", to_string(a.batch.verdicts.front()));
  else
    r.body = verdicts_json(a.batch.verdicts, failure && unknown > 0 ? failure->message : std::string());
  return r;
}

void finish(const keys_call& a) {
  const auto answered = [&] {
    try {
      return answer_of(a);
    } catch (...) {
      return response_of(problem_of_current_exception());
    }
  };
  a.answer(answered());
}

void ask(http_call& c, const std::shared_ptr<keys_call>& a) {
  a->filter = need_filter(c);
  const auto when = time_of(*a->filter, a->when_ms);
  if (when) a->filter->handle.must_accept({&*when, 1});  // a queue joins it with the keys of others
  if (c.all.filters().traits().batches_wait)
    return a->filter->queue(a->asks).submit(
        a->batch, when, [a] { finish(*a); }, a->filter);
  judge(a->filter->counted(), a->asks, a->batch, when);
  finish(*a);
}

void ask_many(http_call& c, question q, const answer_taker& answer) {
  const auto a = std::make_shared<keys_call>(c.all, q, answer);
  has_text(c.from) ? parse_lines(c, *a) : parse_json(c, *a);
  ask(c, a);
}

// Schemas `keys` and `verdicts`. If batches wait for the store, keys of many clients share them.

void add_keys(http_call& c, const answer_taker& answer) {
  ask_many(c, question::add, answer);
}

void check_keys(http_call& c, const answer_taker& answer) {
  ask_many(c, question::check, answer);
}

/// The key in the path. Schema `key_verdict`.
void check_key(http_call& c, const answer_taker& answer) {
  const auto a = std::make_shared<keys_call>(c.all, question::check, answer);
  a->is_one = true;
  take_time(c, *a);
  a->batch.keys = {a->decoded.emplace_back(c.key)};
  ask(c, a);
}

/// For administrators only: the digest of a short key reveals the filter's secret seed, and positions let a
/// client make keys `seen` that were never added.
http_response explain_key(http_call& c) {
  json_body body(c.from.body);
  const auto written = body.text("key");
  const key_encoding encoding = encoding_of(body.text("encoding").value_or("utf8"));
  const auto when = body.integer("time_ms", {INT64_MIN, INT64_MAX});
  body.must_be_all_taken();
  if (!written) throw http_problem{400, "bad_parameter", "key is missing: the key to explain"};
  const std::string key = decoded_key(*written, encoding);
  const auto f = need_filter(c);
  if (const auto why = f->handle.refusal_of(key)) throw http_problem{422, "key_refused", *why};
  if (const auto foreign = f->handle.stored().foreign_bits_of(key)) return json_response(json_of(*foreign));
  return json_response(json_of(explain(f->handle, key, time_of(*f, when))));
}

}  // namespace

std::span<const http_route> key_routes() {
  static constexpr http_route routes[] = {
      {http_method::post, "/api/v1/filters/{name}/add", right::write, runs::on_worker, nullptr, "http|add",
       add_keys, true},
      {http_method::post, "/api/v1/filters/{name}/check", right::read, runs::on_worker, nullptr, "http|check",
       check_keys, true},
      {http_method::get, "/api/v1/filters/{name}/keys/{key}", right::read, runs::on_worker, nullptr,
       "http|check", check_key},
      {http_method::post, "/api/v1/filters/{name}/explain", right::admin, runs::on_worker, explain_key,
       "http|explain"},
  };
  return routes;
}

}  // namespace everseen::serve
