#include "everseen/cli/help/manual.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"

// Help in a terminal and the manual page in roff are two texts of one manual_page, which is what the verb
// declares to the parser. So neither can show an option that the program does not know, or hide one.

namespace everseen::cli {

std::string manual_page::usage() const {
  std::string line = fmt::format("everseen {} [OPTION...]", described->name);
  for (const manual_entry& a : arguments)
    line += a.required ? " " + a.heading() : fmt::format(" [{}]", a.heading());
  return line;
}

std::vector<std::string_view> manual_page::flags() const {
  std::vector<std::string_view> all;
  for (const manual_entry& o : options) all.insert(all.end(), o.flags.begin(), o.flags.end());
  return all;
}

std::vector<std::string_view> manual_page::words() const {
  std::vector<std::string_view> all = flags();
  all.push_back(described->name);
  for (const manual_entry& a : arguments) all.push_back(a.value);
  return all;
}

bool manual_page::takes_keys() const {
  return std::any_of(arguments.begin(), arguments.end(), [](const auto& a) { return a.value == "KEY"; });
}

manual_page describe(const verb& v) {
  option_set all;  // the functions that store values are dropped with it, uncalled
  v.declare(all);
  manual_page page{&v, {}, {}};
  for (option& o : all) (o.shown.flags.empty() ? page.arguments : page.options).push_back(std::move(o.shown));
  page.options.push_back({{"-h", "--help"}, "", "show this help", ""});
  return page;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t column = 0;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", position), text.size());
    const std::string_view word = text.substr(position, end - position);
    if (column > 0 && column + 1 + word.size() > width) {
      lines += '\n' + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) lines += ' ';
    lines += word;
    column += word.size() + (column > 0);
    if (end < text.size() && text[end] == '\n') {
      lines += '\n';
      if (end + 1 < text.size() && text[end + 1] != '\n') lines += std::string(indent, ' ');
      column = 0;
    }
    position = end + 1;
  }
  return lines;
}

namespace {

constexpr std::size_t page_width = 80;

std::string entries_text(std::string_view title, const std::vector<manual_entry>& entries) {
  constexpr std::size_t column = 28;
  if (entries.empty()) return {};
  std::string text = fmt::format("\n{}:\n", title);
  for (const manual_entry& e : entries) {
    const std::string heading = "  " + e.heading();
    const bool beside = heading.size() + 2 <= column;
    text += beside ? fmt::format("{:<{}}", heading, column) : heading + '\n' + std::string(column, ' ');
    text += wrapped(e.body(), page_width - column, column) + '\n';
  }
  return text;
}

}  // namespace

// The terminal.

std::string help_text(const manual_page& page) {
  std::string text = fmt::format("{}.\n\nusage: {}\n", page.described->purpose, page.usage());
  if (!page.described->details.empty()) text += '\n' + wrapped(page.described->details, page_width, 0) + '\n';
  text += entries_text("Arguments", page.arguments) + entries_text("Options", page.options);
  if (!page.described->examples.empty()) text += "\nExamples:\n";
  for (const example& e : page.described->examples) text += fmt::format("  # {}\n  {}\n", e.says, e.command);
  return text;
}

std::string overview_text() {
  std::string text =
      "Has this key ever been seen?\n\n"
      "usage: everseen VERB [OPTION...] [ARGUMENT...]\n\nVerbs:\n";
  for (const verb& v : all_verbs()) text += fmt::format("  {:<12}{}\n", v.name, v.purpose);
  text += "\nOptions:\n  -h, --help      show this help, or that of a verb: everseen VERB --help\n";
  text += "  -V, --version   show the version\n\nExit codes:\n";
  for (const constant_entry& e : exit_codes()) text += fmt::format("  {}  {}\n", e.name, e.text);
  text += "\nEnvironment:\n";
  for (const constant_entry& e : environment()) text += fmt::format("  {}  {}\n", e.name, e.text);
  text += "\nStores:\n";
  for (const constant_entry& e : store_urls()) text += fmt::format("  {:<26}  {}\n", e.name, e.text);
  text += "\nOptions of URLs of servers, as in redis://HOST?wait=1&timeout=2s (R: Redis only):\n";
  for (const constant_entry& e : redis_url_options()) text += fmt::format("  {:<26}  {}\n", e.name, e.text);
  return text;
}

// What every page has.

const std::vector<constant_entry>& exit_codes() {
  static const std::vector<constant_entry> codes = {
      {"0", "done"},
      {"1", "the answer is no: a key is fresh, or you declined"},
      {"2", "the command line is wrong"},
      {"3", "storage, the output or a server failed"},
      {"4", "what is read is damaged or has no key, or a filter is missing and --existing was given"},
  };
  return codes;
}

const std::vector<constant_entry>& environment() {
  static const std::vector<constant_entry> variables = {
      {"EVERSEEN_STORE", "the store of filters, unless --store names another"},
      {"EVERSEEN_CONFIG", "a file with options of serve, unless --config names one"},
  };
  return variables;
}

