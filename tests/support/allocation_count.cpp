#include "tests/support/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t count = 0;

void* counted(size_t bytes, size_t align) {
  ++count;
  const size_t whole = (bytes + align - 1) / align * align;
  void* memory = std::aligned_alloc(align, whole == 0 ? align : whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace baton::tests {

uint64_t allocations() { return count; }

}  // namespace baton::tests

// The forms that the library's other ones call.
void* operator new(size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(size_t bytes, std::align_val_t align) {
  return counted(bytes, static_cast<size_t>(align));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
