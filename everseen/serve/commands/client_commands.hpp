#pragma once

#include <string>
#include <string_view>

#include "everseen/serve/base/command.hpp"

namespace everseen::serve {

/// A word that a client says about itself, to be kept while it is connected.
/// @param subject  the word, for the refusal
/// @throws refusal  it is not of printable ASCII without blanks, or is too long
[[nodiscard]] std::string client_word(std::string_view subject, std::string_view word);

/// Names the connection, for CLIENT SETNAME and HELLO.    @throws refusal
void name_client(call& c, std::string_view name);

}  // namespace everseen::serve
