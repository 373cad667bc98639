#include <memory>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

namespace {

/// The kind of a value, for the generators of all three shells.
enum class kind { words, file, directory, filter, verb_name, anything };

kind kind_of(const manual_entry& e) {
  if (!e.choices().empty()) return kind::words;
  if (e.value == "FILE") return kind::file;
  if (e.value == "DIR") return kind::directory;
  if (e.value == "NAME") return kind::filter;
  if (e.value == "VERB") return kind::verb_name;
  return kind::anything;
}

std::string names_of_verbs() {
  std::string names;
  for (const verb& v : all_verbs()) names += fmt::format("{}{}", names.empty() ? "" : " ", v.name);
  return names;
}

/// For text between single quotes of any of the shells, which all escape quotes differently.
std::string quotable(std::string_view text) {
  std::string safe;
  for (const char c : text)
    if (c != '\'' && c != '\\' && c != '[' && c != ']' && c != ':') safe += c;
  return safe;
}

std::string bash_values(const manual_entry& e) {
  switch (kind_of(e)) {
    case kind::words:
      return fmt::format("compgen -W '{}' -- \"$word\"", fmt::join(e.choices(), " "));
    case kind::file:
      return "compgen -f -- \"$word\"";
    case kind::directory:
      return "compgen -d -- \"$word\"";
    case kind::filter:
      return "_everseen_filters";
    case kind::verb_name:
      return fmt::format("compgen -W '{}' -- \"$word\"", names_of_verbs());
    case kind::anything:
      break;
  }
  return "true";
}

std::string bash_verb(const manual_page& page) {
  std::string text = fmt::format("    {})\n      case $before in\n", page.described->name);
  for (const manual_entry& o : page.options)
    if (o.takes_a_word()) text += fmt::format("        {}) {} ;;\n", fmt::join(o.flags, "|"), bash_values(o));
  text += "        *)\n          case $word in\n";
  text += fmt::format("            -*) compgen -W '{}' -- \"$word\" ;;\n", fmt::join(page.flags(), " "));
  if (!page.arguments.empty())
    text += fmt::format("            *) {} ;;\n", bash_values(page.arguments.front()));
  return text + "          esac ;;\n      esac ;;\n";
}

/// Bash splits --option=value into three words, and a URL at each colon.
constexpr std::string_view bash_words = R"(
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} line=${COMP_LINE:0:COMP_POINT}
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  local store=()
  [[ $line =~ --store[=\ ]+([^ ]+)\  ]] && store=(--store "${BASH_REMATCH[1]}")
)";

/// Not compgen -W, which would run a name such as $(...). Of a name with colons, bash replaces the last part.
constexpr std::string_view bash_filters = R"(
_everseen_filters() {
  local name typed=${line##*[[:space:]]}
  typed=${typed#--*=}
  everseen list --names "${store[@]}" 2>/dev/null | while IFS= read -r name; do
    [[ $name == "$typed"* ]] && printf '%s\n' "${name#"${typed%"${typed##*:}"}"}"
  done
}
)";

std::string bash_script() {
  std::string text = "# bash completion for everseen\n" + std::string(bash_filters) +
                     "\n"
                     "_everseen_candidates() {\n"
                     "  local verb=$1 before=$2 word=$3\n"
                     "  case $verb in\n";
  for (const verb& v : all_verbs()) text += bash_verb(describe(v));
  return text + fmt::format("    *) compgen -W '{} --help --version' -- \"$word\" ;;\n", names_of_verbs()) +
         "  esac\n}\n\n"
         "_everseen() {\n"
         "  local verb=\n"
         "  ((COMP_CWORD > 1)) && verb=${COMP_WORDS[1]}" +
         std::string(bash_words) +
         "  mapfile -t COMPREPLY < <(_everseen_candidates \"$verb\" \"$before\" \"$word\")\n"
         "}\n\n"
         "complete -o filenames -F _everseen everseen\n";
}

std::string zsh_values(const manual_entry& e) {
  switch (kind_of(e)) {
    case kind::words:
      return fmt::format(":{}:({})", "value", fmt::join(e.choices(), " "));
    case kind::file:
      return ":file:_files";
    case kind::directory:
      return ":directory:_files -/";
    case kind::filter:
      return ":filter:_everseen_filters";
    case kind::verb_name:
      return fmt::format(":verb:({})", names_of_verbs());
    case kind::anything:
      break;
  }
  return fmt::format(":{}: ", quotable(e.value));
}

std::string zsh_verb(const manual_page& page) {
  std::string text = fmt::format("    {})\n      _arguments", page.described->name);
  for (const manual_entry& o : page.options)
    for (const std::string& flag : o.flags)
      text += fmt::format(" \\\n        '{}{}[{}]{}'", flag,
                          o.takes_a_word() && flag.starts_with("--") ? "=" : "", quotable(o.text),
                          o.takes_a_word() ? zsh_values(o) : "");
  for (const manual_entry& a : page.arguments)
    text += fmt::format(" \\\n        '{}{}'", a.many ? "*" : "", zsh_values(a));
  return text + " ;;\n";
}

constexpr std::string_view zsh_filters = R"zsh(
_everseen_filters() {
  local -a store
  local i
  for ((i = 2; i < CURRENT; i++)); do
    case ${words[i]} in
      --store=*) store=("${(Q)words[i]}") ;;
      --store) store=(--store "${(Q)words[i + 1]}") ;;
    esac
  done
  compadd -- ${(f)"$(everseen list --names $store 2>/dev/null)"}
}
)zsh";

