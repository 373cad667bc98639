#include "everseen/cli/program/toml_file.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::cli {

namespace {

std::string place_of(const std::string& path, const toml::source_region& where) {
  return fmt::format("{}:{}", path, where.begin.line);
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    throw parameter_error(fmt::format("the configuration {} cannot be read; is the path right?", path));
  return text.str();
}

toml::table parse(const std::string& path) {
  try {
    return toml::parse(read_whole(path), path);
  } catch (const toml::parse_error& fault) {
    throw parameter_error(fmt::format("{}: {}", place_of(path, fault.source()), fault.description()));
  }
}

/// A single value as it would be typed.
std::string typed(const toml::node& node, const std::string& place) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  throw parameter_error(place + ": this is neither a text, a number, true nor false");
}

void take(const toml::node& node, setting& s) {
  if (const auto* truth = node.as_boolean()) {
    s.is_off = !truth->get();
  } else if (const auto* list = node.as_array()) {
    for (const toml::node& each : *list) s.values.push_back(typed(each, s.source));
    if (list->empty()) s.values.emplace_back();  // an empty value, like --listen ''
  } else {
    s.values.push_back(typed(node, s.source));
  }
}

/// Tables of other verbs are allowed in the file.
void must_be_of_a_verb(const std::string& path, std::string_view verb, const toml::key& name,
                       const toml::node& node) {
  const std::string place = place_of(path, name.source());
  if (!node.is_table())
    throw parameter_error(
        fmt::format("{}: '{}' is above all tables; put it under [{}]", place, name.str(), verb));
  try {
    (void)need_verb(name.str());
  } catch (const parameter_error& fault) {
    throw parameter_error(fmt::format("{}: {}", place, fault.what()));
  }
}

}  // namespace

std::vector<setting> read_toml(const std::string& path, std::string_view verb) {
  const toml::table all = parse(path);
  std::vector<setting> settings;
  for (const auto& [table_name, node] : all) {
    must_be_of_a_verb(path, verb, table_name, node);
    if (table_name.str() != verb) continue;
    for (const auto& [name, value] : *node.as_table()) {
      setting s{std::string(name.str()), {}, place_of(path, name.source())};
      take(value, s);
      settings.push_back(std::move(s));
    }
  }
  return settings;
}

std::string toml_text(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      text += c;
  }
  return text + '"';
}

}  // namespace everseen::cli
