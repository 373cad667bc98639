#include "everseen/client/client_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "everseen/client/batch_sender.hpp"
#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/server_check.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/memory/sibling_union.hpp"
#include "everseen/store/port/batch_results.hpp"
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
    link_->change({"EVERSEEN.CREATE", name, bytes, "PX", std::to_string(life->count())}, name);
  else
    link_->change({"EVERSEEN.CREATE", name, bytes}, name);
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
    if (link_->change({"PERSIST", name}, name).integer() == 0 && !exists(name)) throw no_such_filter(name);
    return;
  }
  const std::string ms = std::to_string(when->time_since_epoch().count());
  if (link_->change({"PEXPIREAT", name, ms}, name).integer() == 0) throw no_such_filter(name);
}

std::vector<std::string> client_store::jobs(std::string_view name) const {
  throw not_over_a_server("to work on the jobs of " + quoted_name(name));
}

void client_store::drop(std::string_view name) {
  if (link_->change({"DEL", name}, name).integer() == 0) throw no_such_filter(name);
}

void client_store::rename(std::string_view from, std::string_view new_name, namesake there) {
  validate_filter_name(new_name);
  if (there == namesake::replace)
    link_->change({"RENAME", from, new_name}, from);
  else if (link_->change({"RENAMENX", from, new_name}, from).integer() == 0)
    throw filter_exists(new_name);
}

void client_store::reset(std::string_view name) {
  const redis::reply answer = link_->change({"EVERSEEN.RESET", name}, name);
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
  link_->ask({"BF.LOADCHUNK", name_, "1", view_of(header)}, name_, repeat::yes);
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
    link_->ask({"BF.LOADCHUNK", name_, std::to_string(iterator), view_of(chunk)}, name_, again);
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

using repeat = server_link::repeat;

client_filter::client_filter(std::shared_ptr<const server_link> link, std::string name, spec s,
                             std::string fingerprint, access mode)
    : link_(std::move(link)),
      name_(std::move(name)),
      spec_(std::move(s)),
      fingerprint_(std::move(fingerprint)),
      mode_(mode) {}

batch_result client_filter::add(std::span<const partition_batch> batches) {
  if (mode_ == access::read)
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return judge(batches, true);
}

batch_result client_filter::check(std::span<const partition_batch> batches) const {
  return judge(batches, false);
}

batch_result client_filter::judge(std::span<const partition_batch> batches, bool adds) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    failure = judge_all(batches, adds);
  } catch (...) {  // the system has run out of memory or descriptors
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

std::optional<batch_failure> client_filter::judge_all(std::span<const partition_batch> batches,
                                                      bool adds) const {
  std::optional<batch_failure> first;
  const key_question q{adds, name_, fingerprint_, spec_.window.has_value()};
  for (const partition_batch& batch : batches) {
    EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
    auto why = batch_sender(*link_, q, batch).send();
    if (!why) continue;
    if (why->ends_batch()) return why;
    if (!first) first = std::move(why);
  }
  return first;
}

remote_state client_filter::known_state(std::uint32_t partition) const {
  remote_state current = link_->state_of(name_, partition);
  if (current.fingerprint == fingerprint_) return current;
  throw storage_error(
      quoted_name(name_) + ": the filter was dropped, and another one has its name; open it again", 0, name_);
}

partition_state client_filter::state(std::uint32_t partition) const {
  partition_state all;
  for (const auto& [id, layer] : known_state(partition).filter.segments) restore_layer(all, id, layer);
  return all;
}

/// A long reply is cheap for the server, but must arrive whole. If it does not, the same bits are asked for
/// in a short one, and the next ones in longer ones again.
/// @param bytes  to ask for; afterwards, those to ask for next
redis::reply client_filter::next_chunk(std::uint32_t partition, std::int64_t iterator,
                                       std::size_t& bytes) const {
  const auto ask = [&](repeat again) {
    redis::reply chunk = link_->ask({"EVERSEEN.DUMP", name_, fingerprint_, std::to_string(partition),
                                     std::to_string(iterator), std::to_string(bytes)},
                                    name_, again);
    bytes = std::min(2 * bytes, image::max_chunk_bits_bytes);
    return chunk;
  };
  if (bytes > redis::piece_bytes) try {
      return ask(repeat::no);
    } catch (const backend_error&) {
      bytes = redis::piece_bytes;
    }
  return ask(repeat::yes);
}

void client_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  if (fingerprint_of(spec_) != fingerprint_)  // the server has left the seed out
    throw parameter_error("the bits of " + quoted_name(name_) +
                          " say nothing without its secret seed, which everseen serve shows to users with "
                          "the right 'admin' alone");
  std::int64_t iterator = 1;
  std::size_t chunk_bytes = image::max_chunk_bits_bytes;
  const announced_filter current = known_state(partition).filter;
  for (const announced_filter::segment& s : current.segments) {
    std::vector<std::byte> bits;
    bits.reserve(s.layer.shape.bytes);
    while (bits.size() < s.layer.shape.bytes) {
      const redis::reply chunk = next_chunk(partition, iterator, chunk_bytes);
      const redis::reply bytes = chunk[1];
      const auto piece = image::without_chunk_trailer(std::as_bytes(std::span(bytes.text())), current.content,
                                                      s, bits.size());
      if (piece.empty() || piece.size() > s.layer.shape.bytes - bits.size())
        throw format_error(quoted_name(name_) + " grew or was emptied while it was copied; copy it again");
      bits.insert(bits.end(), piece.begin(), piece.end());
      iterator += static_cast<std::int64_t>(piece.size());
    }
    visit(s.id, s.layer, bits);
  }
}

void client_filter::must_take_siblings() const {
  if (mode_ == access::read)
    throw parameter_error(quoted_name(name_) + " was opened for reading; open it for writing to merge");
  (void)known_state(0);
}

void client_filter::must_fit(const sibling_source& siblings) const {
  must_take_siblings();
  must_fit_in_copy(siblings);
}

void client_filter::merge(const sibling_source& siblings) {
  constexpr std::string_view life_ms = "3600000";  // should this process die
  must_take_siblings();
  const std::string beside = "merge." + redis::random_name();
  client_restore copy(link_, beside, spec_);
  for (std::uint32_t p = 0; p < spec_.partitions; ++p)
    siblings(p, [&](std::span<const sibling_segment> theirs) {
      const sibling_union all(spec_, p, theirs);
      for (const sibling_segment& each : all.segments())
        std::ranges::copy(each.bits, copy.add_segment(each.id, each.layer).begin());
    });
  // No other client has this name.
  const auto drop = [&] { link_->ask({"DEL", beside}, beside, repeat::yes); };
  try {
    copy.commit();
    link_->ask({"PEXPIRE", beside, life_ms}, beside, repeat::yes);
    must_take_siblings();  // or it would be made again
    link_->change({"BF.MERGE", name_, beside}, name_);
  } catch (...) {
    try {
      drop();
    } catch (const error&) {
      // it expires
    }
    throw;
  }
  drop();
}

void client_filter::sync() {
  link_->ask({"SAVE"}, name_, repeat::yes);
}

std::unique_ptr<ledger> client_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (!description) return nullptr;
  throw not_over_a_server("the job " + quoted_name(job));
}

batch_path client_filter::path() const {
  const std::string server = redis::to_string(link_->url().endpoints.front());
  return {"everseen serve", std::vector<std::string>(spec_.partitions, server), {}};
}

}  // namespace everseen::client
