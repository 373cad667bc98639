#include "everseen/client/client_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "everseen/client/client_filter.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/server_check.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::client {

namespace {

using repeat = server_link::repeat;

/// As many as everseen serve with two threads gives a filter that it plans. More threads or servers are not
/// known here. Where one thread judges, they cost the sorting of each batch, some 3 ns a key.
constexpr std::uint32_t shared_partitions = 16;
constexpr std::uint64_t capacity_to_share = 100'000;

constexpr std::chrono::seconds shortest_life{1};

}  // namespace

client_store::client_store(redis::redis_url url) : link_(std::make_shared<server_link>(std::move(url))) {}

spec client_store::plan(const spec_request& request) const {
  spec_request shared = request;
  const bool is_ours = !request.layout || !is_foreign(*request.layout);
  if (!request.hash && is_ours) shared.hash = hash_kind::siphash;
  spec s = store::plan(shared);
  if (request.partitions || !is_ours || s.capacity < capacity_to_share) return s;
  shared.partitions = std::max(s.partitions, shared_partitions);
  return store::plan(shared);
}

std::shared_ptr<stored_filter> client_store::create(std::string_view name, const spec& s,
                                                    std::optional<std::chrono::milliseconds> life) {
  if (life && *life < shortest_life) throw parameter_error("a filter must live for at least a second");
  validate(s);
  validate_filter_name(name);
  const auto encoded = image::encode_spec(s);
  const std::string_view bytes(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  std::string fingerprint = fingerprint_of(s);
  if (life)
    link_->create({"EVERSEEN.CREATE", name, bytes, "PX", std::to_string(life->count())}, name, fingerprint);
  else
    link_->create({"EVERSEEN.CREATE", name, bytes}, name, fingerprint);
  return std::make_shared<client_filter>(link_, std::string(name), s, std::move(fingerprint), access::write);
}

std::shared_ptr<stored_filter> client_store::open(std::string_view name, access mode) {
  remote_state state = link_->state_of(name, 0);
  return std::make_shared<client_filter>(link_, std::string(name), std::move(state.filter.spec),
                                         std::move(state.fingerprint), mode);
}

bool client_store::exists(std::string_view name) const {
  return link_->ask({"EXISTS", name}, name, repeat::yes).integer() != 0;
}

std::vector<std::string> client_store::list() const {
  const redis::reply all = link_->ask({"KEYS", "*"}, {}, repeat::yes);
  if (all.what() != redis::reply::kind::array) throw link_->no_answer({});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) names.emplace_back(all[i].text());
  std::ranges::sort(names);
  return names;
}

std::vector<server_report> client_store::reports() const {
  const redis::reply info = link_->ask({"INFO"}, {}, repeat::yes);
  std::vector<server_report> all;
  if (auto report = redis::report_of(link_->server(), info.text())) all.push_back(*std::move(report));
  return all;
}

filter_facts client_store::facts(std::string_view name) const {
  remote_state current = link_->state_of(name, 0);
  return {current.expires_at, std::move(current.fingerprint)};
}

void client_store::expire_at(std::string_view name, std::optional<event_time> when) {
  if (!when) {
    if (link_->ask({"PERSIST", name}, name, repeat::yes).integer() == 0 && !exists(name))
      throw no_such_filter(name);
    return;
  }
  const std::string ms = std::to_string(when->time_since_epoch().count());
  if (link_->ask({"PEXPIREAT", name, ms}, name, repeat::yes).integer() == 0) throw no_such_filter(name);
}

std::vector<std::string> client_store::jobs(std::string_view name) const {
  throw not_over_a_server("to work on the jobs of " + quoted_name(name));
}

void client_store::drop(std::string_view name) {
  if (link_->ask({"DEL", name}, name, repeat::no).integer() == 0) throw no_such_filter(name);
}

void client_store::rename(std::string_view from, std::string_view new_name, namesake there) {
  validate_filter_name(new_name);
  if (there == namesake::replace)
    link_->ask({"RENAME", from, new_name}, from, repeat::no);
  else if (link_->ask({"RENAMENX", from, new_name}, from, repeat::no).integer() == 0)
    throw filter_exists(new_name);
}

void client_store::reset(std::string_view name) {
  const redis::reply answer = link_->ask({"EVERSEEN.RESET", name}, name, repeat::no);
  if (answer.what() != redis::reply::kind::status) throw link_->no_answer(name);
}

