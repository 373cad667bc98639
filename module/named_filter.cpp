#include "module/named_filter.hpp"

#include <array>
#include <span>

#include "everseen/core/image.hpp"

#include "module/record.hpp"

namespace everseen::redis_module {

namespace {

using recipe = named_filter::recipe;

/// Decoding a spec costs as much as judging many keys, so the last one is kept.
std::shared_ptr<const recipe> recipe_of(std::string_view bytes) {
  static std::string last_bytes;
  static std::shared_ptr<const recipe> last;
  if (last == nullptr || last_bytes != bytes) {
    const spec s = image::decode_spec(std::as_bytes(std::span(bytes)));
    last = std::make_shared<const recipe>(recipe{s, hasher(s.hash, s.seed, s.foreign.funnel)});
    last_bytes = bytes;
  }
  return last;
}

judged<named_filter> by_state(api::context* ctx, api::string* name) {
  const auto r = read_record(ctx, name);
  if (!r) return tl::unexpected(r.error());
  named_filter f{std::make_shared<const recipe>(recipe{r->spec(), r->shape->hash})};
  f.partition = r->number;
  f.beginning = text_of(name).substr(0, text_of(name).rfind('/') + 1);
  return f;
}

}  // namespace

judged<named_filter> find_filter(api::context* ctx, api::string* name) {
  std::array<api::string*, 4> fields{};
  {
    const open_key key(ctx, name, api::read_key);
    if (key.type() == api::type_empty) return refuse(refusal::kind::gone);
    if (key.type() != api::type_hash) return refuse(refusal::kind::wrong_type);
    api::hash_get(key.get(), api::hash_c_fields, "spec", &fields[0], "generation", &fields[1], "ready",
                  &fields[2], "manifest", &fields[3], nullptr);
  }
  const value spec(ctx, fields[0]), generation(ctx, fields[1]), ready(ctx, fields[2]),
      manifest(ctx, fields[3]);
  if (manifest.exists()) return by_state(ctx, name);
  const std::string_view text = text_of(name);
  const std::size_t colon = text.rfind(':');
  if (!spec.exists() || !generation.exists() || ready.text() != "1" || colon == std::string_view::npos)
    return refuse(refusal::kind::gone);
  named_filter f{recipe_of(spec.text())};
  f.beginning = std::string(text.substr(0, colon)) + ":{" + std::string(text.substr(colon + 1)) + "/" +
                std::string(generation.text()) + "/";
  return f;
}

}  // namespace everseen::redis_module
