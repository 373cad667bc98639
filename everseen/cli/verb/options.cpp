#include "everseen/cli/verb/options.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/dedup/time/event_time.hpp"

// An option is an entry of the manual and a function that stores its value. The functions refer to the
// arguments of a verb, which its action owns. Which of two values was meant cannot be known, so an option
// that does not repeat is refused when it is given twice.

namespace everseen::cli {

namespace {

words split_flags(const std::string& flags) {
  words all;
  for (std::size_t from = 0; from <= flags.size();) {
    const std::size_t end = std::min(flags.find(',', from), flags.size());
    all.push_back(flags.substr(from, end - from));
    from = end + 1;
  }
  return all;
}

/// @param flags  empty for an argument
manual_entry entry_of(const std::string& flags, const option_text& manual) {
  return {flags.empty() ? words{} : split_flags(flags), manual.value, manual.text, manual.standard};
}

std::string replace_all(std::string text, std::string_view from, std::string_view replacement) {
  for (std::size_t position = text.find(from); position != std::string::npos;
       position = text.find(from, position + replacement.size()))
    text.replace(position, from.size(), replacement);
  return text;
}

}  // namespace

void add_switch(option_set& known, const std::string& flags, bool& target, const std::string& text) {
  known.push_back({entry_of(flags, {"", text}), [&target](const words&) { target = true; }});
}

void add_json(option_set& known, bool& target) {
  add_switch(known, "--json", target, "print JSON");
}

void add_yes(option_set& known, bool& target) {
  add_switch(known, "-y,--yes", target, "do not ask");
}

void add_null(option_set& known, bool& target, const std::string& records) {
  add_switch(known, "-z,-0,--zero,--null", target,
             records + " end with a NUL byte instead of a newline, as find -print0 ends them");
}

void add_option(option_set& known, const std::string& flags, const option_text& manual, value_reader read) {
  manual_entry shown = entry_of(flags, manual);
  const std::string subject = "--" + shown.name();
  known.push_back({std::move(shown), [read = std::move(read), subject](const words& values) {
                     if (values.size() > 1)
                       throw parameter_error(fmt::format("{} is given twice; give it once", subject));
                     read(subject, values.front());
                   }});
}

void add_text(option_set& known, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual) {
  add_option(known, flags, manual, [&target](std::string_view, std::string_view value) { target = value; });
}

void add_output(option_set& known, std::optional<std::string>& target, const std::string& text) {
  add_option(known, "-o,--output", {"FILE", text, "-, standard output"},
             [&target](std::string_view option, std::string_view value) {
               if (value.empty())
                 throw parameter_error(fmt::format("{} is empty; give it the name of a file", option));
               if (value != "-") target = value;
             });
}

void add_optional_text(option_set& known, const std::string& flag, std::optional<std::string>& target,
                       const std::string& alone, const option_text& manual) {
  manual_entry shown = entry_of(flag, manual);
  shown.value = "[=" + manual.value + "]";
  known.push_back({std::move(shown), [&target](const words& values) { target = values.back(); }, alone});
}

void add_texts(option_set& known, const std::string& flags, std::vector<std::string>& target,
               const option_text& manual) {
  known.push_back({entry_of(flags, manual), [&target](const words& values) {
                     target.insert(target.end(), values.begin(), values.end());
                   }});
  known.back().shown.repeats = true;
}

void add_count(option_set& known, const std::string& flags, std::optional<std::uint64_t>& target,
               count_bounds bounds, const option_text& manual) {
  add_option(known, flags, manual, [&target, bounds](std::string_view option, std::string_view value) {
    target = parse_count(option, value, bounds);
  });
}

void add_rate(option_set& known, const std::string& flags, std::optional<double>& target, rate_bounds bounds,
              const option_text& manual) {
  add_option(known, flags, manual, [&target, bounds](std::string_view option, std::string_view value) {
    target = parse_rate(option, value, bounds);
  });
}

void add_duration(option_set& known, const std::string& flags,
                  std::optional<std::chrono::milliseconds>& target, const option_text& manual,
                  std::chrono::milliseconds least) {
  add_option(known, flags, manual, [&target, least](std::string_view option, std::string_view value) {
    target = parse_duration(option, value, {.least = least});
  });
}

void add_time(option_set& known, const std::string& flags, std::optional<event_time>& target,
              const option_text& manual) {
  add_option(known, flags, manual, [&target](std::string_view option, std::string_view value) {
    target = parse_event_time(value);
    if (!target)
      throw parameter_error(
          fmt::format("{} {} is not a time, or has no zone; give {}", option, value, time_forms));
  });
}

void add_hash(option_set& known, std::optional<hash_kind>& target, const std::string& standard) {
  add_choice(
      known, "--hash", target,
      {asked_hash_names("|"), "siphash for keys from untrusted sources, which may attack the hash", standard},
      parse_asked_hash);
}

void add_judge(option_set& known, std::optional<judge_kind>& target) {
  add_choice(known, "--judge", target,
             {"server|client",
              "on Redis: who keeps the filter's bits. server: it needs the everseen module; client: each "
              "process that "
              "uses it, and the server keeps the order of keys",
              "server where all servers have the module, else client"},
             parse_judge_kind);
}

void add_argument(option_set& known, std::string& target, const option_text& manual) {
  known.push_back({entry_of("", manual), [&target](const words& values) { target = values.front(); }});
  known.back().shown.required = true;
}

void add_argument(option_set& known, std::optional<std::string>& target, const option_text& manual) {
  known.push_back({entry_of("", manual), [&target](const words& values) { target = values.front(); }});
}

void add_arguments(option_set& known, std::vector<std::string>& target, const option_text& manual) {
  known.push_back({entry_of("", manual), [&target](const words& values) { target = values; }});
  known.back().shown.many = true;
}

void refuse_choice(std::string_view option, std::string_view word, std::string_view choices) {
  throw parameter_error(
      fmt::format("{} {} is not known; use {}", option, word, replace_all(std::string(choices), "|", ", ")));
}

namespace {

std::string read_name(const std::string& typed) {
  std::string name = typed_name(typed);
  validate_filter_name(name);
  return name;
}

}  // namespace

void add_name(option_set& known, std::string& target, const option_text& manual) {
  add_argument(known, target, manual);
  known.back().read = [&target](const words& values) { target = read_name(values.front()); };
}

void add_name(option_set& known, std::optional<std::string>& target, const option_text& manual) {
  add_argument(known, target, manual);
  known.back().read = [&target](const words& values) { target = read_name(values.front()); };
}

void add_names(option_set& known, std::vector<std::string>& target, const option_text& manual) {
  add_arguments(known, target, manual);
  known.back().read = [&target](const words& values) {
    target.clear();
    for (const std::string& value : values) target.push_back(read_name(value));
  };
}

void add_name(option_set& known, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual) {
  add_option(known, flags, manual, [&target](std::string_view option, std::string_view value) {
    try {
      target = read_name(std::string(value));
    } catch (const parameter_error& why) {
      throw parameter_error(std::string(option) + ": " + why.what());
    }
  });
}

}  // namespace everseen::cli
