#include "everseen/cli/verb/record_options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "everseen/cli/verb/field_notation.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/dedup/record/field_rule.hpp"
#include "everseen/dedup/record/input_kind.hpp"
#include "everseen/dedup/time/event_time.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

constexpr count_bounds field_numbers = {1, 10'000};

/// Any text, or `tab`.
field_delimiter parse_delimiter(std::string_view option, std::string_view text) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text.empty())
    throw parameter_error(fmt::format("{} is empty; give what is between fields, as in ','", option));
  return field_delimiter(text);
}

/// What to write instead of a field in the notation of another program; empty: it is no such notation.
std::string instead_of(const typed_field& typed, std::string_view prefix = "") {
  const std::vector<std::string> fields = fields_meant_by(fmt::format("{}{}", prefix, typed.text));
  if (fields.empty()) return {};
  if (fields.size() == 1) return fmt::format("write {}", fields.front());
  return fmt::format("repeat the option: {0} {1}", typed.option,
                     fmt::join(fields, fmt::format(" {} ", typed.option)));
}

void must_be_of_kind(const typed_field& typed) {
  const bool is_pointer = typed.text.starts_with('/');
  if (typed.option.ends_with("-json") && !is_pointer) {
    std::string instead = instead_of(typed);
    if (instead.empty()) instead = instead_of(typed, ".");  // a path without its first dot
    throw parameter_error(fmt::format("{} {} is not a JSON pointer, which begins with /; {}", typed.option,
                                      typed.text, instead.empty() ? "write one, as in /user/id" : instead));
  }
  if (typed.option.ends_with("-field") && is_pointer)
    throw parameter_error(fmt::format("{} {} is a JSON pointer; give it to {}", typed.option, typed.text,
                                      typed.option.substr(0, typed.option.rfind('-'))));
}

void add_key(option_set& known, const std::string& flags, std::vector<typed_field>& key,
             const option_text& manual) {
  std::vector<std::string> unused;
  add_texts(known, flags, unused, manual);
  known.back().read = [&key, what = "--" + known.back().shown.name()](const words& values) {
    for (const std::string& text : values) {
      key.push_back({what, text});
      must_be_of_kind(key.back());
    }
  };
}

void add_time(option_set& known, const std::string& flag, std::optional<typed_field>& time,
              const option_text& manual) {
  add_option(known, flag, manual, [&time](std::string_view option, std::string_view text) {
    if (time)
      throw parameter_error(fmt::format("{} and {} exclude each other; give one", time->option, option));
    time = {std::string(option), std::string(text)};
    must_be_of_kind(*time);
  });
}

}  // namespace

std::string shown_records(const record_options& given) {
  std::string text;
  if (given.zero) text += " --zero";
  if (given.csv) text += " --csv";
  if (given.header) text += " --header";
  if (given.delimiter)
    text += *given.delimiter == '\t' ? " --delimiter tab"
                                     : fmt::format(" --delimiter '{}'", given.delimiter->text());
  for (const typed_field& field : given.key) text += fmt::format(" --key {}", field.text);
  if (given.form.ignore_case) text += " --ignore-case";
  if (given.form.fold_case) text += " --fold-case";
  if (given.form.trim) text += " --trim";
  if (given.form.skip_fields > 0) text += fmt::format(" --skip-fields {}", given.form.skip_fields);
  if (given.form.skip_chars > 0) text += fmt::format(" --skip-chars {}", given.form.skip_chars);
  if (given.form.check_chars) text += fmt::format(" --check-chars {}", *given.form.check_chars);
  if (given.time) text += fmt::format(" --time {}", given.time->text);
  if (given.time_format) text += fmt::format(" --time-format '{}'", *given.time_format);
  if (given.time_unit) text += fmt::format(" --time-unit {}", *given.time_unit);
  if (given.time_zone) text += fmt::format(" --time-zone {}", given.time_zone->name());
  return text;
}

