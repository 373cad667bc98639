#pragma once

#include <string>
#include <string_view>

#include "everseen/server/base/command.hpp"

namespace everseen::server {

/// The reply of COMMAND and COMMAND INFO.    @param names  empty: every command
void write_table(wire::reply_writer& to, word_list names);
/// The reply of COMMAND DOCS.    @param names  empty: every command
void write_docs(wire::reply_writer& to, word_list names);

[[nodiscard]] std::string lower(std::string_view name);

}  // namespace everseen::server
