#include "everseen/cli/stream/job_description.hpp"

#include <chrono>
#include <random>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/text/json.hpp"

// The description of a job is stored with its ledger, where later versions of the program read it: a name in
// the JSON never changes its meaning, and what an option adds appears only if the option is given. Messages
// about a job are made from this text and not from the options of today, since the job may have been begun
// with others.

namespace everseen::cli {

namespace {

std::string to_text(const field_rule& field) {
  return field.form == field_rule::kind::json
             ? field.pointer
             : fmt::format("{}{}{}", field.number, field.quoted ? "\"" : "", field.delimiter);
}

using json_text = nlohmann::ordered_json;

/// A field from to_text(): a pointer; or a number, a quotation mark if it is one of CSV, and the delimiter.
std::string shown_field(const std::string& text) {
  if (text.starts_with('/') || text.empty()) return text;
  return text.substr(0, text.find_first_not_of("0123456789"));
}

bool is_of_csv(const std::string& text) {
  return text.size() >= 2 && text[text.size() - 2] == '"';
}

std::string shown_dimension(const json_text& d) {
  const std::string name = d.at("name").get<std::string>();
  const std::string field = shown_field(d.at("field").get<std::string>());
  std::string text = field.substr(field.rfind('/') + 1) == name ? "" : name + '=';
  if (d.contains("ms"))
    text += format_duration(std::chrono::milliseconds(d.at("ms").get<std::int64_t>())) + ':';
  return text + field;
}

std::string shown_set(const json_text& set) {
  std::vector<std::string> all;
  for (const auto& d : set) all.push_back(shown_dimension(d));
  return all.empty() ? "''" : fmt::format("{}", fmt::join(all, ","));
}

std::string option_for(std::string_view kind, const std::string& field) {
  return fmt::format("--{} {}", kind, shown_field(field));
}

/// The options that define a job, in groups for comparison.
struct shown_options {
  std::string key, delimiter, time, counts;
};

shown_options options_in(const std::string& description) {
  const auto text = json_text::parse(description);
  shown_options all;
  std::vector<std::string> key, times, counts;
  // It is stored with each field, and was given once for all.
  const auto note_delimiter = [&](const std::string& field) {
    if (!field.empty() && !field.starts_with('/'))
      all.delimiter = fmt::format(
          "{}{}", is_of_csv(field) ? "--csv " : "",
          field.back() == '\t' ? "--delimiter tab" : fmt::format("--delimiter '{}'", field.back()));
  };
  for (const auto& field : text.at("key")) {
    key.push_back(option_for("key", field.get<std::string>()));
    note_delimiter(field.get<std::string>());
  }
  if (text.contains("key_kafka")) key.push_back("--key-kafka " + text["key_kafka"].get<std::string>());
  if (!text.at("time").is_null()) {
    times.push_back(option_for("time", text.at("time").get<std::string>()));
    note_delimiter(text.at("time").get<std::string>());
  }
  if (text.contains("time_format"))
    times.push_back(fmt::format("--time-format '{}'", text["time_format"].get<std::string>()));
  if (text.contains("time_zone")) times.push_back("--time-zone " + text["time_zone"].get<std::string>());
  for (const auto& set : text.at("counts")) {
    counts.push_back("--count " + shown_set(set));
    for (const auto& d : set) note_delimiter(d.at("field").get<std::string>());
  }
  all.key = key.empty() ? "the whole record as the key" : fmt::format("{}", fmt::join(key, " "));
  all.time = times.empty() ? "no --time" : fmt::format("{}", fmt::join(times, " "));
  if (all.delimiter.empty()) all.delimiter = "no --delimiter";
  all.counts = counts.empty() ? "no --count" : fmt::format("{}", fmt::join(counts, " "));
  return all;
}

}  // namespace

std::string describe_job(const event_shape& shape) {
  nlohmann::ordered_json text;
  text["key"] = nlohmann::json::array();
  for (const field_rule& field : shape.key) text["key"].push_back(to_text(field));
  if (shape.beside)
    text["key_kafka"] = shape.beside->header.empty() ? "key" : "header:" + shape.beside->header;
  text["time"] = shape.time ? nlohmann::ordered_json(to_text(*shape.time)) : nlohmann::ordered_json();
  if (!shape.times.format().empty()) text["time_format"] = shape.times.format();
  if (shape.times.zone()) text["time_zone"] = shape.times.zone()->name();
  text["counts"] = nlohmann::json::array();
  for (const dimension_set& set : shape.counts) {
    auto& written = text["counts"].emplace_back(nlohmann::json::array());
    for (const dimension& d : set) {
      auto& one = written.emplace_back(nlohmann::ordered_json{{"name", d.name}, {"field", to_text(d.field)}});
      if (d.truncation) one["ms"] = d.truncation->count();
    }
  }
  text["word"] = fmt::format("{:08x}{:08x}", std::random_device()(), std::random_device()());
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string word_in(const std::string& description) {
  const auto text = json_text::parse(description, nullptr, false);
  if (!text.is_object() || !text.contains("word") || !text["word"].is_string()) return {};
  return text["word"].get<std::string>();
}

bool are_alike(const std::string& one, const std::string& other) {
  auto a = json_text::parse(one, nullptr, false), b = json_text::parse(other, nullptr, false);
  if (!a.is_object() || !b.is_object()) return one == other;
  a.erase("word");
  b.erase("word");
  return a == b;
}

std::string shown_job(const std::string& description) {
  try {
    const shown_options all = options_in(description);
    std::vector<std::string> words = {all.key};
    for (const std::string* each : {&all.delimiter, &all.time, &all.counts})
      if (!each->starts_with("no --")) words.push_back(*each);
    return fmt::format("{}", fmt::join(words, " "));
  } catch (const nlohmann::json::exception&) {
    return description;  // of another program
  }
}

std::string differences(const std::string& before, const std::string& current) {
  try {
    const shown_options was = options_in(before), is = options_in(current);
    std::vector<std::string> all;
    for (const auto part :
         {&shown_options::key, &shown_options::delimiter, &shown_options::time, &shown_options::counts})
      if (was.*part != is.*part) all.push_back(fmt::format("{} (now: {})", was.*part, is.*part));
    return fmt::format("{}", fmt::join(all, ", and "));
  } catch (const nlohmann::json::exception&) {
    return fmt::format("{} (now: {})", before, current);
  }
}

std::vector<std::vector<std::string>> described_sets(std::string_view description) {
  try {
    std::vector<std::vector<std::string>> sets;
    const auto text = nlohmann::json::parse(description);
    for (const auto& set : text.at("counts")) {
      auto& names = sets.emplace_back();
      for (const auto& d : set) names.push_back(d.at("name").get<std::string>());
    }
    return sets;
  } catch (const nlohmann::json::exception&) {
    throw format_error(
        "the description of the job was not written by everseen stream; its counts cannot be told apart");
  }
}

std::string jobs_text(const std::vector<std::string>& jobs) {
  std::string names;
  for (const std::string& job : jobs) names += (names.empty() ? "" : ", ") + shown_name(job);
  return "it has " + (names.empty() ? "none" : names);
}

}  // namespace everseen::cli
