// A place in a JSON document that knows its path, so that whoever finds something wrong there can name it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"

namespace tutti::perf {

// Places of one document share the first failure; after it, reading goes on and changes nothing that matters. A place
// refers to the one that it was found from.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& root, Status& failure) : value_(&root), failure_(failure) {}
  JsonPlace(const JsonPlace&) = delete;
  JsonPlace& operator=(const JsonPlace&) = delete;

  JsonPlace at(std::string_view field) const;  // a field that is missing is null
  JsonPlace at(std::size_t index) const;

  bool is_null() const { return value_->is_null(); }
  std::size_t size() const { return value_->size(); }
  const nlohmann::json& value() const { return *value_; }

  bool expect_object() const;
  bool expect_list() const;

  // These leave the target as it is where nothing (or null) stands.
  void read(std::string& target) const;
  void read(double& target) const;  // "nan" is what nccl-tests writes for what is no number
  void read(bool& target) const;    // also "true" and "false" as texts
  void read(int& target) const;
  void read(std::int64_t& target) const;
  void read(std::uint32_t& target) const;
  void read(std::uint64_t& target) const;

  template <class T>
  void read(std::vector<T>& target) const {
    if (is_null() || !expect_list()) return;
    target.resize(size());
    for (std::size_t i = 0; i < size(); ++i) at(i).read(target[i]);
  }
  template <class T>
  void read(std::optional<T>& target) const {
    if (!is_null()) read(target.emplace());
  }

  void need() const;  // fails where nothing stands
  void fail(std::string_view expected) const;

 private:
  JsonPlace(const nlohmann::json& value, const JsonPlace& parent, std::string_view field, std::size_t index)
      : value_(&value), parent_(&parent), field_(field), index_(index), failure_(parent.failure_) {}

  std::string path() const;
  template <class Integer>
  void read_integer(Integer& target) const;

  const nlohmann::json* value_;
  const JsonPlace* parent_ = nullptr;
  std::string_view field_;  // empty: an element of a list
  std::size_t index_ = 0;
  Status& failure_;
};

}  // namespace tutti::perf
