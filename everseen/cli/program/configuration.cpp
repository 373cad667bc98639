#include "everseen/cli/program/configuration.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>
#include <unistd.h>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/program/command_line.hpp"
#include "everseen/cli/stream/stream_ends.hpp"
#include "everseen/cli/verb/foreign_words.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/open_store.hpp"

namespace everseen::cli {

namespace {

constexpr std::string_view prefix = "EVERSEEN_";
/// Options of the command line only.
bool is_about_configuration(std::string_view name) {
  return name == "config" || name == "check-config";
}

std::string variable_of(std::string_view name) {
  std::string variable(prefix);
  for (const char c : name)
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return variable;
}

/// A verb's options by their names.
using option_names = std::map<std::string, manual_entry, std::less<>>;

option_names names_of(const verb& v) {
  option_names all;
  for (const manual_entry& o : describe(v).options)
    if (const std::string name = o.name(); name != "help") all.emplace(name, o);
  return all;
}

std::string meant_by(std::string_view name, const option_names& known) {
  std::vector<std::string_view> names;
  for (const auto& [each, shown] : known)
    if (!is_about_configuration(each)) names.push_back(each);
  return std::string(nearest(name, names));
}

/// What to write instead of a name in a file that is no option.
std::string instead_of(const std::string& name, const verb& v, const option_names& known) {
  const manual_page page = describe(v);
  if (const auto sentence = about_foreign_option("--" + name, page.words()); !sentence.empty())
    return std::string(sentence);
  const std::string meant = meant_by(name, known);
  return meant.empty() ? fmt::format("see everseen {} --help", v.name)
                       : fmt::format("did you mean '{}'?", meant);
}

/// What was typed, option by option; nothing if it cannot be parsed.
std::optional<std::vector<setting>> typed_settings(const verb& v, const words& typed) {
  option_set options;
  const action ignored = v.declare(options);
  std::vector<setting> all;
  try {
    for (typed_option& o : read_command_line(options, typed))
      if (const std::string name = o.declared->shown.name(); !name.empty())
        all.push_back({name, std::move(o.values), "command line"});
  } catch (const bad_command_line&) {
    return std::nullopt;
  }
  return all;
}

/// Repeated values of an option are separated by blanks.
words words_of(const std::string& text) {
  std::istringstream stream(text);
  words all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::optional<setting> from_environment(const std::string& name, const manual_entry& shown) {
  const std::string variable = variable_of(name);
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  if (!shown.value.empty())
    return setting{name, shown.repeats ? words_of(value) : words{value}, "$" + variable};
  const std::string word = value;
  const bool is_off = word == "0" || word == "false";
  if (!is_off && word != "1" && word != "true")
    throw parameter_error(fmt::format("${} is '{}'; a switch is 1, true, 0 or false", variable, word));
  return setting{name, {}, "$" + variable, is_off};
}

/// Variables of other programs may have our prefix (Kubernetes creates some for every service). So only
/// likely misspellings are refused.
void refuse_misspelt_variables(const option_names& known) {
  for (char** each = ::environ; *each != nullptr; ++each) {
    const std::string_view variable = std::string_view(*each).substr(0, std::string_view(*each).find('='));
    if (!variable.starts_with(prefix)) continue;
    std::string name(variable.substr(prefix.size()));
    for (char& c : name) c = c == '_' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (known.contains(name)) continue;
    if (const std::string meant = meant_by(name, known); !meant.empty())
      throw parameter_error(
          fmt::format("${} is not an option; did you mean ${}?", variable, variable_of(meant)));
  }
}

std::optional<std::string> file_of(const std::vector<setting>& typed) {
  for (const setting& s : typed)
    if (s.name == "config") return s.values.front();
  const char* const value = std::getenv("EVERSEEN_CONFIG");
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

/// @throws parameter_error  the verb cannot accept it; the message has the location
void must_make_sense(const verb& v, const setting& s) {
  option_set options;
  const action ignored = v.declare(options);
  try {
    read_command_line(options, configuration{{s}}.arguments());
  } catch (const bad_command_line& fault) {
    throw parameter_error(fmt::format("{}: {}: {}", s.source, s.name, fault.what()));
  } catch (const parameter_error& fault) {
    throw parameter_error(fmt::format("{}: {}", s.source, fault.what()));
  }
}

bool is_secret(std::string_view name) {
  return name == "password" || name == "user";
}

std::string shown(const std::string& name, const std::string& value) {
  if (is_secret(name)) return "***";
  if (name == "from" || name == "to") return end_without_secrets(value);
  return name == "store" ? url_without_password(value) : value;
}

}  // namespace

words configuration::arguments() const {
  words all;
  for (const setting& s : settings) {
    if (s.is_off) continue;
    if (s.values.empty()) all.push_back("--" + s.name);
    for (const std::string& value : s.values) {
      // An empty value after the = counts as none; a value that looks like an option needs the =.
      all.push_back("--" + s.name + (value.empty() ? "" : "=" + value));
      if (value.empty()) all.push_back(value);
    }
  }
  return all;
}

bool configuration::checks_only() const {
  return std::ranges::find(settings, "check-config", &setting::name) != settings.end();
}

configuration configure(const verb& v, const words& typed) {
  const option_names known = names_of(v);
  auto settings = typed_settings(v, typed);
  // A mistyped line must not be replaced: it is run unchanged, to get its error message.
  if (!settings) return {};
  configuration all{*std::move(settings)};
  std::set<std::string, std::less<>> given;
  for (const setting& s : all.settings) given.insert(s.name);
  const auto add = [&](setting s) {
    if (!given.insert(s.name).second) return;
    if (s.is_off && !known.at(s.name).value.empty())
      throw parameter_error(fmt::format("{}: {} is not a switch and cannot be false", s.source, s.name));
    must_make_sense(v, s);
    all.settings.push_back(std::move(s));
  };
  refuse_misspelt_variables(known);
  for (const auto& [name, shown] : known)
    if (!is_about_configuration(name))
      if (auto s = from_environment(name, shown)) add(std::move(*s));
  const auto file = file_of(all.settings);
  if (!file) return all;
  for (setting& s : read_toml(*file, v.name)) {
    if (!known.contains(s.name) || is_about_configuration(s.name)) {
      throw parameter_error(fmt::format("{}: everseen {} has no option '{}'; {}", s.source, v.name, s.name,
                                        instead_of(s.name, v, known)));
    }
    add(std::move(s));
  }
  return all;
}

void print_configuration(const verb& v, const configuration& c, printer& out) {
  out.print("[{}]\n", v.name);
  for (const manual_entry& o : describe(v).options) {
    const std::string name = o.name();
    if (is_about_configuration(name) || name == "help") continue;
    const auto found = std::ranges::find(c.settings, name, &setting::name);
    if (found == c.settings.end()) {
      out.print("# {}{}\n", name, o.standard.empty() ? "" : " = " + o.standard + ", the default");
      continue;
    }
    words values;
    for (const std::string& value : found->values) values.push_back(toml_text(shown(name, value)));
    const std::string text = found->is_off        ? "false"
                             : values.empty()     ? "true"
                             : values.size() == 1 ? values.front()
                                                  : fmt::format("[{}]", fmt::join(values, ", "));
    out.print("{} = {}  # {}\n", name, text, found->source);
  }
}

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
