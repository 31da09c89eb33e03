// How every function of Tutti says that it failed: a code, what has to be rebuilt, and one sentence for a person.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tutti {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,  // a value the caller gave is wrong
  invalid_usage,     // the value is fine, the moment or the combination is not
  unsupported,       // correct, but not on this machine or in this build
  out_of_memory,
  timed_out,
  aborted,
  peer_lost,
  network,
  device,
  internal,  // a bug in Tutti
};

// What has to be rebuilt before trying again.
enum class Scope : std::uint8_t { call, connection, communicator, process };

std::string_view name_of(Code code);

// Success, or a code with a sentence that names the thing, the value and the remedy. Copying is cheap.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string text, Scope scope = Scope::call);

  bool is_ok() const { return detail_ == nullptr; }
  explicit operator bool() const { return is_ok(); }
  Code code() const { return detail_ ? detail_->code : Code::ok; }
  Scope scope() const { return detail_ ? detail_->scope : Scope::call; }
  std::string_view text() const { return detail_ ? std::string_view(detail_->text) : std::string_view("ok"); }

  // The same failure with what the caller was doing in front: "connecting rank 3: refused". Success stays success.
  Status while_doing(std::string_view what) const;

 private:
  struct Detail {
    Code code;
    Scope scope;
    std::string text;
  };
  std::shared_ptr<const Detail> detail_;  // shared: a failure never changes, and every rank's call returns the same one
};

inline Status invalid_argument(std::string text) { return {Code::invalid_argument, std::move(text)}; }

// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: meant to convert
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: meant to convert

  bool is_ok() const { return state_.index() == 0; }
  explicit operator bool() const { return is_ok(); }
  Status status() const { return is_ok() ? Status() : std::get<1>(state_); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace tutti

#define TUTTI_CONCAT_(a, b) a##b
#define TUTTI_CONCAT(a, b) TUTTI_CONCAT_(a, b)

// Returns from the enclosing function when the expression failed.
#define TUTTI_TRY(expression)                                         \
  do {                                                                \
    if (::tutti::Status tutti_status = (expression); !tutti_status) { \
      return tutti_status;                                            \
    }                                                                 \
  } while (false)

// TUTTI_ASSIGN(auto plan, parse(text)): the value, or returns the failure from the enclosing function.
#define TUTTI_ASSIGN(target, expression) TUTTI_ASSIGN_(target, expression, TUTTI_CONCAT(tutti_result_, __LINE__))
#define TUTTI_ASSIGN_(target, expression, result) \
  auto result = (expression);                     \
  if (!result) return result.status();            \
  target = *std::move(result)
