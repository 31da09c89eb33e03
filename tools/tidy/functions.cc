#include "tools/tidy/functions.h"

#include <regex>
#include <string>

#include "base/text.h"

namespace tutti::tidy {

namespace {

// "template <class T>" names no class: the head without it and without anything in parentheses.
std::string outline_of(const std::string& head) {
  static const std::regex kTemplate("^\\s*(public:|private:|protected:)?\\s*template\\s*<");
  std::string rest = head;
  std::smatch match;
  while (std::regex_search(rest, match, kTemplate)) {
    int depth = 1;
    std::size_t i = static_cast<std::size_t>(match.position() + match.length());
    for (; i < rest.size() && depth > 0; ++i) depth += rest[i] == '<' ? 1 : rest[i] == '>' ? -1 : 0;
    rest = rest.substr(i);
  }
  std::string outline;
  int depth = 0;
  for (const char c : rest) {
    if (c == ')') --depth;
    if (depth == 0) outline += c;
    if (c == '(') ++depth;
  }
  return outline;
}

// In formatted code a blank stands before the brace of a body and none before that of a member's initialiser.
bool opens_function(const std::string& head) {
  if (!head.ends_with(' ')) return false;
  static const std::regex kContainer("\\b(namespace|class|struct|union|enum|extern)\\b");
  const std::string outline = outline_of(head);
  if (std::regex_search(outline, kContainer)) return false;
  if (outline.find("()") == std::string::npos) return false;
  const std::string_view end = text::trim(outline);
  return !end.ends_with('=') || end.ends_with("operator=");
}

class Scanner {
 public:
  void line(const std::string& code, std::size_t number) {
    const bool is_directive = continues_ || text::trim(code).starts_with('#');
    continues_ = is_directive && code.ends_with('\\');
    if (is_directive) return;
    for (const char c : code) character(c, number);
    head_ += ' ';
  }
  std::vector<Function> take() { return std::move(functions_); }

 private:
  void character(char c, std::size_t number) {
    if (inside_ > 0) {
      inside_ += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (inside_ == 0 && is_function_) {
        functions_.push_back({first_line_, number});
        head_.clear();
      }
      return;
    }
    if (c == '(') ++parentheses_;
    if (c == ')') --parentheses_;
    if (c == '{') return open(number);
    const bool ends_head = c == ';' || c == '}';
    if (ends_head && parentheses_ <= 0) {
      head_.clear();
    } else {
      head_ += c;
    }
  }

  void open(std::size_t number) {
    static const std::regex kScope("\\b(namespace|class|struct|union|extern)\\b");
    const std::string outline = outline_of(head_);
    const bool is_scope = parentheses_ <= 0 && std::regex_search(outline, kScope) &&
                          outline.find("enum") == std::string::npos && !text::trim(outline).ends_with('=');
    if (!is_scope) {
      inside_ = 1;
      first_line_ = number;
      is_function_ = parentheses_ <= 0 && opens_function(head_);
    } else {
      head_.clear();
    }
  }

  std::vector<Function> functions_;
  std::string head_;  // since the last brace or semicolon at this level
  int parentheses_ = 0;
  int inside_ = 0;  // braces of a function body or an initialiser
  bool is_function_ = false;
  bool continues_ = false;
  std::size_t first_line_ = 0;
};

}  // namespace

std::vector<Function> functions_of(const Source& source) {
  Scanner scanner;
  for (std::size_t i = 0; i < source.code.size(); ++i) scanner.line(source.code[i], i + 1);
  return scanner.take();
}

}  // namespace tutti::tidy
