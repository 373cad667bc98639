#include "everseen/dedup/record/field_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/json_text.hpp"

namespace everseen {

static_assert(block_reader::padding >= simdjson::SIMDJSON_PADDING);

namespace {

std::vector<std::string> steps_of(std::string_view pointer) {
  std::vector<std::string> steps;
  for (const char c : pointer) {
    if (c == '/')
      steps.emplace_back();
    else if (!steps.back().empty() && steps.back().back() == '~')
      steps.back().back() = c == '0' ? '\1' : '/';  // \1 until all steps are parsed, or ~01 would become /
    else
      steps.back() += c;
  }
  for (std::string& step : steps) std::replace(step.begin(), step.end(), '\1', '~');
  return steps;
}

}  // namespace

/// The pointers as a tree, so that a document is walked once.
class field_reader::json {
 public:
  explicit json(const std::vector<field_rule>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) add(fields[i].pointer, i);
  }

  simdjson::error_code read(std::string_view record, std::span<std::string_view> values) {
    values_ = values;
    left_ = values.size();
    ++stamp_;
    // Newer versions of simdjson skip it, older ones refuse it; json_fault names it.
    if (record.starts_with("\xef\xbb\xbf")) return simdjson::TAPE_ERROR;
    simdjson::ondemand::document document;
    const auto length = record.size() + simdjson::SIMDJSON_PADDING;
    if (const auto bad = parser_.iterate(record.data(), record.size(), length).get(document)) return bad;
    return walk_document(document, record);
  }

 private:
  struct node {
    std::string name;
    std::optional<std::size_t> index;  // the name as an array index
    std::optional<std::size_t> field;
    std::vector<node> below;
    std::uint64_t stamp = 0;  // of the last record in which it was found
  };

  void add(const std::string& pointer, std::size_t field) {
    node* branch = &root_;
    for (const std::string& step : steps_of(pointer)) {
      const auto same = [&](const node& n) { return n.name == step; };
      auto found = std::find_if(branch->below.begin(), branch->below.end(), same);
      if (found == branch->below.end()) found = branch->below.insert(found, child(step));
      branch = &*found;
      if (branch->field) refuse(pointer);
    }
    if (!branch->below.empty()) refuse(pointer);
    branch->field = field;
  }

  static node child(const std::string& step) {
    node made{step, {}, {}, {}, 0};
    std::size_t index = 0;
    const auto [end, bad] = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool plain = step == "0" || !step.starts_with('0');
    if (bad == std::errc{} && end == step.data() + step.size() && plain) made.index = index;
    return made;
  }

  [[noreturn]] static void refuse(const std::string& pointer) {
    throw parameter_error("'" + pointer +
                          "' is a part of another requested field, or contains it; request only one of them");
  }

  /// The whole record is parsed as a document, not as a value: only a document checks that it is closed as it
  /// was opened.
  simdjson::error_code walk_document(simdjson::ondemand::document& document, std::string_view record) {
    simdjson::ondemand::json_type type;
    if (const auto bad = document.type().get(type)) return bad;
    const bool is_object = type == simdjson::ondemand::json_type::object;
    if (!is_object && type != simdjson::ondemand::json_type::array)
      return is_json_scalar(document, record) ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
    const auto bad =
        is_object ? walk_object(root_, document.get_object()) : walk_array(root_, document.get_array());
    // A missing field may be in a second document on the line, which is not JSON. Once all fields were found,
    // the rest is not read: that would cost 23 ns a record, a quarter of what dedup takes for a first field.
    return !bad && left_ > 0 && !is_json_end(document) ? simdjson::TAPE_ERROR : bad;
  }

  simdjson::error_code walk(node& branch, simdjson::ondemand::value value) {
    simdjson::ondemand::json_type type;
    if (const auto bad = value.type().get(type)) return bad;
    if (type == simdjson::ondemand::json_type::object) return walk_object(branch, value.get_object());
    if (type == simdjson::ondemand::json_type::array) return walk_array(branch, value.get_array());
    return simdjson::SUCCESS;
  }

  simdjson::error_code walk_object(node& branch,
                                   simdjson::simdjson_result<simdjson::ondemand::object> found) {
    simdjson::ondemand::object object;
    if (const auto bad = std::move(found).get(object)) return bad;
    for (auto each : object) {
      simdjson::ondemand::field field;
      if (const auto bad = std::move(each).get(field)) return bad;
      if (node* const named = find(branch, field))
        if (const auto bad = take(*named, field.value())) return bad;
      if (left_ == 0) break;
    }
    return simdjson::SUCCESS;
  }

  /// The node below with the name of a field, unless an earlier field had the name.
  [[gnu::always_inline]] node* find(node& branch, simdjson::ondemand::field& field) {
    const char* const written = field.key().raw();  // ends with a quotation mark
    for (node& n : branch.below) {
      if (n.stamp == stamp_) continue;
      std::size_t same = 0;
      while (same < n.name.size() && written[same] == n.name[same] && !is_special(written[same])) ++same;
      if (written[same] == '\\') return find_unescaped(branch, field);
      if (written[same] == '"' && same == n.name.size()) return &n;
    }
    return nullptr;
  }

  static bool is_special(char c) noexcept { return c == '"' || c == '\\'; }

  /// Called once a field: the parser has room to unescape each string of a document once.
  [[gnu::noinline]] node* find_unescaped(node& branch, simdjson::ondemand::field& field) {
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return nullptr;  // half of a surrogate pair
    for (node& n : branch.below)
      if (n.stamp != stamp_ && n.name == name) return &n;
    return nullptr;
  }

