#include "comm/watch/stack.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/text.h"

#ifdef TUTTI_HAS_LIBDW
#include <elfutils/libdwfl.h>
#endif

namespace tutti::comm::watch {

namespace {

constexpr std::size_t kFramesMax = 64;

const CodeArea* find_area(const std::vector<CodeArea>& code, std::uint64_t address) {
  const auto found = std::find_if(code.begin(), code.end(),
                                  [&](const CodeArea& area) { return address >= area.begin && address < area.end; });
  return found == code.end() ? nullptr : &*found;
}

std::string place_text(const std::vector<CodeArea>& code, std::uint64_t address) {
  const CodeArea* area = find_area(code, address);
  if (area == nullptr) return fmt::format("{:#x}", address);
  return fmt::format("{}+{:#x}", area->file, address - area->begin + area->offset);
}

std::string maps_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/maps", pid));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::optional<std::uint64_t> hex_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> word_at(const os::HaltedThread& thread, std::uint64_t address) {
  const std::uint64_t offset = address - thread.stack_pointer;
  if (address < thread.stack_pointer || thread.stack.size() < 8 || offset > thread.stack.size() - 8) return {};
  std::uint64_t word = 0;
  std::memcpy(&word, thread.stack.data() + offset, sizeof(word));
  return word;
}

#ifdef TUTTI_HAS_LIBDW

std::string demangled(const char* name) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int failed = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name, nullptr, nullptr, &failed));
  return failed == 0 && text != nullptr ? text.get() : name;
}

// Unwinds the copy, not the process, which has gone on.
class Unwinder {
 public:
  static std::vector<std::string> frames(pid_t pid, const os::HaltedThread& thread, const std::vector<CodeArea>& code) {
    static const Dwfl_Callbacks files = {.find_elf = dwfl_linux_proc_find_elf,
                                         .find_debuginfo = find_no_debuginfo,
                                         .section_address = nullptr,
                                         .debuginfo_path = nullptr};
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .get_thread = nullptr,
                                                  .memory_read = read_memory,
                                                  .set_initial_registers = set_registers,
                                                  .detach = nullptr,
                                                  .thread_detach = nullptr};
    const std::unique_ptr<Dwfl, void (*)(Dwfl*)> session(dwfl_begin(&files), dwfl_end);
    Unwinder unwinder{.pid = pid, .thread = thread, .code = code, .session = session.get(), .texts = {}};
    if (session == nullptr || dwfl_linux_proc_report(session.get(), pid) != 0) return {};
    if (dwfl_report_end(session.get(), nullptr, nullptr) != 0) return {};
    if (!dwfl_attach_state(session.get(), nullptr, pid, &threads, &unwinder)) return {};
    dwfl_getthread_frames(session.get(), pid, add_frame, &unwinder);
    return std::move(unwinder.texts);
  }

  pid_t pid;
  const os::HaltedThread& thread;
  const std::vector<CodeArea>& code;
  Dwfl* session;
  std::vector<std::string> texts;

 private:
  // The tables for exceptions are enough; looking for more may ask servers.
  static int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                               char**) {
    return -1;
  }
  static pid_t next_thread(Dwfl*, void* self, void** thread_argument) {
    if (*thread_argument != nullptr) return 0;
    *thread_argument = self;
    return static_cast<Unwinder*>(self)->pid;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* self) {
    const auto word = word_at(static_cast<Unwinder*>(self)->thread, address);
    if (word) *result = *word;
    return word.has_value();
  }
  static bool set_registers(Dwfl_Thread* state, void* self) {
    const os::HaltedThread& thread = static_cast<Unwinder*>(self)->thread;
    std::vector<Dwarf_Word> registers(thread.registers.begin(), thread.registers.end());
    dwfl_thread_state_register_pc(state, thread.program_counter);
    return dwfl_thread_state_registers(state, 0, static_cast<unsigned>(registers.size()), registers.data());
  }
  static int add_frame(Dwfl_Frame* frame, void* self_pointer) {
    auto& self = *static_cast<Unwinder*>(self_pointer);
    Dwarf_Addr address = 0;
    bool is_activation = false;
    if (!dwfl_frame_pc(frame, &address, &is_activation)) return DWARF_CB_ABORT;
    const Dwarf_Addr within =
        is_activation ? address : address - 1;  // a return address may be that of the next function
    Dwfl_Module* module = dwfl_addrmodule(self.session, within);
    const char* name = module == nullptr ? nullptr : dwfl_module_addrname(module, within);
    const std::string place = place_text(self.code, address);
    self.texts.push_back(name == nullptr ? place : fmt::format("{} ({})", demangled(name), place));
    return self.texts.size() < kFramesMax ? DWARF_CB_OK : DWARF_CB_ABORT;
  }
};

#endif

}  // namespace

std::vector<CodeArea> parse_code_areas(std::string_view maps) {
  std::vector<CodeArea> areas;
  for (const std::string_view line : text::split(maps, '\n')) {
    const auto words = text::words(line);  // "55d0-55e0 r-xp 00001000 08:01 123 /usr/bin/program"
    if (words.size() < 5 || words[1].size() < 3 || words[1][2] != 'x') continue;
    const std::size_t dash = words[0].find('-');
    if (dash == std::string_view::npos) continue;
    const auto begin = hex_of(words[0].substr(0, dash));
    const auto end = hex_of(words[0].substr(dash + 1));
    const auto offset = hex_of(words[2]);
    if (!begin || !end || !offset) continue;
    const std::string_view path = words.size() > 5 ? words[5] : "memory without a file";
    areas.push_back({*begin, *end, *offset, std::string(path.substr(path.rfind('/') + 1))});
  }
  return areas;
}

std::vector<std::uint64_t> walk_frame_pointers(const os::HaltedThread& thread, const std::vector<CodeArea>& code) {
  std::vector<std::uint64_t> addresses;
  std::uint64_t frame = thread.frame_pointer;
  while (addresses.size() < kFramesMax) {
    const auto next = word_at(thread, frame);
    const auto address = word_at(thread, frame + 8);
    // Frames lie upwards, and a return address lies in code: anything else is no frame pointer.
    if (!next || !address || find_area(code, *address) == nullptr) break;
    addresses.push_back(*address);
    if (*next <= frame) break;
    frame = *next;
  }
  return addresses;
}

std::vector<std::string> frames_of(pid_t pid, const os::HaltedThread& thread) {
  const auto code = parse_code_areas(maps_of(pid));
#ifdef TUTTI_HAS_LIBDW
  if (auto frames = Unwinder::frames(pid, thread, code); !frames.empty()) return frames;
#endif
  std::vector<std::string> frames = {place_text(code, thread.program_counter)};
  for (const std::uint64_t address : walk_frame_pointers(thread, code)) frames.push_back(place_text(code, address));
  return frames;
}

}  // namespace tutti::comm::watch
