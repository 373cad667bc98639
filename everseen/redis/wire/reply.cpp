#include "everseen/redis/wire/reply.hpp"

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

}  // namespace everseen::redis
