// A client of a history as a process of its own, so that it can be killed and stopped.

#include <cstdio>
#include <exception>
#include <span>

#include "everseen/open_store.hpp"

#include "test/support/history/client.hpp"

int main(int count, char** words) {
  using namespace everseen::test::history;
  try {
    const client_setup setup = client_setup::from_words({words + 1, static_cast<std::size_t>(count - 1)});
    run_client(*everseen::open_store(setup.url), setup);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
