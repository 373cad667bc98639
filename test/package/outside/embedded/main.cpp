// A program whose filters are in memory and files. usage: embedded DIRECTORY
#include <string>

#include <everseen/everseen.hpp>

namespace {

bool refuses_servers() {
  try {
    static_cast<void>(everseen::open_store("redis://user:secret@localhost"));
  } catch (const everseen::parameter_error& e) {
    const std::string message = e.what();
    return message.find("everseen::everseen") != message.npos && message.find("secret") == message.npos;
  }
  return false;
}

bool remembers(const std::string& url) {
  auto filter = everseen::open_or_create(url, "embedded", {.capacity = 1000});
  return filter.add("key") == everseen::verdict::fresh && filter.add("key") == everseen::verdict::seen;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const bool hides_passwords = everseen::url_without_password("redis://user:secret@localhost") == "***";
  return remembers("mem:") && remembers("file:" + std::string(words[1])) && refuses_servers() &&
                 hides_passwords
             ? 0
             : 1;
}