void declare_key(option_set& known, record_options& into) {
  add_key(
      known, "-k,--key", into.key,
      {"FIELD",
       "the key: the number of a field, from 1; its name, with --header; or a JSON pointer, as in /user/id. "
       "Repeat it for a key of several fields",
       "the whole line"});
  add_key(known, "--key-field", into.key, {"NUMBER", "the same, for fields only"});
  add_key(known, "--key-json", into.key, {"POINTER", "the same, for JSON pointers only"});
  add_option(known, "-t,--delimiter",
             {"TEXT", "what is between fields, as in , or ' | ', or tab", "tab; a comma with --csv"},
             [&into](std::string_view option, std::string_view text) {
               into.delimiter = parse_delimiter(option, text);
             });
  add_switch(known, "--csv", into.csv,
             "the input is CSV (RFC 4180): a quoted field may contain delimiters, line breaks and doubled "
             "quotation marks");
  add_switch(known, "--header", into.header,
             "the first line of the input names the fields; it is no record, and is put out first");
  add_switch(known, "--no-decompress", into.no_decompress,
             "do not decompress input that looks like gzip, zstd, bzip2, xz or lz4");
}

void declare_key_form(option_set& known, record_options& into) {
  const auto count = [&known](const std::string& flags, const option_text& manual, auto keep) {
    add_option(known, flags, manual, [keep](std::string_view option, std::string_view text) {
      keep(static_cast<std::size_t>(parse_count(option, text, {0, 1'000'000})));
    });
  };
  add_switch(known, "-i,--ignore-case", into.form.ignore_case,
             "keys that differ in A to Z and a to z alone are one key; other letters stay different");
  add_switch(
      known, "--fold-case", into.form.fold_case,
      "the same for the letters of all scripts, by Unicode's case folding, as of 'Straße' and 'STRASSE'; "
      "bytes that are no UTF-8 count as they are");
  add_switch(known, "--trim", into.form.trim,
             "spaces, tabs and carriage returns at both ends of a key do not count");
  count("-f,--skip-fields", {"COUNT", "of each key, so many fields between blanks do not count, as of uniq"},
        [&into](std::size_t n) { into.form.skip_fields = n; });
  count("-s,--skip-chars", {"COUNT", "then so many characters do not count, either"},
        [&into](std::size_t n) { into.form.skip_chars = n; });
  count("-w,--check-chars", {"COUNT", "and of the rest only so many do"},
        [&into](std::size_t n) { into.form.check_chars = n; });
}

void declare_time(option_set& known, record_options& into) {
  add_time(known, "--time", into.time,
           {"FIELD",
            "the time, a field as for --key, as in 1764059400, 2026-11-25T08:30:00Z or "
            "25/Nov/2026:08:30:00 +0000: see --time-format",
            "the clock's time"});
  add_time(known, "--time-field", into.time, {"NUMBER", "the same, for fields only"});
  add_time(known, "--time-json", into.time, {"POINTER", "the same, for JSON pointers only"});
  add_text(
      known, "--time-format", into.time_format,
      {"FORMAT", "how the time is written, as for strptime(3), with %f for a fraction: '%d.%m.%Y %H:%M:%S'",
       std::string(time_forms)});
  add_choice(known, "--time-unit", into.time_unit,
             {"s|ms|us|ns", "the time is a number of these since 1970", "by its digits"},
             [](std::string_view text) {
               return time_reader::is_unit(text) ? std::optional<std::string>(text) : std::nullopt;
             });
  add_option(known, "--time-zone",
             {"ZONE", "where a time or date without a zone belongs: UTC, +01:00 or Europe/Berlin",
              "a date is of UTC, a time without a zone cannot be read"},
             [&into](std::string_view, std::string_view text) { into.time_zone = time_zone::of(text); });
}

