// Run-time control flow. Host `if`, `for` and lambdas run at trace time; these make code.
#pragma once

#include <utility>

#include "dsl/value/values.h"

namespace baton::dsl {

/// A mutable value of the device. Values themselves are immutable: what a branch or a loop changes
/// is a Var, always initialised.
template <class T>
class Var {
 public:
  explicit Var(In<T> initial)
      : variable_(detail::make_variable(T::type(), initial.handle, initial.at)) {}
  Var(const Var&) = delete;

  T get(SourceLocation at = SourceLocation::current()) const {
    return T(detail::read_variable(T::type(), variable_, at));
  }
  Var& operator=(In<T> value) {
    detail::write_variable(variable_, value.handle, value.at);
    return *this;
  }
  Var& operator=(const Var& other) { return *this = In<T>(other); }
  Var& operator+=(In<T> value) { return *this = In<T>(get(value.at) + value, value.at); }

 private:
  Handle variable_;
};

namespace detail {

/// An op that is being filled; opaque here.
struct OpenBranch {
  void* op;
};

OpenBranch begin_if(Handle condition, const SourceLocation& at);
void begin_else(OpenBranch branch, const SourceLocation& at);
void end_branch();
Handle begin_for(Handle begin, Handle end, Handle step, const SourceLocation& at);
void begin_while(const SourceLocation& at);
void begin_while_body(Handle condition, const SourceLocation& at);
void end_loop();

}  // namespace detail

/// What follows an If.
class IfResult {
 public:
  explicit IfResult(detail::OpenBranch branch) : branch_(branch) {}
  template <class Body>
  void Else(Body&& body, SourceLocation at = SourceLocation::current()) {
    detail::begin_else(branch_, at);
    std::forward<Body>(body)();
    detail::end_branch();
  }

 private:
  detail::OpenBranch branch_;
};

/// Lanes whose condition holds run the body: If(x < 4, [&] { ... }).Else([&] { ... });
template <class Body>
IfResult If(In<Bool> condition, Body&& body) {
  detail::OpenBranch branch = detail::begin_if(condition.handle, condition.at);
  std::forward<Body>(body)();
  detail::end_branch();
  return IfResult(branch);
}

/// For(begin, end, step, [&](I32 i) { ... }): i = begin, begin + step, ... while i < end.
template <class Body>
void For(In<I32> begin, In<I32> end, In<I32> step, Body&& body) {
  I32 index(detail::begin_for(begin.handle, end.handle, step.handle, begin.at));
  std::forward<Body>(body)(index);
  detail::end_loop();
}

/// While([&] { return condition; }, [&] { ... });
template <class Condition, class Body>
void While(Condition&& condition, Body&& body, SourceLocation at = SourceLocation::current()) {
  detail::begin_while(at);
  const Bool again = std::forward<Condition>(condition)();
  detail::begin_while_body(again.handle(), at);
  std::forward<Body>(body)();
  detail::end_loop();
}

}  // namespace baton::dsl
