#include "tools/tidy/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace tutti::tidy {

namespace {

struct Include {
  std::string path;
  bool quoted = false;  // "..." rather than <...>
};

std::optional<Include> include_of(std::string_view line) {
  line = text::trim(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = text::trim(line.substr(1));
  constexpr std::string_view kInclude = "include";
  if (!line.starts_with(kInclude)) return std::nullopt;
  line = text::trim(line.substr(kInclude.size()));
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const std::size_t end = line.find(line[0] == '"' ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(1, end - 1)), line[0] == '"'};
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : text::split(path, '/')) parts.emplace_back(part);
  return parts;
}

std::optional<std::string> public_name_of(std::string_view path) {
  for (const std::string_view prefix : {"include/tutti/", "include/", "tutti/"}) {
    if (path.starts_with(prefix)) return std::string(path.substr(prefix.size()));
  }
  return std::nullopt;
}

// The folder that a file belongs to; nothing for files of no folder, such as src/tutti.cc.
std::optional<std::string> folder_of(const Layers& layers, const std::string& path) {
  if (const auto name = public_name_of(path)) {
    const auto found = layers.folder_of_public.find(*name);
    return found == layers.folder_of_public.end() ? std::nullopt : std::optional(found->second);
  }
  const auto parts = parts_of(path);
  if (parts[0] != "src" || parts.size() < 3) return std::nullopt;
  return parts[1];
}

// "tcp" for transport/tcp/pipe.h when the sub-folders of transport are separate.
std::optional<std::string> separate_part_of(const Layers& layers, const std::string& path) {
  const auto parts = parts_of(path);
  if (parts.size() < 3 || !layers.separate.contains(parts[0])) return std::nullopt;
  return parts[1];
}

bool is_cuda_header(const Include& include) {
  static constexpr std::array<std::string_view, 6> kStarts = {"cuda", "cooperative_groups", "cub/", "thrust/", "nvml",
                                                              "nvtx"};
  return !include.quoted && std::any_of(kStarts.begin(), kStarts.end(),
                                        [&](std::string_view start) { return include.path.starts_with(start); });
}

// The interfaces of others are made for programs that have the headers of CUDA, or what stands for them.
bool is_foreign_interface(const Source& source) {
  return source.path.starts_with("include/") && !source.path.starts_with("include/tutti/");
}

bool is_cuda_folder(const Source& source) {
  const auto parts = parts_of(source.folder().generic_string());
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.starts_with("cuda"); });
}

// What is wrong with a quoted include of a file in src/ or include/; empty when nothing is.
std::string include_fault(const Layers& layers, const Source& source, const std::string& path) {
  const auto own = folder_of(layers, source.path);
  const bool from_public = source.path.starts_with("include/");
  const auto public_name = public_name_of(path);
  std::string target;
  if (public_name) {
    const auto found = layers.folder_of_public.find(*public_name);
    if (found == layers.folder_of_public.end()) {
      return fmt::format("'{}' belongs to no folder; add it to [public] of layers.txt", path);
    }
    target = found->second;
  } else {
    target = parts_of(path)[0];
    if (from_public) return fmt::format("a public header includes '{}', which is not installed", path);
    if (!layers.uses.contains(target)) {
      return fmt::format("'{}' names no folder of src; write the path from src, such as \"base/text.h\"", path);
    }
  }
  if (!own) return "";  // src/tutti.cc puts the folders together
  if (!layers.uses.at(*own).contains(target)) {
    return fmt::format("{} may not include '{}' of {}; see layers.txt", *own, path, target);
  }
  const auto own_part = from_public ? std::nullopt : separate_part_of(layers, source.path.substr(4));
  const auto target_part = separate_part_of(layers, path);
  if (own_part && target_part && target == *own && *own_part != *target_part) {
    return fmt::format("{}/{} may not include '{}': implementations of one interface stay apart", *own, *own_part,
                       path);
  }
  return "";
}

