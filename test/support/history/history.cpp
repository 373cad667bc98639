#include "test/support/history/history.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace everseen::test::history {

namespace {

constexpr const char* names_of_actions[] = {"open",  "create", "drop",  "rename", "reset",  "expire", "add",
                                            "check", "claim",  "begin", "give",   "commit", "replace"};
constexpr const char* names_of_outcomes[] = {"done", "absent", "taken", "refused", "lost"};

std::string letter(int name) {
  return {static_cast<char>('a' + name)};
}

void append(int fd, const std::string& line) {
  if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the history cannot be written");
}

operation called_in(std::istream& in) {
  operation o;
  int kind = 0;
  std::size_t keys = 0;
  in >> o.number >> o.client >> kind >> o.call >> o.name >> o.other_name >> o.handle >> o.end >> keys;
  o.kind = static_cast<action>(kind);
  o.keys.resize(keys);
  for (asked_key& k : o.keys) in >> k.key >> k.event;
  return o;
}

void take_end(std::istream& in, operation& o) {
  int ended = 0;
  in >> o.back >> ended;
  o.ended = static_cast<outcome>(ended);
  if (o.ended == outcome::lost) o.back = never;  // it may still happen
  for (asked_key& k : o.keys) {
    int answer = 0;
    in >> answer >> k.claimed_before;
    k.answer = static_cast<verdict>(answer);
  }
}

}  // namespace

log_file::log_file(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (fd_ < 0) throw std::runtime_error("the history cannot be opened");
}

log_file::~log_file() {
  ::close(fd_);
}

void log_file::called(const operation& o) const {
  std::string line =
      fmt::format("call {} {} {} {} {} {} {} {} {}", o.number, o.client, static_cast<int>(o.kind), o.call,
                  o.name, o.other_name, o.handle, o.end, o.keys.size());
  for (const asked_key& k : o.keys) line += fmt::format(" {} {}", k.key, k.event);
  append(fd_, line + '\n');
}

void log_file::returned(const operation& o) const {
  std::string line = fmt::format("back {} {} {}", o.number, o.back, static_cast<int>(o.ended));
  for (const asked_key& k : o.keys)
    line += fmt::format(" {} {}", static_cast<int>(k.answer), static_cast<int>(k.claimed_before));
  append(fd_, line + '\n');
}

record read_log(const std::filesystem::path& path) {
  record all;
  std::map<std::int64_t, std::size_t> places;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "call") {
      all.push_back(called_in(in));
      places[all.back().number] = all.size() - 1;
    } else {
      std::int64_t number = 0;
      in >> number;
      take_end(in, all.at(places.at(number)));
    }
    if (in.fail()) throw std::runtime_error("the history is damaged: " + line);
  }
  std::ranges::stable_sort(all, {}, &operation::call);
  return all;
}

std::string to_text(const operation& o, moment origin) {
  const auto ms = [&](moment m) { return static_cast<double>(m - origin) / 1e6; };
  std::string text = fmt::format("{:10.3f} ", ms(o.call));
  text += o.back == never ? std::string("       ... ") : fmt::format("{:10.3f} ", ms(o.back));
  text += fmt::format("client {:<3} {} ", o.client, names_of_actions[static_cast<std::size_t>(o.kind)]);
  const bool uses_handle = o.handle != 0;
  text += uses_handle ? fmt::format("by handle {}", o.handle) : letter(o.name);
  if (o.kind == action::open || o.kind == action::create || o.kind == action::begin)
    text += fmt::format(" (handle {})", o.number);
  if (o.kind == action::rename) text += " to " + letter(o.other_name);
  if (o.kind == action::expire) text += o.end == never ? " never" : fmt::format(" at {:.3f}", ms(o.end));
  for (const asked_key& k : o.keys) {
    text += fmt::format(" k{}", k.key);
    if (k.event >= 0) text += fmt::format("(event {})", k.event);
    if (o.kind == action::add || o.kind == action::check || o.kind == action::claim)
      text += fmt::format(":{}{}", to_string(k.answer), k.claimed_before ? " as before" : "");
  }
  return text + " -> " + names_of_outcomes[static_cast<std::size_t>(o.ended)];
}

}  // namespace everseen::test::history
