#pragma once

#include <string_view>
#include <vector>

#include "everseen/server/base/command.hpp"

/// What follows from the table of commands: the replies of COMMAND, and the categories of ACL CAT.
namespace everseen::server {

/// The names of categories, as in Redis, but only those that some command belongs to.
[[nodiscard]] std::vector<std::string_view> all_categories();
[[nodiscard]] bool belongs_to(const command& c, std::string_view category);
/// The commands of a category, subcommands by their full names.
[[nodiscard]] std::vector<std::string_view> commands_of(std::string_view category);

}  // namespace everseen::server