void must_have_effect(const record_options& given, bool also_fields) {
  const auto is_field = [](const typed_field& f) { return !f.text.starts_with('/'); };
  const bool fields =
      also_fields || std::ranges::any_of(given.key, is_field) || (given.time && is_field(*given.time));
  if (given.delimiter && !fields)
    throw parameter_error("--delimiter stands between fields; give the number or the name of one with --key");
  if (given.csv && given.delimiter && given.delimiter->size() > 1)
    throw parameter_error("--delimiter of CSV is one byte");
  if (given.csv && given.delimiter &&
      (*given.delimiter == '"' || *given.delimiter == '\r' || *given.delimiter == '\n'))
    throw parameter_error("--delimiter of CSV can be neither a quotation mark nor part of a line break");
  if ((given.time_format || given.time_unit || given.time_zone) && !given.time && !also_fields)
    throw parameter_error(
        fmt::format("{} is about times in the lines; give --time, too", given.time_format ? "--time-format"
                                                                        : given.time_unit ? "--time-unit"
                                                                                          : "--time-zone"));
  if (given.time_format && given.time_unit)
    throw parameter_error(
        "a time is either written by --time-format, or a number of --time-unit; leave out one");
  if (given.time_format && time_reader::is_unit(*given.time_format))
    throw parameter_error(fmt::format("{0} is a unit; give --time-unit {0}", *given.time_format));
  if (given.delimiter && given.delimiter->text().find(given.format().separator) != std::string_view::npos)
    throw parameter_error("--delimiter has the byte inside that ends a line; no field would have it");
  const auto is_pointer = [](const typed_field& f) { return f.text.starts_with('/'); };
  const auto pointer = std::ranges::find_if(given.key, is_pointer);
  if (given.csv && pointer != given.key.end())
    throw parameter_error(fmt::format(
        "{} {} is for JSON, and --csv for fields: give the number of one, or its name and --header",
        pointer->option, pointer->text));
  if (given.csv && given.zero) throw parameter_error("--csv has lines; leave out --zero");
}

field_words words_of(const record_options& given, const std::optional<std::string>& header) {
  field_words fields{given.delimiter_or_default(), {}, given.csv};
  if (!given.header) return fields;
  fields.names.emplace();
  if (!header) return fields;
  if (const auto kind = unusual_header(*header)) throw format_error("the first line of the input " + *kind);
  fields.names = header_names(*header, given.format(), "the input");
  return fields;
}

namespace {

unsigned number_of(const typed_field& typed, const field_words& fields) {
  const auto& names = *fields.names;
  if (names.empty()) return 1;  // no line is read by it
  const auto found = std::ranges::find(names, typed.text);
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), typed.text) != names.end())
      throw parameter_error(
          fmt::format("{} {}: two fields have this name in the first line; give the number of one",
                      typed.option, typed.text));
    return static_cast<unsigned>(found - names.begin()) + 1;
  }
  if (names.size() == 1 && names.front().empty())
    throw parameter_error(fmt::format(
        "{} {}: the first line of the input is blank; it has to name the fields", typed.option, typed.text));
  const std::vector<std::string_view> all(names.begin(), names.end());
  const std::string_view meant = nearest(typed.text, all);
  const std::size_t other = names.size() == 1 ? names.front().find_first_of(",;|\t") : std::string::npos;
  throw parameter_error(fmt::format(
      "{} {}: the first line names no such field; it names {}{}", typed.option, typed.text,
      fmt::join(names, ", "),
      !meant.empty() ? fmt::format("; did you mean {}?", meant)
      : other != std::string::npos
          ? fmt::format("; that is one field, and it has {0}: give --delimiter {0}",
                        names.front()[other] == '\t' ? "tab" : fmt::format("'{}'", names.front()[other]))
          : ""));
}

}  // namespace

field_rule parse_field(const typed_field& typed, const field_words& fields) {
  const auto& [option, text] = typed;
  if (text.starts_with('/')) {
    field_rule field{field_rule::kind::json, 0, fields.delimiter, text};
    validate(field);
    return field;
  }
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const std::string instead = is_number ? "" : instead_of(typed);
  if (!is_number && !fields.names && !instead.empty())
    throw parameter_error(fmt::format("{} {} is no field; {}", option, text, instead));
  if (!is_number && !fields.names)
    throw parameter_error(
        fmt::format("{} {} is no field; give a JSON pointer, as in /site, the number of a field, as in 3, or "
                    "--header if the first line of the input names the fields",
                    option, text));
  const auto number =
      is_number ? static_cast<unsigned>(parse_count(option, text, field_numbers)) : number_of(typed, fields);
  return {field_rule::kind::delimited, number, fields.delimiter, {}, fields.quoted};
}

event_shape shape_of(const record_options& given, const std::optional<std::string>& header) {
  const field_words fields = words_of(given, header);
  event_shape shape;
  for (const typed_field& typed : given.key) shape.key.push_back(parse_field(typed, fields));
  if (given.time) shape.time = parse_field(*given.time, fields);
  shape.form = given.form;
  shape.csv = given.format().csv();
  shape.header = header;
  shape.times = time_reader(given.time_unit.value_or(given.time_format.value_or("")), given.time_zone);
  static_cast<void>(event_rule(shape));  // refuses fields that do not go together
  return shape;
}