  simdjson::error_code walk_array(node& branch, simdjson::simdjson_result<simdjson::ondemand::array> found) {
    simdjson::ondemand::array array;
    if (const auto bad = std::move(found).get(array)) return bad;
    std::size_t index = 0;
    for (auto each : array) {
      simdjson::ondemand::value value;
      if (const auto bad = std::move(each).get(value)) return bad;
      for (node& n : branch.below)
        if (n.index == index)
          if (const auto bad = take(n, value)) return bad;
      ++index;
      if (left_ == 0) break;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code take(node& n, simdjson::ondemand::value value) {
    n.stamp = stamp_;
    if (!n.field) return walk(n, value);
    const auto text = json_text(value);
    if (!text) return simdjson::TAPE_ERROR;
    values_[*n.field] = *text;
    --left_;
    return simdjson::SUCCESS;
  }

  simdjson::ondemand::parser parser_;
  node root_;
  std::span<std::string_view> values_;
  std::size_t left_ = 0;  // fields of this record that were not found yet
  std::uint64_t stamp_ = 0;
};

field_reader::field_reader(const std::vector<field_rule>& fields)
    : fields_(fields), by_number_(fields.size()), values_(fields.size()), unquoted_(fields.size()) {
  for (const field_rule& field : fields_) {
    validate(field);
    if (field.form != fields_.front().form)
      throw parameter_error("give fields either by JSON pointers or by numbers, not both");
  }
  std::iota(by_number_.begin(), by_number_.end(), std::size_t{0});
  std::sort(by_number_.begin(), by_number_.end(),
            [&](std::size_t a, std::size_t b) { return fields_[a].number < fields_[b].number; });
  if (!fields_.empty() && fields_.front().form == field_rule::kind::json)
    json_ = std::make_unique<json>(fields_);
}
field_reader::~field_reader() = default;
field_reader::field_reader(field_reader&&) noexcept = default;
field_reader& field_reader::operator=(field_reader&&) noexcept = default;

tl::expected<std::span<const std::string_view>, record_fault> field_reader::read(std::string_view record) {
  for (std::string_view& value : values_) value = {};
  if (json_) {
    if (const auto bad = json_->read(record, values_)) return tl::unexpected(json_fault(bad, record));
  } else if (!fields_.empty()) {
    const field_rule& any = fields_.front();
    if (any.quoted && record.ends_with('\r')) record.remove_suffix(1);
    if (!any.quoted || !expects_quotes_ || record.find('"') == std::string_view::npos)
      read_delimited(record);
    else if (!read_quoted(record))
      return tl::unexpected(record_fault::bad_quotes);
  }
  return values_;
}

void field_reader::read_delimited(std::string_view record) {
  const char* cursor = record.data();
  const char* const end = cursor + record.size();
  const std::string_view delimiter = fields_.front().delimiter.text();
  const auto next = [&] {
    const auto left = static_cast<std::size_t>(end - cursor);
    return static_cast<const char*>(delimiter.size() == 1
                                        ? std::memchr(cursor, delimiter.front(), left)
                                        : ::memmem(cursor, left, delimiter.data(), delimiter.size()));
  };
  unsigned number = 1;
  for (const std::size_t i : by_number_) {
    for (; number < fields_[i].number; ++number) {
      const char* const found = next();
      if (found == nullptr) return;
      cursor = found + delimiter.size();
    }
    const char* const found = next();
    values_[i] = {cursor, static_cast<std::size_t>((found == nullptr ? end : found) - cursor)};
  }
}

namespace {

/// The first field of a record of CSV.
struct quoted_field {
  std::string_view between;  // the quotes
  std::size_t end = 0;       // of the field
  bool has_doubled = false;  // quotes
};

std::optional<quoted_field> first_quoted_field(std::string_view record) {
  quoted_field field;
  for (std::size_t position = 1;; position += 2) {
    position = record.find('"', position);
    if (position == std::string_view::npos) return std::nullopt;
    field.between = record.substr(1, position - 1);
    field.end = position + 1;
    if (!record.substr(field.end).starts_with('"')) return field;
    field.has_doubled = true;
  }
}

/// Doubled quotes become one.    @return into
std::string_view unquote(std::string_view between, std::string& into) {
  into.clear();
  for (std::size_t i = 0; i < between.size(); ++i) {
    into += between[i];
    if (between[i] == '"') ++i;
  }
  return into;
}

}  // namespace

/// @return false  a quotation mark is in an invalid place
bool field_reader::read_quoted(std::string_view record) {
  const char delimiter = fields_.front().delimiter.text().front();
  auto wanted = by_number_.begin();
  for (unsigned number = 1;; ++number) {
    quoted_field field{record.substr(0, record.find(delimiter)),
                       std::min(record.find(delimiter), record.size())};
    if (record.starts_with('"')) {
      const auto found = first_quoted_field(record);
      if (!found) return false;
      field = *found;
      if (field.end < record.size() && record[field.end] != delimiter) return false;
    } else if (field.between.find('"') != std::string_view::npos) {
      return false;
    }
    for (; wanted != by_number_.end() && fields_[*wanted].number == number; ++wanted)
      values_[*wanted] = field.has_doubled ? unquote(field.between, unquoted_[*wanted]) : field.between;
    if (field.end == record.size()) return true;
    record.remove_prefix(field.end + 1);
  }
}

}  // namespace everseen
