#include "everseen/cli/serve/user_accounts.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"

namespace everseen::cli {

server::user_account parse_user(const std::string& where, std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  const auto malformed = [&] {
    return parameter_error(where + " takes NAME:PASSWORD:read, :write or :admin");
  };
  if (first == std::string_view::npos || first == last || first == 0) throw malformed();
  const std::string_view may = text.substr(last + 1);
  server::user_account user{std::string(text.substr(0, first)),
                            std::string(text.substr(first + 1, last - first - 1)), server::right::read};
  if (may == "write")
    user.may = server::right::write;
  else if (may == "admin")
    user.may = server::right::admin;
  else if (may != "read")
    throw malformed();
  if (user.password.empty()) throw parameter_error(fmt::format("{}: {} has no password", where, user.name));
  return user;
}

std::vector<server::user_account> read_users(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw parameter_error(fmt::format("cannot read the users in {}: {}", path, std::strerror(errno)));
  std::vector<server::user_account> users;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    users.push_back(parse_user(fmt::format("{}:{}: a line", path, number), line));
  }
  if (users.empty()) throw parameter_error(path + " names no user; each line is NAME:PASSWORD:RIGHT");
  return users;
}

}  // namespace everseen::cli
