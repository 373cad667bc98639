#include "everseen/serve/commands/bloom_requests.hpp"

namespace everseen::serve {

namespace {

filter_registry::request request_of(const redisbloom::bloom_request& asked) {
  filter_registry::request r{asked.spec, {}, {}};
  if (asked.expansion) r.requested.expansion = *asked.expansion;
  return r;
}

template <typename Parse>
auto parse(word_list w, Parse parse_words) {
  try {
    return parse_words();
  } catch (const redisbloom::bloom_refusal& why) {
    throw why.text.empty() ? wrong_arity(w[0]) : refusal{why.text};
  }
}

}  // namespace

filter_registry::request default_request() {
  return request_of(redisbloom::default_bloom_request());
}

filter_registry::request parse_reserve(word_list w) {
  return request_of(parse(w, [&] { return redisbloom::parse_reserve(w); }));
}

insert_request parse_insert(word_list w) {
  const redisbloom::bloom_insert asked =
      parse(w, [&] { return redisbloom::parse_insert(w, redisbloom::default_bloom_request()); });
  return {request_of(asked.create), asked.may_create, w.subspan(asked.first_item)};
}

}  // namespace everseen::serve
