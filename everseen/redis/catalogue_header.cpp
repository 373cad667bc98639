#include <algorithm>
#include <charconv>
#include <span>

#include "everseen/core/error.hpp"
#include "everseen/redis/catalogue.hpp"

/// What the fields of a header mean: doc/format.md, "In Redis".
namespace everseen::redis {

namespace {

using std::chrono::milliseconds;

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

spec spec_in(const std::string& key, const reply& field) {
  try {
    return image::decode_spec(std::as_bytes(std::span(field.text())));
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
}

attachment attachment_in(const std::string& key, const reply& fields) {
  try {
    return decode_attachment(fields[0].text(), fields[8].text(), fields[9].text());
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
}

std::optional<event_time> end_in(const std::string& key, const reply& field) {
  if (field.is_nil()) return std::nullopt;
  const auto end = number_in<std::int64_t>(field.text());
  if (!end) throw damaged_key(key, "has no valid end");
  return event_time(milliseconds(*end));
}

std::string_view valid_name(const std::string& key, std::string_view name) {
  try {
    validate_filter_name(name);
    return name;
  } catch (const parameter_error&) {
    throw damaged_key(key, "names a filter by what is no name");
  }
}

}  // namespace

header catalogue::decode(std::string_view name, const reply& fields) const {
  key_names keys = keys_of(name);
  const std::string key = keys.header();
  if (!fields[16].is_nil()) keys.keep_as(valid_name(key, fields[16].text()));
  header h{{.keys = keys, .spec = {}}};
  remote_filter& f = h.live;
  if (is_attachment(fields[0].text())) {
    h.attached = attachment_in(key, fields);
    f.spec = spec_of(*h.attached);
  } else {
    f.spec = spec_in(key, fields[0]);
  }
  if (fields[1].text().size() != f.id.size()) throw damaged_key(key, "has no valid id");
  std::ranges::copy(fields[1].text(), f.id.begin());
  const auto generation = number_in<std::uint64_t>(fields[2].text());
  if (!generation) throw damaged_key(key, "has no valid generation");
  f.generation = *generation;
  f.ends_at = end_in(key, fields[4]);
  if (!fields[12].text().empty()) {
    const auto until = number_in<std::int64_t>(fields[13].text());
    if (!fields[13].is_nil() && !until) throw damaged_key(key, "has no valid end of its link");
    h.linked = {std::string(fields[12].text()),
                until ? std::optional(event_time(milliseconds(*until))) : std::nullopt};
  }
  h.linked_by = fields[14].text();
  h.has_jobs = !fields[15].is_nil();
  if (!fields[17].is_nil()) {
    const auto until = end_in(key, fields[18]);
    if (!until) throw damaged_key(key, "does not say until when it may be renamed");
    h.moves = {std::string(valid_name(key, fields[17].text())), *until};
  }
  h.came_from = fields[19].text();
  h.replaces = fields[20].text();
  f.came_from = h.came_from;
  if (!fields[21].is_nil())
    h.next_end = {fields[21].text() == never ? std::nullopt : end_in(key, fields[21])};
  if (!fields[22].is_nil()) {
    const auto number = number_in<std::uint64_t>(fields[22].text());
    if (!number) throw damaged_key(key, "has no valid number of its end");
    h.end_number = *number;
  }
  if (fields[5].is_nil()) return h;
  const auto next = number_in<std::uint64_t>(fields[5].text());
  if (!next) throw damaged_key(key, "has no valid next generation");
  h.next = f;
  h.next->generation = *next;
  h.next->spec = spec_in(key, fields[6]);
  h.next_is_ready = fields[7].text() == ready;
  return h;
}

}  // namespace everseen::redis
