#include "tools/tidy/source.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "base/text.h"

namespace tutti::tidy {

namespace {

// Copies each character to the code or to the comments and a blank to the other, so that positions stay the same.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  void run() {
    while (at_ < text_.size()) {
      if (starts_with("//")) {
        comment_until("\n");
      } else if (starts_with("/*")) {
        comment_until("*/");
      } else if (starts_with("R\"") && !is_word_before()) {
        raw_string();
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !is_word_before())) {
        quoted(text_[at_]);
      } else {
        emit(Kind::code);
      }
    }
  }
  const std::string& code() const { return code_; }
  const std::string& comments() const { return comments_; }

 private:
  enum class Kind { code, comment, literal };

  bool starts_with(std::string_view prefix) const { return text_.substr(at_, prefix.size()) == prefix; }
  // A quote after a letter or digit separates the digits of a number; an R after one ends a name.
  bool is_word_before() const { return at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0); }

  void emit(Kind kind) {
    const char c = text_[at_++];
    code_ += c == '\n' || kind == Kind::code ? c : ' ';
    comments_ += c == '\n' || kind == Kind::comment ? c : ' ';
  }

  void comment_until(std::string_view end) {
    emit(Kind::comment);
    emit(Kind::comment);
    while (at_ < text_.size() && !starts_with(end)) emit(Kind::comment);
    if (end == "\n") return;
    for (std::size_t i = 0; i < end.size() && at_ < text_.size(); ++i) emit(Kind::comment);
  }

  void quoted(char quote) {
    emit(Kind::code);
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\') emit(Kind::literal);
      if (at_ < text_.size()) emit(Kind::literal);
    }
    if (at_ < text_.size()) emit(Kind::code);
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return emit(Kind::code);
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    while (at_ < text_.size() && !starts_with(end)) emit(Kind::literal);
    for (std::size_t i = 0; i < end.size() && at_ < text_.size(); ++i) emit(Kind::literal);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string code_;
  std::string comments_;
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : text::split(text, '\n')) lines.emplace_back(line);
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

std::string Fault::text() const { return fmt::format("{}:{}: {}", file, line, message); }

bool Source::is_header() const { return path.ends_with(".h") || path.ends_with(".cuh"); }

bool Source::is_test() const { return path.starts_with("tests/") || path.ends_with("_test.cc"); }

bool is_cpp(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cc" || extension == ".cu" || extension == ".cuh";
}

Source source_of(std::string path, const std::string& text) {
  Splitter splitter(text);
  splitter.run();
  return {std::move(path), lines_of(text), lines_of(splitter.code()), lines_of(splitter.comments())};
}

}  // namespace tutti::tidy
