#include "everseen/redis/header.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/redis/gear.hpp"
#include "everseen/redis/scripts.hpp"

namespace everseen::redis {

namespace {

std::string encode_with(std::vector<std::string_view> words, std::span<const std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
  return encode(words);
}

/// By one script call, or if the server forbids that, by a transaction.
/// @return what the script answers, or else the replies to the commands of the transaction
tl::expected<reply, outage> step(session& with, const std::string& key, std::string script,
                                 std::string commands, std::size_t count) {
  const auto send = [&](std::string wire, std::size_t replies) {
    const request r{{key, 0}, std::move(wire), replies, true};
    return std::move(with.exchange(std::span(&r, 1)).front());
  };
  answer a = send(std::move(script), 1);
  if (a && forbids_scripts(a->front()))
    a = send(encode({"MULTI"}) + std::move(commands) + encode({"EXEC"}), count + 2);
  if (!a) return tl::unexpected(a.error());
  for (const reply& r : *a)
    if (r.is_error())
      throw backend_error("the Redis server refused a command on " + key + ": " + std::string(r.text()));
  return std::move(a->back());
}

}  // namespace

tl::expected<bool, outage> begin_header(session& with, const std::string& key, const std::string& id,
                                        std::span<const std::string> fields) {
  // Renaming fails if the name is taken. The braces keep both names in one slot.
  const std::string draft = "{" + key + "}:" + with.name();
  const auto done = step(with, key, encode_with({"EVAL", scripts::begin().text, "1", key, "id", id}, fields),
                         encode_with({"HSET", draft, "id", id}, fields) + encode({"RENAMENX", draft, key}) +
                             encode({"UNLINK", draft}) + encode({"HGET", key, "id"}),
                         4);
  if (!done) return tl::unexpected(done.error());
  return done->size() == 4 ? (*done)[3].text() == id : done->integer() == 1;
}

tl::expected<void, outage> hide_header(session& with, const std::string& key) {
  // A header that another process has dropped meanwhile comes back as this one field; it is dropped next.
  const auto done = step(with, key, encode({"EVAL", scripts::hide().text, "1", key}),
                         encode({"HSET", key, "ready", "0"}), 1);
  if (!done) return tl::unexpected(done.error());
  return {};
}

}  // namespace everseen::redis