void client_store::link(std::string_view /*older*/, std::string_view newer,
                        std::optional<std::chrono::milliseconds> /*life*/) {
  throw not_over_a_server("to link " + quoted_name(newer));
}

void client_store::unlink(std::string_view newer) {
  throw not_over_a_server("to unlink " + quoted_name(newer));
}

void client_store::end_job(std::string_view name, std::string_view /*job*/) {
  throw not_over_a_server("to end a job of " + quoted_name(name));
}

std::unique_ptr<filter_admin::rebuild> client_store::begin_rebuild(
    std::string_view name, const spec& /*s*/, std::span<const partition_state> /*base*/) {
  if (!exists(name)) throw no_such_filter(name);
  throw not_over_a_server("to rebuild " + quoted_name(name));
}

std::unique_ptr<filter_admin::restore> client_store::begin_restore(std::string_view name, const spec& s) {
  return std::make_unique<client_restore>(link_, name, s);
}

namespace {

using repeat = server_link::repeat;

std::string_view view_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

client_restore::client_restore(std::shared_ptr<const server_link> link, std::string_view name, const spec& s)
    : link_(std::move(link)), name_(name), spec_(s), order_(s.partitions) {
  validate(s);
  validate_filter_name(name);
  if (link_->ask({"EXISTS", name_}, name_, repeat::yes).integer() != 0) throw filter_exists(name_);
}

std::span<std::byte> client_restore::add_segment(const segment_id& id, const layer_state& layer) {
  if (id.partition >= order_.size())
    throw format_error("the filter has no partition " + image::to_string(id));
  restore_layer(order_[id.partition], id, layer);
  segments_.push_back({{id, layer}, std::vector<std::byte>(layer.shape.bytes)});
  return segments_.back().bits;
}

void client_restore::commit() {
  std::ranges::sort(segments_, {}, [](const held_segment& s) { return s.segment.id; });
  announced_filter all{spec_};
  all.content = content_id{load_le64(image::random_filter_id().data())};
  for (const held_segment& s : segments_) all.segments.push_back(s.segment);
  const std::vector<std::byte> header = image::encode_chunk_header(all);
  link_->create({"BF.LOADCHUNK", name_, "1", view_of(header)}, name_, fingerprint_of(spec_));
  try {
    send_chunks(all.content);
  } catch (const no_filter&) {
    throw storage_error("the server has discarded the import of " + quoted_name(name_) +
                            ": it was idle for too long, or the server was restarted; import again",
                        0, name_);
  }
  if (link_->state_of(name_, 0).fingerprint != fingerprint_of(spec_)) throw filter_exists(name_);
}

void client_restore::send_chunks(content_id content) {
  chunk_position next;
  for (held_segment& s : segments_) {
    for (next.in_segment = 0; next.in_segment < s.bits.size();) send_chunk(content, s, next);
    s.bits = {};
  }
}

/// A long chunk is cheap for the server, but must arrive whole. If it does not, the same bits are sent in a
/// short one, and the next ones in longer ones again. The server takes bits twice, unless the long chunk was
/// the last one and has arrived: then the filter exists.
void client_restore::send_chunk(content_id content, const held_segment& s, chunk_position& next) {
  const auto send = [&](repeat again) {
    const std::size_t bytes = std::min(next.bytes, s.bits.size() - next.in_segment);
    const auto piece = std::span(s.bits).subspan(next.in_segment, bytes);
    std::vector<std::byte> chunk(piece.begin(), piece.end());
    image::append_chunk_trailer(chunk, content, s.segment, next.in_segment);
    const std::int64_t iterator = next.iterator + static_cast<std::int64_t>(bytes);
    link_->create({"BF.LOADCHUNK", name_, std::to_string(iterator), view_of(chunk)}, name_,
                  fingerprint_of(spec_), again);
    next = {iterator, next.in_segment + bytes, std::min(2 * next.bytes, image::max_chunk_bits_bytes)};
  };
  if (next.bytes <= redis::piece_bytes) return send(repeat::yes);
  try {
    return send(repeat::no);
  } catch (const backend_error&) {
    next.bytes = redis::piece_bytes;
  }
  try {
    send(repeat::yes);
  } catch (const name_taken&) {  // commit() looks whether it is this one
    next.in_segment = s.bits.size();
  }
}

}  // namespace everseen::client