const std::vector<constant_entry>& store_urls() {
  static const std::vector<constant_entry> urls = {
      {"mem:", "memory, for one run"},
      {"file:DIRECTORY", "files"},
      {"redis://HOST[:PORT][/DB]", "a Redis server; with a password redis://USER:PASSWORD@HOST"},
      {"redis://H1:P1,H2:P2,...", "independent servers; the same ones every time, in any order"},
      {"redis+cluster://H1:P1,...", "a Redis cluster, found from any of its servers"},
      {"rediss:, rediss+cluster:", "the same over TLS"},
      {"unix:/PATH", "a Redis server by its Unix socket"},
      {"everseen://HOST[:PORT]", "a running everseen serve, whatever its store; everseens: over TLS"},
      {"everseen+unix:/PATH", "the same by its Unix socket"},
  };
  return urls;
}

const std::vector<constant_entry>& redis_url_options() {
  static const std::vector<constant_entry> options = {
      {"retry_for=TIME", "how long requests are retried in an outage (10s; 30s for a cluster)"},
      {"staleness=TIME",
       "R: how long a check of a filter that clients judge may miss keys that others added (0)"},
      {"mirror=BYTES",
       "R: memory of this process for a filter that its clients judge (1Gi, at most a quarter)"},
      {"timeout=TIME", "for one answer (5s)"},
      {"connect_timeout=TIME", "for one connection (2s)"},
      {"wait=N", "R: replicas that must have the added keys (0)"},
      {"commands=NAME", "R: of attached filters: script or bitfield (script if the server allows it)"},
      {"prefix=NAME", "R: of all keys (everseen)"},
      {"user, password, db", "instead of before and after the host"},
      {"ca, cert, key, server_name", "for TLS: PEM files, and the name in the certificate"},
  };
  return options;
}

// Manual pages.

namespace {

/// Escapes text so that roff shows it unchanged: no requests, no hyphens for dashes. A blank line begins a
/// paragraph.
std::string plain(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\n' && line_begins) escaped += ".PP";
    if (c == '-')
      escaped += "\\-";
    else if (c == '\\')
      escaped += "\\e";
    else if (c == '~')
      escaped += "\\(ti";
    else if (c == '^')
      escaped += "\\(ha";
    else
      escaped += c;
    line_begins = c == '\n';
  }
  return escaped;
}

std::string upper(std::string_view text) {
  std::string letters(text);
  for (char& c : letters) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return letters;
}

std::string section(std::string_view title) {
  return fmt::format(".SH {}\n", title);
}

std::string title(std::string_view name, std::string_view purpose) {
  return fmt::format(".TH \"{}\" \"1\" \"\" \"everseen {}\" \"User Commands\"\n", plain(upper(name)),
                     EVERSEEN_VERSION) +
         section("NAME") + fmt::format("{} \\- {}\n", plain(name), plain(purpose));
}

std::string entry(std::string_view heading, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", plain(heading), plain(text));
}

std::string entries(std::string_view heading, const std::vector<manual_entry>& list) {
  if (list.empty()) return {};
  std::string text = section(heading);
  for (const manual_entry& e : list) text += entry(e.heading(), e.body());
  return text;
}

std::string constants(std::string_view heading, const std::vector<constant_entry>& list) {
  std::string text = section(heading);
  for (const constant_entry& e : list) text += entry(e.name, e.text);
  return text;
}

std::string examples(const std::vector<example>& list) {
  if (list.empty()) return {};
  std::string text = section("EXAMPLES");
  for (const example& e : list)
    text += fmt::format(".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", plain(e.says), plain(e.command));
  return text;
}

}  // namespace

std::string verb_page(const verb& v) {
  const manual_page page = describe(v);
  std::string text = title(fmt::format("everseen-{}", v.name), v.purpose);
  text += section("SYNOPSIS") + fmt::format(".B {}\n", plain(page.usage()));
  if (!v.details.empty()) text += section("DESCRIPTION") + plain(v.details) + '\n';
  text += entries("ARGUMENTS", page.arguments) + entries("OPTIONS", page.options) + examples(v.examples);
  text += constants("EXIT STATUS", exit_codes()) + constants("ENVIRONMENT", environment());
  return text + section("SEE ALSO") + ".BR everseen (1)\n";
}

std::string overview_page() {
  std::string text = title("everseen", "has this key ever been seen?");
  text += section("SYNOPSIS") + ".B everseen\n.I VERB\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n";
  text +=
      section("DESCRIPTION") +
      plain(
          "everseen remembers keys in a few bits each (a Bloom filter) and answers whether the next one "
          "was added before. `fresh` is certain; `seen` is wrong at most at the error rate that the filter "
          "was created with.\n");
  text += section("VERBS");
  for (const verb& v : all_verbs())
    text += fmt::format(".TP\n.BR everseen\\-{} (1)\n{}\n", plain(v.name), plain(v.purpose));
  text += constants("STORES", store_urls()) + constants("OPTIONS OF REDIS URLS", redis_url_options());
  return text + constants("EXIT STATUS", exit_codes()) + constants("ENVIRONMENT", environment());
}

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
  file.publish();
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
