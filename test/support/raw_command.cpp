#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/support/redis_server.hpp"

namespace everseen::test {

namespace {

using stream = std::unique_ptr<FILE, int (*)(FILE*)>;

stream connect_to(const std::string& unix_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (unix_path.size() >= sizeof address.sun_path) throw std::runtime_error("path too long: " + unix_path);
  std::memcpy(address.sun_path, unix_path.c_str(), unix_path.size() + 1);
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval timeout{20, 0};
  ::setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  if (::connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(s);
    throw std::runtime_error("no server listens at " + unix_path);
  }
  return {::fdopen(s, "r+"), std::fclose};
}

std::string read_line(FILE* from) {
  std::string line;
  for (int c = std::fgetc(from); c != '\n'; c = std::fgetc(from)) {
    if (c == EOF) throw std::runtime_error("the server sent nothing more");
    line += static_cast<char>(c);
  }
  line.pop_back();
  return line;
}

std::string read_reply(FILE* from) {
  const std::string line = read_line(from);
  const std::string rest = line.substr(1);
  if (line[0] == '-') return line;
  if (line[0] != '$' && line[0] != '*') return rest;
  if (rest == "-1") return "(nil)";
  const auto count = std::stoul(rest);
  std::string text;
  if (line[0] == '$') {
    text.resize(count);
    if (std::fread(text.data(), 1, count, from) != count) throw std::runtime_error("a reply ended early");
    read_line(from);
    return text;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += '\n';
    text += read_reply(from);
  }
  return text;
}

std::string encoded(std::span<const std::string> words) {
  std::string wire(1, '*');
  wire.append(std::to_string(words.size())).append("\r\n");
  for (const std::string& word : words)
    wire.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
  return wire;
}

void send(FILE* server, std::string_view wire, const std::string& unix_path) {
  while (!wire.empty()) {
    const ssize_t sent = ::send(::fileno(server), wire.data(), wire.size(), MSG_NOSIGNAL);
    if (sent <= 0) throw std::runtime_error("cannot send to " + unix_path);
    wire.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

std::vector<std::string> raw_commands(const std::string& unix_path,
                                      std::span<const std::vector<std::string>> commands) {
  const stream server = connect_to(unix_path);
  std::vector<std::string> replies;
  // Pipelined: a round trip costs more than a command, and a server that syncs its AOF does so once for all
  // that it has read. In parts, because the server must keep the replies that were not read yet.
  constexpr std::size_t at_once = 200;
  for (std::size_t from = 0; from < commands.size(); from += at_once) {
    const auto part = commands.subspan(from, std::min(at_once, commands.size() - from));
    std::string wire;
    for (const auto& words : part) wire += encoded(words);
    send(server.get(), wire, unix_path);
    for (std::size_t i = 0; i < part.size(); ++i) replies.push_back(read_reply(server.get()));
  }
  return replies;
}

struct listener::connection {
  stream server;
};

listener::listener(const std::string& unix_path, const std::string& channel)
    : connection_(std::make_unique<connection>(connection{connect_to(unix_path)})) {
  send(connection_->server.get(), encoded(std::vector<std::string>{"SUBSCRIBE", channel}), unix_path);
  read_reply(connection_->server.get());
}

listener::~listener() = default;

std::string listener::next() {
  const std::string message = read_reply(connection_->server.get());
  return message.substr(message.rfind('\n') + 1);
}

std::string raw_command(const std::string& unix_path, std::span<const std::string> words) {
  const stream server = connect_to(unix_path);
  send(server.get(), encoded(words), unix_path);
  return read_reply(server.get());
}

}  // namespace everseen::test
