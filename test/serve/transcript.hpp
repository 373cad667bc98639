#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "test/serve/raw_client.hpp"

namespace everseen::test {

/// Plays a transcript: lines that begin with "> " are sent, the others are expected. Ends at the first
/// difference.
inline void play(raw_client& client, std::string_view transcript) {
  while (!transcript.empty()) {
    const std::size_t end = transcript.find('\n');
    const std::string line(transcript.substr(0, end));
    transcript.remove_prefix(end + 1);
    if (line.starts_with("> "))
      client.send(line.substr(2) + "\r\n");
    else
      ASSERT_EQ(client.receive(line.size() + 2), line + "\r\n");
  }
}

}  // namespace everseen::test