std::string keyless_note(const keyless_lines& lines, std::string_view missing, std::string_view fate) {
  if (lines.count == lines.all)
    return fmt::format(
        "warning: no line has a usable {0}, so all {1} were {2}; is the {0} right? The first: {3}", missing,
        format_count(lines.all), fate, lines.first);
  return fmt::format("{} of {} lines had no usable {} and {} {}; the first: {}", format_count(lines.count),
                     format_count(lines.all), missing, lines.count == 1 ? "was" : "were", fate, lines.first);
}

namespace {

bool has_json_key(const record_options& given) {
  return !given.key.empty() && given.key.front().text.starts_with('/');
}

std::string shown_delimiter(const field_delimiter& delimiter) {
  return delimiter == '\t' ? "a tab" : fmt::format("'{}'", delimiter.text());
}

void warn(const std::string& text) {
  fmt::print(stderr, "everseen: warning: {}\n", text);
}

}  // namespace

void input_warnings::look_at(std::string_view text, const std::string& name) {
  // A byte order mark before JSON is an error of its own.
  const bool is_json_with_mark = has_json_key(given_) && text.starts_with("\xef\xbb\xbf");
  if (const auto kind = unusual_kind(text, given_.format()); kind && !is_json_with_mark)
    warn(fmt::format("{} {}", name, *kind));
  else
    look_at_line_ends(text, name);
  look_at_delimiters(text, name);
  if (given_.csv || given_.delimiter != ',' || text.find('"') == std::string_view::npos) return;
  if (!std::exchange(has_warned_of_quotes_, true))
    warn(
        "there are quotation marks in the input, and fields are cut at every comma; if it is CSV, give "
        "--csv");
}

void input_warnings::look_at_more(std::string_view text, const std::string& name) {
  const std::size_t end_before = text.substr(0, text.size() - 1).rfind('\n');
  look_at_line_ends(end_before == std::string_view::npos ? text : text.substr(end_before + 1), name);
}

/// A line without a delimiter is one field, so a wrong delimiter is an error for every field but the first.
void input_warnings::look_at_delimiters(std::string_view text, const std::string& name) const {
  const auto is_first_field = [](const typed_field& field) { return field.text == "1"; };
  if (text.empty() || given_.key.empty() || given_.zero || !std::ranges::all_of(given_.key, is_first_field))
    return;
  constexpr std::size_t lines_looked_at = 100;
  std::string others = "\t,;| ";  // of which each line so far has each
  const field_delimiter mine = given_.delimiter_or_default();
  std::erase_if(others, [&](char other) { return mine == other; });
  for (std::size_t lines = 0; lines < lines_looked_at && !text.empty() && !others.empty(); ++lines) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (mine.find_in(line) != std::string_view::npos) return;
    if (given_.csv && line.find('"') != std::string_view::npos) return;  // what it has may be quoted
    std::erase_if(others, [&](char other) { return line.find(other) == std::string_view::npos; });
  }
  if (others.empty()) return;
  warn(
      fmt::format("no line at the beginning of {} has {}, so the first field is the whole line; each has {}: "
                  "give --delimiter {}",
                  name, shown_delimiter(mine), shown_delimiter(others.front()),
                  others.front() == '\t' ? "tab" : shown_delimiter(others.front())));
}

/// A carriage return is a part of its line; where JSON or CSV is read, it is part of no key.
void input_warnings::look_at_line_ends(std::string_view text, const std::string& name) {
  if (given_.csv || given_.zero || has_json_key(given_)) return;
  const line_ends found = line_ends_of(text);
  has_returns_ = has_returns_ || found.with_return > 0;
  has_newlines_ = has_newlines_ || found.without > 0;
  if (!has_returns_ || !has_newlines_ || std::exchange(has_warned_of_ends_, true)) return;
  warn(fmt::format(
      "some lines up to here, in {}, end with CR LF and others with LF alone, and the carriage return is "
      "part of its line: the same text with and without one is two lines. Remove them first: "
      "sed 's/\\r$//'",
      name));
}

void watch_input(block_reader& input, const record_options& given) {
  input.on_blocks([warnings = input_warnings(given)](std::string_view text, const std::string& name,
                                                     bool is_first) mutable {
    is_first ? warnings.look_at(text, name) : warnings.look_at_more(text, name);
  });
}

}  // namespace everseen::cli
