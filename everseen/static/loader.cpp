// A static program loads no libraries: one of the system would bring a second C library, of another version.
// So dlopen fails for whatever asks: OpenSSL's providers and engines, librdkafka's plug-ins. Instead of that
// of glibc's archive.

#include <dlfcn.h>
#include <nss.h>

extern "C" {

void* dlopen(const char* /*file*/, int /*mode*/) noexcept {
  return nullptr;
}
void* dlsym(void* /*library*/, const char* /*name*/) noexcept {
  return nullptr;
}
int dlclose(void* /*library*/) noexcept {
  return -1;
}
char* dlerror() noexcept {
  static char words[] = "this program is static and loads no libraries";
  return words;
}
int dladdr(const void* /*address*/, Dl_info* /*about*/) noexcept {
  return 0;
}

}  // extern "C"

// The names of hosts and users: from files and DNS, whatever /etc/nsswitch.conf says. Its other services are
// libraries of the system, which glibc would load past dlopen().
namespace {

[[maybe_unused]] const bool files_and_dns = [] {
  __nss_configure_lookup("hosts", "files dns");
  for (const char* database : {"aliases", "ethers", "group", "gshadow", "initgroups", "netgroup", "networks",
                               "passwd", "protocols", "publickey", "rpc", "services", "shadow"})
    __nss_configure_lookup(database, "files");
  return true;
}();

}  // namespace
