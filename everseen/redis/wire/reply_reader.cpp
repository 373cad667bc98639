#include "everseen/redis/wire/reply_reader.hpp"

#include <new>

#include <hiredis/hiredis.h>

namespace everseen::redis {

namespace {

// hiredis 0.14 counts elements in an int, 1.x in a size_t.
template <typename Count>
void* create_bounded_array(const redisReadTask* task, Count elements);

using create_array = decltype(redisReplyObjectFunctions::createArray);

/// hiredis's own way to make an array; the same for every reader.
create_array hiredis_create_array() {
  static const create_array made_by_hiredis = [] {
    redisReader* reader = redisReaderCreate();
    if (reader == nullptr) throw std::bad_alloc();
    const create_array create = reader->fn->createArray;
    redisReaderFree(reader);
    return create;
  }();
  return made_by_hiredis;
}

/// How many arrays an array is in.
int depth_of(const redisReadTask* task) noexcept {
  int depth = 0;
  for (const redisReadTask* outer = task->parent; outer != nullptr; outer = outer->parent) ++depth;
  return depth;
}

template <typename Count>
void* create_bounded_array(const redisReadTask* task, Count elements) {
  // hiredis 0.14 has this limit itself, 1.x has none.
  constexpr int deepest = 7;
  const auto& limits = *static_cast<const reply_limits*>(task->privdata);
  if (static_cast<std::size_t>(elements) > limits.elements || depth_of(task) >= deepest)
    return nullptr;  // hiredis reports it as out of memory
  return hiredis_create_array()(task, elements);
}

}  // namespace

void reply_reader::hiredis_deleter::operator()(redisReader* r) const noexcept {
  redisReaderFree(r);
}

reply_reader::reply_reader(const reply_limits& limits)
    : limits_(limits),
      functions_(std::make_unique<redisReplyObjectFunctions>()),
      reader_(redisReaderCreate()) {
  if (!reader_) throw std::bad_alloc();
  hiredis_create_array();
  *functions_ = *reader_->fn;
  functions_->createArray = &create_bounded_array;
  reader_->fn = functions_.get();
  reader_->privdata = &limits_;
}

reply_reader::~reply_reader() = default;

void reply_reader::feed(std::string_view bytes) {
  bytes_since_reply_ += bytes.size();
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());  // next() reports a failure
}

tl::expected<std::optional<reply>, std::string> reply_reader::next() {
  void* tree = nullptr;
  if (redisReaderGetReply(reader_.get(), &tree) != REDIS_OK) {
    if (reader_->err == REDIS_ERR_OOM) return tl::unexpected(std::string("a reply is too large"));
    return tl::unexpected(std::string(reader_->errstr));
  }
  if (tree == nullptr) {
    if (bytes_since_reply_ > limits_.bytes) return tl::unexpected(std::string("a reply is too large"));
    return std::optional<reply>();
  }
  bytes_since_reply_ = reader_->len - reader_->pos;
  return std::optional<reply>(static_cast<redisReply*>(tree));
}

}  // namespace everseen::redis
