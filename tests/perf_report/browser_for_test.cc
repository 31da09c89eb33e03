#include "tests/perf_report/browser_for_test.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tutti::perf {

namespace {

constexpr int kLimitSeconds = 60;  // far more than a page takes

struct Answer {
  bool is_ok = false;
  std::string text;  // of stdout
};

Answer shell(const std::string& line) {
  Answer answer;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    answer.text.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  answer.is_ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return answer;
}

// Lines of the browser's log that come from pages.
std::string complaints_of(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string complaints;
  for (std::string line; std::getline(file, line);) {
    if (line.find("CONSOLE") != std::string::npos) complaints += line + "\n";
  }
  return complaints;
}

// Everything that a browser keeps goes to a folder that is gone afterwards.
class Profile {
 public:
  Profile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-browser-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~Profile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace

std::optional<Browser> Browser::find() {
  for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}) {
    if (shell(fmt::format("timeout {} {} --version 2> /dev/null", kLimitSeconds, name)).is_ok) return Browser(name);
  }
  return std::nullopt;
}

std::string Browser::run(const std::string& options, const std::string& page_path) const {
  const Profile profile;
  const std::filesystem::path log = profile.folder() / "log";
  // No sandbox: containers do not let ordinary programs make one, and the pages are our own.
  const Answer answer = shell(fmt::format(
      "timeout {} {} --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files "
      "--enable-logging=stderr --user-data-dir='{}' {} 'file://{}' 2> '{}'",
      kLimitSeconds, program_, profile.folder().string(), options, page_path, log.string()));
  complaints_ += complaints_of(log);
  return answer.is_ok ? answer.text : std::string();
}

std::string Browser::document_of(const std::string& page_path) const { return run("--dump-dom", page_path); }

bool Browser::screenshot(const std::string& page_path, const std::string& image_path, int width, int height) const {
  std::filesystem::remove(image_path);
  run(fmt::format("--screenshot='{}' --window-size={},{}", image_path, width, height), page_path);
  return std::filesystem::exists(image_path);
}

}  // namespace tutti::perf
