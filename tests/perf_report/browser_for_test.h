// A browser without a window that tests show pages to.
#pragma once

#include <optional>
#include <string>

namespace tutti::perf {

class Browser {
 public:
  // The first of chromium-headless-shell, chromium, chromium-browser and google-chrome that runs; nullopt: none does.
  static std::optional<Browser> find();

  // What the browser made of the file, scripts run; an empty text where it failed.
  std::string document_of(const std::string& page_path) const;

  // The first `width` by `height` pixels of the page as PNG; false where it failed.
  bool screenshot(const std::string& page_path, const std::string& image_path, int width, int height) const;

  // What scripts and the browser complained about since it was found.
  const std::string& complaints() const { return complaints_; }

 private:
  explicit Browser(std::string program) : program_(std::move(program)) {}

  std::string run(const std::string& options, const std::string& page_path) const;

  std::string program_;
  mutable std::string complaints_;
};

}  // namespace tutti::perf
