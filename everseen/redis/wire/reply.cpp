#include "everseen/redis/wire/reply.hpp"

#include <new>
#include <utility>

#include <hiredis/hiredis.h>

namespace everseen::redis {

reply::reply(redisReply* tree) : root_(tree, [](redisReply* r) { freeReplyObject(r); }), node_(tree) {}

reply::reply(std::shared_ptr<redisReply> root, const redisReply* node) noexcept
    : root_(std::move(root)), node_(node) {}

reply::kind reply::what() const noexcept {
  if (node_ == nullptr) return kind::nil;
  switch (node_->type) {
    case REDIS_REPLY_NIL:
      return kind::nil;
    case REDIS_REPLY_STATUS:
      return kind::status;
    case REDIS_REPLY_ERROR:
      return kind::error;
    case REDIS_REPLY_INTEGER:
      return kind::integer;
    case REDIS_REPLY_ARRAY:
      return kind::array;
    default:
      return kind::string;
  }
}

std::string_view reply::text() const noexcept {
  const kind k = what();
  if (k != kind::status && k != kind::error && k != kind::string) return {};
  return node_->str == nullptr ? std::string_view() : std::string_view(node_->str, node_->len);
}

std::int64_t reply::integer() const noexcept {
  return what() == kind::integer ? node_->integer : 0;
}

std::size_t reply::size() const noexcept {
  return what() == kind::array ? node_->elements : 0;
}

reply reply::operator[](std::size_t i) const& noexcept {
  if (i >= size()) return {};
  return {nullptr, node_->element[i]};
}

reply reply::operator[](std::size_t i) && noexcept {
  if (i >= size()) return {};
  const redisReply* element = node_->element[i];
  return {std::move(root_), element};
}

bool reply::is_error(std::string_view word) const noexcept {
  if (!is_error() || !text().starts_with(word)) return false;
  return text().size() == word.size() || text()[word.size()] == ' ';
}

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
