/// How verbs declare their options, with one function for each kind of value.
///
/// Values are parsed here, so that all errors are worded alike and exit with 2. The targets must outlive the
/// parsing of the command line: verbs keep them in a shared_ptr that their action captures.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::cli {

/// The manual's text for an option.
struct option_text {
  std::string value;       ///< its value, as in RATE; lower-case words joined by | are a fixed choice
  std::string text;        ///< what it does
  std::string standard{};  ///< the default, if it is worth showing
};

/// @param flags  short ones, then long ones: "-q,--quiet"; the first long one is the option's name
void add_switch(option_set& known, const std::string& flags, bool& target, const std::string& text);

// What many verbs have, in the same words.
void add_json(option_set& known, bool& target);
void add_yes(option_set& known, bool& target);
/// @param records  what ends with a NUL byte, as in "lines"
void add_null(option_set& known, bool& target, const std::string& records);

/// An option whose value `read` parses. `read` throws parameter_error; it gets the flag for the message.
using value_reader = std::function<void(std::string_view option, std::string_view value)>;
void add_option(option_set& known, const std::string& flags, const option_text& manual, value_reader read);

void add_text(option_set& known, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual);
/// -o, --output.    @param target  nothing: standard output, which is also written -
void add_output(option_set& known, std::optional<std::string>& target, const std::string& text);
/// A switch with an optional value, as in --stats or --stats=FILE; `alone` is the value if it is omitted.
void add_optional_text(option_set& known, const std::string& flag, std::optional<std::string>& target,
                       const std::string& alone, const option_text& manual);

void add_count(option_set& known, const std::string& flags, std::optional<std::uint64_t>& target,
               count_bounds bounds, const option_text& manual);
void add_rate(option_set& known, const std::string& flags, std::optional<double>& target, rate_bounds bounds,
              const option_text& manual);
void add_duration(option_set& known, const std::string& flags,
                  std::optional<std::chrono::milliseconds>& target, const option_text& manual,
                  std::chrono::milliseconds least = std::chrono::milliseconds(1));

void add_time(option_set& known, const std::string& flags, std::optional<event_time>& target,
              const option_text& manual);

/// An option that may be given any number of times.
void add_texts(option_set& known, const std::string& flags, std::vector<std::string>& target,
               const option_text& manual);

/// An option with a fixed choice of words; `parse` returns an empty optional for an unknown word.
template <typename T, typename Parse>
void add_choice(option_set& known, const std::string& flags, std::optional<T>& target,
                const option_text& manual, Parse parse);

/// How the keys of a filter are hashed.    @param standard  as in option_text
void add_hash(option_set& known, std::optional<hash_kind>& target, const std::string& standard);
/// Which side keeps the bits of a filter on Redis: its servers, or each client.
void add_judge(option_set& known, std::optional<judge_kind>& target);

/// One argument without a flag.
void add_argument(option_set& known, std::string& target, const option_text& manual);
void add_argument(option_set& known, std::optional<std::string>& target, const option_text& manual);
/// Any number of arguments, unchanged.
void add_arguments(option_set& known, std::vector<std::string>& target, const option_text& manual);

/// Throws parameter_error for a word that is not among the choices.
[[noreturn]] void refuse_choice(std::string_view option, std::string_view word, std::string_view choices);

template <typename T, typename Parse>
void add_choice(option_set& known, const std::string& flags, std::optional<T>& target,
                const option_text& manual, Parse parse) {
  add_option(known, flags, manual,
             [&target, parse, choices = manual.value](std::string_view option, std::string_view word) {
               target = parse(word);
               if (!target) refuse_choice(option, word, choices);
             });
}

/// Options and arguments whose value is the name of a filter or a job, as doc/format.md, "Names of filters
/// and jobs", writes it.

/// An argument without a flag.
void add_name(option_set& known, std::string& target, const option_text& manual);
void add_name(option_set& known, std::optional<std::string>& target, const option_text& manual);
/// Any number of arguments without a flag.
void add_names(option_set& known, std::vector<std::string>& target, const option_text& manual);

/// An option.
void add_name(option_set& known, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual);

}  // namespace everseen::cli
