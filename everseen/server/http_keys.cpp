#include "everseen/server/http_keys.hpp"

#include <vector>

#include <fmt/format.h>
#include <sodium.h>

#include "everseen/server/filter_json.hpp"
#include "everseen/server/json_body.hpp"

namespace everseen::server {

namespace {

/// The keys of a request, and what holds their bytes.
struct asked_keys {
  asked_keys(std::string_view text, std::size_t most) : body(text, most) {}
  json_body body;
  std::vector<std::string> decoded{};
  std::vector<std::string_view> keys{};
  std::optional<std::int64_t> when_ms{};
};

void decode(asked_keys& a) {
  a.decoded.reserve(a.keys.size());
  for (std::string_view& key : a.keys) key = a.decoded.emplace_back(decoded_key(key, key_encoding::base64));
}

void parse(asked_keys& a, std::size_t most_keys) {
  auto keys = a.body.texts("keys", most_keys);
  const key_encoding how = encoding_of(a.body.text("encoding").value_or("utf8"));
  a.when_ms = a.body.integer("time_ms", {INT64_MIN, INT64_MAX});
  a.body.must_be_all_taken();
  if (!keys || keys->empty())
    throw http_problem{400, "bad_parameter", "keys is missing: an array of at least one key"};
  a.keys = std::move(*keys);
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

/// A filter that was dropped, emptied or rebuilt elsewhere must be opened anew.
batch_result judge_or_forget(service& all, const std::shared_ptr<shared_filter>& f, question q,
                             const asked_keys& a, std::span<verdict> out) {
  try {
    batch_result result = judge(f->noted(), q, a.keys, out, time_of(*f, a.when_ms));
    if (!result && result.error().ends_batch()) all.filters().forget(f);
    return result;
  } catch (const error&) {
    all.filters().forget(f);
    throw;
  }
}

http_response ask(http_call& c, question q) {
  const std::size_t most = c.all.settings().request.arguments;
  asked_keys a(c.from.body, most);
  parse(a, most);
  const auto f = need_filter(c);
  if (q == question::add && c.all.filters().is_full())
    throw http_problem{507, "no_room", "the filters take all the memory they may; no key was added"};
  std::vector<verdict> out(a.keys.size());
  const batch_result result = judge_or_forget(c.all, f, q, a, out);
  auto& counter = q == question::add ? c.all.count.keys_added : c.all.count.keys_checked;
  counter.fetch_add(a.keys.size(), std::memory_order_relaxed);
  // Where nothing at all is known, a client that looks at the status alone must not take it for an answer.
  if (!result && result.error().done.unknown == a.keys.size()) throw problem_of(result.error());
  http_response r;
  r.body = verdicts_json(out, result ? std::string() : result.error().message);
  return r;
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

http_response add_keys(http_call& c) {
  return ask(c, question::add);
}

http_response check_keys(http_call& c) {
  return ask(c, question::check);
}

}  // namespace everseen::server