void check_place(const Layers& layers, const Source& source, std::vector<Fault>& faults) {
  if (const auto name = public_name_of(source.path); name && !layers.folder_of_public.contains(*name)) {
    faults.push_back({source.path, 0, "the public header belongs to no folder; add it to [public] of layers.txt"});
  }
  const auto folder = folder_of(layers, source.path);
  if (folder && !layers.uses.contains(*folder)) {
    faults.push_back({source.path, 0, fmt::format("folder '{}' is not in layers.txt", *folder)});
  }
  if ((source.path.ends_with(".cu") || source.path.ends_with(".cuh")) && !is_cuda_folder(source)) {
    faults.push_back({source.path, 0, "CUDA source outside a folder named cuda*"});
  }
}

void check_words(const Layers& layers, const Source& source, std::vector<Fault>& faults) {
  const auto own = folder_of(layers, source.path);
  if (source.is_test() || !own) return;
  for (const auto& [word, folders] : layers.only_in) {
    if (folders.contains(*own)) continue;
    for (std::size_t i = 0; i < source.code.size(); ++i) {
      if (source.code[i].find(word) == std::string::npos) continue;
      faults.push_back({source.path, i + 1, fmt::format("'{}' may not stand in {}; see layers.txt", word, *own)});
    }
  }
}

void read_entry(Layers& layers, const std::string& section, std::string_view line) {
  const std::size_t colon = line.find(": ") == std::string_view::npos ? line.rfind(':') : line.find(": ");
  const std::string name(text::trim(line.substr(0, colon)));
  const auto rest = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (section == "separate") {
    for (const auto word : text::words(line)) layers.separate.emplace(word);
  } else if (section == "folders") {
    layers.uses[name].insert(name);
    for (const auto word : text::words(rest)) layers.uses[name].emplace(word);
  } else if (section == "public") {
    for (const auto word : text::words(rest)) layers.folder_of_public.emplace(word, name);
  } else if (section == "words") {
    for (const auto word : text::words(rest)) layers.only_in[name].emplace(word);
  }
}

bool is_section(const std::string& name) {
  return name == "folders" || name == "public" || name == "separate" || name == "words";
}

}  // namespace

Layers layers_of(const Source& file, std::vector<Fault>& faults) {
  Layers layers;
  std::string section;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = text::trim(std::string_view(file.lines[i]).substr(0, file.lines[i].find('#')));
    if (line.empty()) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      section = std::string(line.substr(1, line.size() - 2));
      if (!is_section(section)) faults.push_back({file.path, i + 1, fmt::format("unknown section '{}'", section)});
    } else {
      read_entry(layers, section, line);
    }
  }
  for (const auto& [folder, used] : layers.uses) {
    for (const std::string& name : used) {
      if (layers.uses.contains(name)) continue;
      faults.push_back({file.path, 0, fmt::format("{} uses '{}', which is no folder", folder, name)});
    }
  }
  for (const auto& [header, folder] : layers.folder_of_public) {
    if (layers.uses.contains(folder)) continue;
    faults.push_back({file.path, 0, fmt::format("{} belongs to '{}', which is no folder", header, folder)});
  }
  return layers;
}

void check_layers(const Layers& layers, const Source& source, std::vector<Fault>& faults) {
  const bool is_example = source.path.starts_with("examples/");
  // What uses the interface of devices as any program does.
  const bool is_program = is_example || source.path.starts_with("bench/") || source.path.starts_with("tests/") ||
                          source.path.starts_with("tools/perf/");
  const bool is_layered = source.path.starts_with("src/") || source.path.starts_with("include/");
  const std::size_t before = faults.size();
  check_place(layers, source, faults);
  const bool is_placed = faults.size() == before;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    if (!text::trim(source.code[i]).starts_with('#')) continue;
    const auto include = include_of(source.lines[i]);
    if (!include) continue;
    if (is_cuda_header(*include) && !is_cuda_folder(source) && !is_foreign_interface(source) && !is_program) {
      faults.push_back({source.path, i + 1, fmt::format("<{}> outside a folder named cuda*", include->path)});
    }
    const bool is_beside = include->path.find('/') == std::string::npos;
    if (is_example && include->quoted && !public_name_of(include->path) && !is_beside) {
      faults.push_back(
          {source.path, i + 1, fmt::format("an example includes '{}', which is not public", include->path)});
    }
    if (!is_layered || !include->quoted || !is_placed) continue;
    if (const std::string fault = include_fault(layers, source, include->path); !fault.empty()) {
      faults.push_back({source.path, i + 1, fault});
    }
  }
  check_words(layers, source, faults);
}

}  // namespace tutti::tidy
