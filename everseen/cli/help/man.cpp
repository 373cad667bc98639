#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::cli {

namespace {

struct man_arguments {
  std::optional<std::string> verb;
  std::optional<std::string> directory;
};

void write_file(const std::filesystem::path& path, std::string_view text) {
  new_file file(path);
  printer out(file.number(), path);
  out.write(text);
  out.flush();
  file.keep();
}

void write_all(const std::string& directory) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed)
    throw storage_error(fmt::format("cannot make {}: {}", directory, failed.message()), failed.value(),
                        directory);
  const std::filesystem::path folder = directory;
  write_file(folder / "everseen.1", overview_page());
  for (const verb& v : all_verbs()) write_file(folder / fmt::format("everseen-{}.1", v.name), verb_page(v));
}

exit_code run_man(const man_arguments& o, printer& out) {
  if (o.directory && o.verb) throw parameter_error("man writes one VERB or --all; give only one of them");
  if (o.directory)
    write_all(*o.directory);
  else
    out.write(o.verb ? verb_page(need_verb(*o.verb)) : overview_page());
  return exit_code::done;
}

}  // namespace

verb man_verb() {
  return {"man",
          "Print a manual page",
          "The page is in roff, the format of man. The package of everseen installs all pages: man everseen, "
          "man everseen-add.",
          {{"Read the page of a verb", "everseen man create | man -l -"},
           {"Write all pages into a directory", "everseen man --all share/man/man1"}},
          [](option_set& known) -> action {
            auto o = std::make_shared<man_arguments>();
            add_argument(known, o->verb, {"VERB", "the verb; none: the program as a whole"});
            add_text(known, "--all", o->directory, {"DIR", "write all pages into this directory"});
            return [o](printer& out) { return run_man(*o, out); };
          }};
}

}  // namespace everseen::cli
