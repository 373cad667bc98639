// What Debian's archives of the C++ run-time library use of glibc 2.35 and 2.36, so that a library with these
// linked in needs 2.34 alone. Hidden, so that no other library of the process gets them.

#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

namespace {

struct search {
  std::uintptr_t address;
  dl_find_object* found;
};

int is_in(dl_phdr_info* object, std::size_t /*size*/, void* given) {
  const search& s = *static_cast<search*>(given);
  bool is_here = false;
  void* unwind_table = nullptr;
  for (const ElfW(Phdr)* part = object->dlpi_phdr; part != object->dlpi_phdr + object->dlpi_phnum; ++part) {
    const std::uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    is_here = is_here || (part->p_type == PT_LOAD && s.address - begin < part->p_memsz);
    if (part->p_type == PT_GNU_EH_FRAME) unwind_table = reinterpret_cast<void*>(begin);
  }
  if (!is_here || unwind_table == nullptr) return 0;
  *s.found = {};
  s.found->dlfo_eh_frame = unwind_table;
  return 1;
}

}  // namespace

extern "C" {

/// The table that unwinds the code at an address, which is all that an exception asks for.
[[gnu::visibility("hidden")]] int _dl_find_object(void* address, dl_find_object* found) noexcept {
  search s{reinterpret_cast<std::uintptr_t>(address), found};
  return dl_iterate_phdr(is_in, &s) == 1 ? 0 : -1;
}

[[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) std::abort();
  return number;
}

}  // extern "C"
