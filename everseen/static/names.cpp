// The names of hosts and users: from files and DNS, whatever /etc/nsswitch.conf says. Its other services are
// libraries of the system, which glibc would load past dlopen().

#include <nss.h>

namespace {

[[maybe_unused]] const bool files_and_dns = [] {
  __nss_configure_lookup("hosts", "files dns");
  for (const char* database : {"aliases", "ethers", "group", "gshadow", "initgroups", "netgroup", "networks",
                               "passwd", "protocols", "publickey", "rpc", "services", "shadow"})
    __nss_configure_lookup(database, "files");
  return true;
}();

}  // namespace
