#include "everseen/serve/resp/gathered_batches.hpp"

#include <algorithm>
#include <span>

#include "everseen/serve/registry/judge_batch.hpp"

namespace everseen::serve {

namespace {

/// Limits the memory that is kept for a client that was busy once.
constexpr std::size_t most_bytes_kept = 64 << 10;

void write_word(const filter& judge, const key_batch& batch, std::size_t i, wire::reply_writer& reply) {
  if (batch.verdicts[i] == verdict::unknown)
    return reply.error(text_of_unknown(judge, batch.keys[i], batch.fault));
  reply.status(to_string(batch.verdicts[i]));
}

void write_truth(const filter& judge, const key_batch& batch, std::size_t i, question asks,
                 wire::reply_writer& reply) {
  switch (batch.verdicts[i]) {
    case verdict::fresh:
      return reply.truth(asks == question::add);
    case verdict::seen:
      return reply.truth(asks == question::check);
    case verdict::late:
      return reply.error("LATE the key is older than the window of the filter");
    case verdict::unknown:
      return reply.error(text_of_unknown(judge, batch.keys[i], batch.fault));
  }
}

/// The number of keys of one request that are answered. The error of a full filter ends the reply, as in
/// RedisBloom, unless a later key was added nevertheless: the client must learn that.
std::size_t answered(const key_batch& batch, std::size_t first, std::size_t count) {
  if (batch.fault != filter_is_full) return count;
  const auto keys = std::span(batch.verdicts).subspan(first, count);
  const auto full = std::ranges::find(keys, verdict::unknown);
  if (full == keys.end()) return count;
  std::size_t last = static_cast<std::size_t>(full - keys.begin());
  for (std::size_t i = last; i < count; ++i)
    if (keys[i] == verdict::fresh) last = i;
  return last + 1;
}

}  // namespace

void write_verdicts(const filter& judge, const key_batch& batch, std::size_t first, std::size_t count,
                    question asks, reply_shape shape, wire::reply_writer& reply) {
  if (shape == reply_shape::array) count = answered(batch, first, count);
  if (shape != reply_shape::one) reply.array(count);
  for (std::size_t i = first; i < first + count; ++i) {
    if (shape == reply_shape::words)
      write_word(judge, batch, i, reply);
    else
      write_truth(judge, batch, i, asks, reply);
  }
}

gathered_batches::group* gathered_batches::group_of(const shared_filter& f, question asks,
                                                    bool& conflicts) noexcept {
  if (last_group_ < open_groups_ && groups_[last_group_].filter.get() == &f &&
      groups_[last_group_].asks == asks)
    return &groups_[last_group_];
  for (std::size_t i = 0; i < open_groups_; ++i) {
    if (groups_[i].filter.get() != &f) continue;
    conflicts = groups_[i].asks != asks;
    last_group_ = i;
    return conflicts ? nullptr : &groups_[i];
  }
  return nullptr;
}

bool gathered_batches::put(const std::shared_ptr<shared_filter>& f, const batched_keys& request) {
  bool conflicts = false;
  group* into = group_of(*f, request.asks, conflicts);
  if (conflicts) return false;
  if (into == nullptr) {
    last_group_ = open_groups_;
    if (open_groups_++ == groups_.size()) groups_.emplace_back();
    into = &groups_[last_group_];
    into->filter = f;
    into->asks = request.asks;
  }
  slots_.push_back({static_cast<std::uint32_t>(last_group_),
                    static_cast<std::uint32_t>(into->batch.keys.size()),
                    static_cast<std::uint32_t>(request.keys.size()), request.shape});
  into->batch.keys.insert(into->batch.keys.end(), request.keys.begin(), request.keys.end());
  keys_ += request.keys.size();
  return true;
}

std::optional<event_time> gathered_batches::time_of(const group& g) {
  return g.filter->has_window() ? std::optional(service::now()) : std::nullopt;
}

void gathered_batches::judge() {
  for (std::size_t i = 0; i < open_groups_; ++i) {
    group& g = groups_[i];
    serve::judge(g.filter->counted(), g.asks, g.batch, time_of(g));
  }
}

void gathered_batches::send(const std::function<void()>& done) {
  const std::size_t count = open_groups_;
  in_flight_ = count;
  const auto one_is_done = [this, done] {
    if (--in_flight_ == 0) done();
  };
  for (std::size_t i = 0; i < count; ++i) {  // after the last, another thread may write the replies
    group& g = groups_[i];
    g.filter->queue(g.asks).submit(g.batch, time_of(g), one_is_done, g.filter);
  }
}

void gathered_batches::write_replies(service& all, wire::reply_writer& reply) {
  for (const slot& s : slots_) {
    const group& g = groups_[s.group];
    write_verdicts(g.filter->handle, g.batch, s.first, s.count, g.asks, s.shape, reply);
  }
  for (std::size_t i = 0; i < open_groups_; ++i) {
    group& g = groups_[i];
    if (g.batch.is_stale) all.filters().forget(g.filter);
    g.filter.reset();
    g.batch.keys.clear();
    g.batch.is_stale = false;
    g.batch.why = {};
  }
  slots_.clear();
  open_groups_ = 0;
  keys_ = 0;
  if (memory() <= most_bytes_kept) return;
  groups_ = decltype(groups_)();  // {} would keep the memory
  slots_ = decltype(slots_)();
}

std::size_t gathered_batches::memory() const noexcept {
  std::size_t bytes = groups_.capacity() * sizeof(group) + slots_.capacity() * sizeof(slot);
  for (const group& g : groups_)
    bytes += g.batch.keys.capacity() * sizeof(g.batch.keys[0]) +
             g.batch.verdicts.capacity() * sizeof(g.batch.verdicts[0]) + g.batch.fault.capacity();
  return bytes;
}

}  // namespace everseen::serve
