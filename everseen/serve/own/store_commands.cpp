#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/own/asked_keys.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/wire/client_protocol.hpp"

/// The commands of programs that use this server as their store: everseen/client.
namespace everseen::serve {

namespace {

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<shared_filter> peeked_filter(call& c) {
  auto found = c.all.filters().peek(c.words[1]);
  if (!found) throw refusal{"ERR not found"};
  return found;
}

/// EVERSEEN.HELLO version
void hello(call& c) {
  if (read_integer(c.words[1]) != wire::client_protocol)
    throw refusal{"ERR this server speaks version " + std::to_string(wire::client_protocol) +
                  " of everseen's own commands; use programs of one version"};
  if (c.all.settings().request.request_bytes < wire::longest_client_request)
    throw refusal{"ERR everseen's own clients send requests of up to " +
                  std::to_string(wire::longest_client_request >> 20) +
                  " MiB, and --max-request of this server is less; raise it"};
  c.reply.ok();
}

void begin_session(call& c) {
  c.all.sessions().begin(c.words[1], request_sessions::clock::now());
  c.reply.ok();
}

void create(call& c) {
  commands::option_reader options(c.words, 3);
  std::optional<std::chrono::milliseconds> life;
  if (options.takes("PX")) life = std::chrono::milliseconds(options.integer(1, commands::longest_ms));
  if (!options.is_at_end()) throw syntax_error();
  c.all.filters().create(c.words[1], image::decode_spec(std::as_bytes(std::span(c.words[2]))), life);
  c.reply.ok();
}

/// Whether the client may know the seed, with which colliding keys can be made.
bool may_know_seed(const call& c) {
  return c.from.rights() >= right::admin;
}

std::uint32_t partition_in(std::string_view word, const shared_filter& f) {
  const auto number = read_integer(word);
  const std::int64_t partitions = f.handle.get_spec().partitions;
  if (!number || *number < 0 || *number >= partitions)
    throw refusal{"ERR the filter has the partitions 0 to " + std::to_string(partitions - 1)};
  return static_cast<std::uint32_t>(*number);
}

/// EVERSEEN.PARTITION key partition
void write_partition(call& c) {
  const auto f = peeked_filter(c);
  announced_filter one = announce_partition(f->handle, partition_in(c.words[2], *f));
  if (!may_know_seed(c)) one.spec.seed = {};
  const auto end = c.all.filters().facts_of(*f).expires_at;
  c.reply.array(3);
  c.reply.bulk(view_of(image::encode_chunk_header(one)));
  c.reply.bulk(f->fingerprint);
  end ? c.reply.integer(end->time_since_epoch().count()) : c.reply.null();
}

void show_partition(call& c) {
  run_reading([&] { write_partition(c); });
}

/// EVERSEEN.DUMP key fingerprint partition iterator bytes
void dump(call& c) {
  const auto iterator = read_integer(c.words[4]);
  if (!iterator || *iterator < 1) throw refusal{"ERR the iterator must be a number from 1 on"};
  const auto most_bytes = read_integer(c.words[5]);
  if (!most_bytes || *most_bytes < 1) throw refusal{"ERR the bytes must be a number from 1 on"};
  const auto f = run_reading([&] { return peeked_filter(c); });
  if (c.words[2] != f->fingerprint)
    throw refusal{"GONE the filter was dropped, and another one has its name"};
  if (has_secret_seed(f->handle.get_spec().hash) && !may_know_seed(c))
    throw refusal{"NOPERM copies of a filter contain its secret seed: they need the right 'admin'"};
  const std::uint32_t partition = partition_in(c.words[3], *f);
  const filter_chunk chunk = run_reading([&] {
    return dump_partition(f->handle, partition, *iterator, static_cast<std::uint64_t>(*most_bytes));
  });
  c.reply.array(2);
  c.reply.integer(chunk.iterator);
  c.reply.bulk(view_of(chunk.bytes));
}

void reset(call& c) {
  c.all.filters().reset(c.words[1]);
  c.reply.ok();
}

/// Batches of everseen's own clients have a session of their own, as a failure ends it.
bool may_run_once(const command& asked, const command& once) {
  const bool has_session = asked.name == once.name || asked.name == "EVERSEEN.ADD";
  return asked.needs == right::write && asked.place == runs::on_worker && !has_session;
}

/// EVERSEEN.ONCE id number command ...
/// COMMAND can name only the first key of the command.
void once(call& c) {
  const auto number = read_integer(c.words[2]);
  if (!number || *number < 1) throw refusal{"ERR the number of a request counts from 1"};
  const word_list request = c.words.subspan(3);
  const command& asked = command_of(request);
  if (!may_run_once(asked, c.called))
    throw refusal{"ERR EVERSEEN.ONCE runs commands that change filters and have no session, and not " +
                  lower(asked.name)};
  if (request.size() > wire::session_batch_keys)
    throw refusal{"ERR a request of a session has at most " + std::to_string(wire::session_batch_keys) +
                  " words, since its answer is remembered"};
  if (const auto why = c.from.why_not(asked, request)) throw refusal(*why);
  const auto run = [&] {
    std::string& output = c.from.output();
    const std::size_t before = output.size();
    c.from.run_request(asked, request);
    request_sessions::answer given{output.substr(before)};
    output.resize(before);
    return given;
  };
  c.reply.encoded(c.all.sessions().run(c.words[1], static_cast<std::uint64_t>(*number),
                                       request_sessions::clock::now(), run));
}

}  // namespace

std::span<const command> store_commands() {
  static constexpr command commands[] = {
      {"EVERSEEN.CREATE", -3, right::write, runs::on_worker, first_word, create},
      {"EVERSEEN.DUMP", 6, right::read, runs::on_worker, first_word, dump},
      {"EVERSEEN.HELLO", 2, right::read, runs::at_once, no_keys, hello},
      {"EVERSEEN.ONCE", -5, right::write, runs::on_worker, command::key_positions{4, 4, 1}, once},
      {"EVERSEEN.PARTITION", 3, right::read, runs::on_worker, first_word, show_partition},
      {"EVERSEEN.RESET", 2, right::write, runs::on_worker, first_word, reset},
      {"EVERSEEN.SESSION", 2, right::write, runs::at_once, no_keys, begin_session},
  };
  return commands;
}

}  // namespace everseen::serve
