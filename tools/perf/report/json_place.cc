#include "tools/perf/report/json_place.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/text.h"

namespace tutti::perf {

namespace {

using nlohmann::json;

constexpr std::size_t kShownMax = 40;  // bytes of a wrong value that a message repeats

const json kNothing;

std::string shown(const json& value) {
  switch (value.type()) {
    case json::value_t::object: return "an object";
    case json::value_t::array: return "a list";
    case json::value_t::null: return "nothing";
    case json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      const bool is_long = text.size() > kShownMax;
      return json(text.substr(0, kShownMax)).dump(-1, ' ', true, json::error_handler_t::replace) +
             (is_long ? "..." : "");
    }
    case json::value_t::boolean:
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
    case json::value_t::number_float:
    case json::value_t::binary:
    case json::value_t::discarded: break;
  }
  return value.dump();
}

// Files of nccl-tests have padded texts and fractions of zero where whole numbers are meant.
template <class Integer>
std::optional<Integer> whole_of(const json& value) {
  using Limits = std::numeric_limits<Integer>;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= static_cast<std::uint64_t>(Limits::max())) return static_cast<Integer>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();  // negative, or it were unsigned
    if (Limits::is_signed && number >= static_cast<std::int64_t>(Limits::min())) return static_cast<Integer>(number);
  } else if (value.is_number_float()) {
    const auto number = value.get<double>();
    constexpr double kExact = 9007199254740992.0;  // beyond it a double does not say which whole number is meant
    const bool fits = std::abs(number) <= kExact && number >= static_cast<double>(Limits::min()) &&
                      number <= static_cast<double>(Limits::max());
    if (fits && number == std::floor(number)) return static_cast<Integer>(number);
  } else if (value.is_string()) {
    return text::integer_of<Integer>(text::trim(value.get_ref<const std::string&>()));
  }
  return std::nullopt;
}

}  // namespace

JsonPlace JsonPlace::at(std::string_view field) const {
  if (value_->is_object()) {
    if (const auto found = value_->find(std::string(field)); found != value_->end()) return {*found, *this, field, 0};
  }
  return {kNothing, *this, field, 0};
}

JsonPlace JsonPlace::at(std::size_t index) const { return {(*value_)[index], *this, {}, index}; }

bool JsonPlace::expect_object() const {
  if (!value_->is_object()) fail("an object");
  return value_->is_object();
}

bool JsonPlace::expect_list() const {
  if (!value_->is_array()) fail("a list");
  return value_->is_array();
}

void JsonPlace::read(std::string& target) const {
  if (is_null()) return;
  if (!value_->is_string()) return fail("a text");
  target = value_->get_ref<const std::string&>();
}

void JsonPlace::read(double& target) const {
  if (is_null()) return;
  if (*value_ == "nan") {
    target = std::numeric_limits<double>::quiet_NaN();
  } else if (value_->is_number()) {
    target = value_->get<double>();
  } else {
    fail("a number");
  }
}

void JsonPlace::read(bool& target) const {
  if (is_null()) return;
  if (value_->is_boolean()) {
    target = value_->get<bool>();
  } else if (*value_ == "true" || *value_ == "false") {
    target = *value_ == "true";
  } else {
    fail("true or false");
  }
}

template <class Integer>
void JsonPlace::read_integer(Integer& target) const {
  if (is_null()) return;
  if (const auto whole = whole_of<Integer>(*value_)) {
    target = *whole;
  } else {
    using Limits = std::numeric_limits<Integer>;
    fail(fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()));
  }
}

void JsonPlace::read(int& target) const { read_integer(target); }
void JsonPlace::read(std::int64_t& target) const { read_integer(target); }
void JsonPlace::read(std::uint32_t& target) const { read_integer(target); }
void JsonPlace::read(std::uint64_t& target) const { read_integer(target); }

void JsonPlace::need() const {
  if (is_null()) fail("a value");
}

void JsonPlace::fail(std::string_view expected) const {
  if (failure_.is_ok())
    failure_ = invalid_argument(fmt::format("{}: expected {}, found {}", path(), expected, shown(*value_)));
}

std::string JsonPlace::path() const {
  if (parent_ == nullptr) return "the document";
  const std::string before = parent_->parent_ == nullptr ? std::string() : parent_->path();
  if (field_.empty()) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? std::string(field_) : fmt::format("{}.{}", before, field_);
}

}  // namespace tutti::perf
