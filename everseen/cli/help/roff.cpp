#include "everseen/cli/help/roff.hpp"

#include <cctype>

#include <fmt/format.h>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

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

}  // namespace everseen::cli