std::string zsh_script() {
  std::string text = "#compdef everseen\n" + std::string(zsh_filters) +
                     "\n_everseen() {\n  if ((CURRENT == 2)); then\n    local -a verbs=(\n";
  for (const verb& v : all_verbs()) text += fmt::format("      '{}:{}'\n", v.name, quotable(v.purpose));
  text +=
      "    )\n    _describe verb verbs\n    return\n  fi\n"
      "  local verb=${words[2]}\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const verb& v : all_verbs()) text += zsh_verb(describe(v));
  // Works both when autoloaded from a directory of $fpath and when sourced.
  return text +
         "  esac\n}\n\n"
         "if [[ $funcstack[1] == _everseen ]]; then\n  _everseen \"$@\"\nelse\n  compdef _everseen "
         "everseen\nfi\n";
}

std::string fish_values(const manual_entry& e) {
  switch (kind_of(e)) {
    case kind::words:
      return fmt::format(" -x -a '{}'", fmt::join(e.choices(), " "));
    case kind::file:
      return " -r -F";
    case kind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case kind::filter:
      return " -x -a '(__everseen_filters)'";
    case kind::verb_name:
      return fmt::format(" -x -a '{}'", names_of_verbs());
    case kind::anything:
      break;
  }
  return " -x";
}

std::string fish_verb(const manual_page& page) {
  const std::string when =
      fmt::format("complete -c everseen -n '__fish_seen_subcommand_from {}'", page.described->name);
  std::string text;
  for (const manual_entry& o : page.options) {
    text += when;
    for (const std::string& flag : o.flags)
      text += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
    text += fmt::format("{} -d '{}'\n", o.takes_a_word() ? fish_values(o) : "", quotable(o.text));
  }
  for (const manual_entry& a : page.arguments) text += when + fish_values(a) + '\n';
  return text;
}

constexpr std::string_view fish_filters = R"(
function __everseen_filters
  set -l store
  set -l next
  for word in (commandline -opc)
    if test -n "$next"
      set store --store=$word
    else if string match -q -- '--store=*' $word
      set store $word
    end
    set next (string match -- --store $word)
  end
  everseen list --names $store 2>/dev/null
end
)";

std::string fish_script() {
  std::string text =
      "# fish completion for everseen\n" + std::string(fish_filters) + "\ncomplete -c everseen -f\n";
  for (const verb& v : all_verbs())
    text += fmt::format("complete -c everseen -n __fish_use_subcommand -a {} -d '{}'\n", v.name,
                        quotable(v.purpose));
  for (const verb& v : all_verbs()) text += fish_verb(describe(v));
  return text;
}

exit_code run_completion(const std::string& shell, printer& out) {
  if (shell == "bash")
    out.write(bash_script());
  else if (shell == "zsh")
    out.write(zsh_script());
  else if (shell == "fish")
    out.write(fish_script());
  else
    refuse_choice("completion", shell, "bash|zsh|fish");
  return exit_code::done;
}

}  // namespace

verb completion_verb() {
  return {"completion",
          "Print a script that lets a shell complete everseen's verbs and options",
          "The package of everseen installs its completions.",
          {{"Complete in this bash", "everseen completion bash > everseen.bash && source everseen.bash"},
           {"Complete in fish", "everseen completion fish > everseen.fish"}},
          [](option_set& known) -> action {
            auto shell = std::make_shared<std::string>();
            add_argument(known, *shell, {"bash|zsh|fish", "the shell"});
            return [shell](printer& out) { return run_completion(*shell, out); };
          }};
}

}  // namespace everseen::cli
