// Global memory through buffers, wave-uniform tables, and LDS.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "dsl/value/functions.h"
#include "runtime/target/target.h"

namespace baton::dsl {

/// How a load reads: at which scope, and whether the data is read once (streamed past the caches).
struct LoadOptions {
  Scope scope = Scope::wave;
  bool streaming = false;
};

namespace detail {

Handle make_buffer(Handle address, int64_t bytes, const SourceLocation& at);
Handle address_of(Handle pointer, const SourceLocation& at);
Handle load(TypeId type, Handle buffer, Handle byte_offset, LoadOptions options,
            const SourceLocation& at);
void store(TypeId type, Handle value, Handle buffer, Handle byte_offset, Scope scope,
           const SourceLocation& at);
Handle scalar_load(TypeId type, Handle address, Handle byte_offset, const SourceLocation& at);
Handle lds_load(TypeId type, const std::string& range, Handle byte_offset,
                const SourceLocation& at);
void lds_store(TypeId type, Handle value, const std::string& range, Handle byte_offset,
               const SourceLocation& at);
void declare_lds(const std::string& range, int64_t offset, int64_t bytes, const SourceLocation& at);
void check_access(TypeId type, const SourceLocation& at);

/// index x bytes, as a byte offset.
inline Handle scaled(const In<I32>& index, int bytes) {
  return (index.value() * In<I32>(bytes, index.at)).handle();
}

}  // namespace detail

/// An index that no buffer holds: a load there reads zero and moves no data. Byte offsets are
/// unsigned 32-bit numbers, so the index of an element of 2 bytes or more must stay below this.
inline constexpr int32_t kOutside = 0x3FFFFFFF;

/// Bytes of a buffer whose extent is known at launch only.
inline constexpr int64_t kWholeSpace = 0xFFFFFFFFLL;

/// `elements` elements of T at a wave-uniform address, with the buffer resource built once. Loads
/// outside read zero, stores outside are dropped.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  /// Buffers that an address computed on the device points to; `address` is the same on every lane.
  Buffer(In<I64> address, int64_t elements)
      : buffer_(detail::make_buffer(address.handle, elements * T::type().bytes(), address.at)) {}
  explicit Buffer(Handle buffer) : buffer_(buffer) {}

  /// N adjacent elements from element `index`: 1, 2 or 4 words.
  template <int N>
  Vec<T, N> load(In<I32> index, LoadOptions options = {}) const {
    return Vec<T, N>(detail::load(Vec<T, N>::type(), buffer_,
                                  detail::scaled(index, T::type().bytes()), options, index.at));
  }
  /// One element: 2 bytes or a word.
  T load(In<I32> index, LoadOptions options = {}) const
    requires(T::type().bytes() == 4 || T::type().bytes() == 2)
  {
    return T(detail::load(T::type(), buffer_, detail::scaled(index, T::type().bytes()), options,
                          index.at));
  }

  template <int N>
  void store(In<I32> index, const Vec<T, N>& value, Scope scope = Scope::wave) const {
    detail::store(Vec<T, N>::type(), value.handle(), buffer_,
                  detail::scaled(index, T::type().bytes()), scope, index.at);
  }
  void store(In<I32> index, const T& value, Scope scope = Scope::wave) const
    requires(T::type().bytes() == 4 || T::type().bytes() == 2)
  {
    detail::store(T::type(), value.handle(), buffer_, detail::scaled(index, T::type().bytes()),
                  scope, index.at);
  }

 private:
  Handle buffer_;
};

/// Memory of any size, which is reached through buffers into it: a pool of slots.
template <class T>
class Pool {
 public:
  Pool() = default;
  explicit Pool(I64 address) : address_(address) {}

  /// The `elements` elements from element `first`, which is the same on every lane.
  Buffer<T> window(In<I64> first, int64_t elements) const {
    return Buffer<T>({address_ + first.value() * I64(T::type().bytes(), first.at), first.at},
                     elements);
  }
  /// The same, of an extent that is known at launch only: nothing is range-checked.
  Buffer<T> window(In<I64> first) const { return window(first, kWholeSpace / T::type().bytes()); }

 private:
  I64 address_;
};

/// A small table that nobody writes during the launch, read with a wave-uniform index through the
/// scalar cache. T is I32 or I64.
template <class T>
class Table {
 public:
  Table() = default;
  explicit Table(Handle address) : address_(address) {}
  T operator[](In<I32> index) const {
    return T(detail::scalar_load(T::type(), address_, detail::scaled(index, T::type().bytes()),
                                 index.at));
  }
  Handle address() const { return address_; }

 private:
  Handle address_;
};

/// A named array in the workgroup's LDS.
template <class T>
class LdsArray {
 public:
  LdsArray() = default;
  LdsArray(std::string range) : range_(std::move(range)) {}

  /// N adjacent elements; `index` is a multiple of N.
  template <int N>
  Vec<T, N> load(In<I32> index) const {
    return Vec<T, N>(detail::lds_load(Vec<T, N>::type(), range_,
                                      detail::scaled(index, T::type().bytes()), index.at));
  }
  T load(In<I32> index) const {
    return T(
        detail::lds_load(T::type(), range_, detail::scaled(index, T::type().bytes()), index.at));
  }
  template <int N>
  void store(In<I32> index, const Vec<T, N>& value) const {
    detail::lds_store(Vec<T, N>::type(), value.handle(), range_,
                      detail::scaled(index, T::type().bytes()), index.at);
  }
  void store(In<I32> index, const std::type_identity_t<T>& value) const {
    detail::lds_store(T::type(), value.handle(), range_, detail::scaled(index, T::type().bytes()),
                      index.at);
  }

 private:
  std::string range_;
};

/// Lays out the workgroup's LDS: arrays follow each other (a struct); the alternatives of `one_of`
/// start at the same byte (a union), and what follows starts behind the longest. A kernel has one.
class LdsLayout {
 public:
  explicit LdsLayout(SourceLocation at = SourceLocation::current());

  template <class T>
  LdsArray<T> array(const std::string& name, int64_t elements,
                    SourceLocation at = SourceLocation::current()) {
    return LdsArray<T>(reserve(name, elements * T::type().bytes(), at));
  }

  template <class... Alternatives>
  void one_of(Alternatives&&... alternatives) {
    const int64_t start = next_;
    int64_t end = start;
    auto lay = [&](auto& alternative) {
      next_ = start;
      alternative();
      end = std::max(end, next_);
    };
    (lay(alternatives), ...);
    next_ = end;
  }

  /// Bytes laid out so far.
  int64_t bytes() const { return next_; }

 private:
  std::string reserve(const std::string& name, int64_t bytes, const SourceLocation& at);

  int64_t next_ = 0;
};

/// The sum of `value` over the threads before this one, and over the whole workgroup. `wave_totals`
/// has one element a wave; every thread of the workgroup takes part. A second call
/// on the same `wave_totals` needs a barrier between.
struct WorkgroupSum {
  I32 before;
  I32 total;
};
WorkgroupSum workgroup_exclusive_sum(In<I32> value, const LdsArray<I32>& wave_totals, int waves);

}  // namespace baton::dsl
