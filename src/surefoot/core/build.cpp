#include "surefoot/core/build.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace surefoot {

namespace {

constexpr std::size_t note_alignment = 4;
using namespace std::string_view_literals;

constexpr std::string_view gnu_name = "GNU\0"sv;

std::size_t padded(std::size_t size) {
  return (size + note_alignment - 1) / note_alignment * note_alignment;
}

// Notes lie one after the other: a header, a name and a text, each padded.
std::string build_id_among(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t text = sizeof header + padded(header.n_namesz);
    const std::size_t end = text + padded(header.n_descsz);
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof header, header.n_namesz) == gnu_name) {
      std::string id;
      for (const char byte : notes.substr(text, header.n_descsz))
        id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return id;
    }
    notes.remove_prefix(end);
  }
  return "";
}

struct Search {
  std::uintptr_t inside;  // an address in the object that is looked for
  std::string found;
  std::string program;  // id of the first object
  bool first = true;
};

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool here = false;
  std::string id;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) here |= search.inside >= begin && search.inside - begin < part.p_memsz;
    if (part.p_type == PT_NOTE && id.empty())
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
      id = build_id_among({reinterpret_cast<const char*>(begin), part.p_memsz});
  }
  if (search.first) search.program = id;
  search.first = false;
  if (here) search.found = id;
  return here ? 1 : 0;
}

}  // namespace

std::string build_id() {
  Search search{reinterpret_cast<std::uintptr_t>(&note_alignment), "", ""};
  dl_iterate_phdr(look_at, &search);
#ifdef SUREFOOT_SHARED
  search.found += search.program;  // the library is one part of the program, and what the verbs do is another
#endif
  return search.found.empty() ? "unknown" : search.found;
}

}  // namespace surefoot
