// Work that is done on several threads at once.
#pragma once

#include <cstddef>
#include <functional>

namespace baton {

/// Calls `work(i)` once for each i below `count`, on up to `jobs` threads, the caller's among them,
/// and waits for all. `work` must not throw. Fewer threads do it when no more are to be had.
void on_threads(size_t count, int jobs, const std::function<void(size_t)>& work);

}  // namespace baton
