#include "runtime/loader.h"

#include <mutex>
#include <optional>

#include "runtime/base/threads.h"

namespace baton {

/// One thread makes the code, the others of that key wait for how it ends.
struct Loader::Attempt {
  std::promise<const CodeObject*> promise;
  std::shared_future<const CodeObject*> result = promise.get_future().share();
};

Loader::Loader(LoaderOptions options) : options_(std::move(options)) {
  if (!options_.library && options_.builder != nullptr) {
    options_.library = options_.builder->library();
  }
}

Loader::~Loader() = default;

size_t Loader::KeyHash::operator()(const BuildKey& key) const {
  constexpr size_t kMultiplier = 0x9E3779B97F4A7C15;
  size_t hash = std::hash<std::string>{}(key.chip());
  const auto add = [&](size_t value) { hash = (hash ^ value) * kMultiplier; };
  add(std::hash<std::string>{}(key.family()));
  // Fields come in the schema's order: their values alone tell the keys of a family apart.
  for (const KeyField& field : key.fields()) {
    if (const auto* set = std::get_if<KeySet>(&field.value)) {
      add(set->size());
      for (const std::string& member : *set) add(std::hash<std::string>{}(member));
    } else if (const auto* integer = std::get_if<int64_t>(&field.value)) {
      add(static_cast<size_t>(*integer));
    } else if (const auto* number = std::get_if<float>(&field.value)) {
      add(std::hash<float>{}(*number));
    } else {
      add(std::get<bool>(field.value));
    }
  }
  return hash ^ (hash >> 32);
}

const CodeObject* Loader::find_in_memory(const BuildKey& key) const {
  const std::shared_lock lock(mutex_);
  const auto slot = slots_.find(key);
  return slot == slots_.end() ? nullptr : slot->second.object.get();
}

const CodeObject& Loader::get(const BuildKey& key) {
  if (const CodeObject* object = find_in_memory(key)) {
    memory_.fetch_add(1, std::memory_order_relaxed);
    return *object;
  }
  std::shared_ptr<Attempt> attempt;
  Slot* slot = nullptr;
  {
    const std::unique_lock lock(mutex_);
    slot = &slots_[key];
    if (slot->object) return *slot->object;
    attempt = slot->attempt;
    if (!attempt) slot->attempt = std::make_shared<Attempt>();
  }
  if (attempt) return *attempt->result.get();
  const auto finish = [&](std::unique_ptr<const CodeObject> object) {
    const std::unique_lock lock(mutex_);
    slot->object = std::move(object);
    return std::exchange(slot->attempt, nullptr);
  };
  try {
    auto object = std::make_unique<const CodeObject>(produce(key));
    const CodeObject* made = object.get();
    finish(std::move(object))->promise.set_value(made);
    return *made;
  } catch (...) {
    finish(nullptr)->promise.set_exception(std::current_exception());
    throw;
  }
}

std::optional<CodeObject> Loader::load_from(Cache& cache, const CodeName& name) {
  const std::optional<Digest> content = cache.find(name);
  if (!content) return std::nullopt;
  std::optional<CodeObject> object = cache.load(*content, name);
  if (object) ++disk_;
  return object;
}

std::optional<CodeObject> Loader::load_shipped(const CodeName& name) {
  for (Cache* folder : options_.shipped) {
    if (std::optional<CodeObject> object = load_from(*folder, name)) return object;
  }
  return std::nullopt;
}

CodeObject Loader::produce(const BuildKey& key) {
  CodeName name{.key = key.text(), .chip = key.chip(), .library = {}};
  Cache* cache = options_.cache;
  if (options_.library) {
    name.library = *options_.library;
    std::optional<CodeObject> object = load_shipped(name);
    if (!object && cache != nullptr) object = load_from(*cache, name);
    if (object) return std::move(*object);
  }
  if (options_.builder == nullptr || (cache != nullptr && cache->options().read_only)) {
    throw Error(ErrorKind::failed_check,
                fmt::format("{} for {} is not on disk, and nothing may be compiled here", name.key,
                            name.chip),
                "compile it beforehand, with the same build of Baton");
  }
  if (cache == nullptr) {
    const std::unique_ptr<TracedKey> traced = options_.builder->trace(key);
    ++traced_;
    return make(*traced, name);
  }
  // Others who want this key wait here, and then find it on disk.
  const FileLock named = cache->lock(name.digest());
  if (std::optional<CodeObject> object = load_from(*cache, name)) return std::move(*object);
  return compile(key, name);
}

CodeObject Loader::make(TracedKey& traced, const CodeName& name) {
  if (options_.shared != nullptr) {
    std::optional<CodeObject> object = options_.shared->fetch(traced.content());
    if (object && object->record.key == name.key && object->record.chip == name.chip) {
      ++shared_;
      return std::move(*object);
    }
  }
  CodeObject object = traced.compile();
  ++compiled_;
  if (options_.shared != nullptr) options_.shared->offer(traced.content(), object);
  return object;
}

CodeObject Loader::compile(const BuildKey& key, const CodeName& name) {
  Cache& cache = *options_.cache;
  const std::unique_ptr<TracedKey> traced = options_.builder->trace(key);
  ++traced_;
  const Digest& content = traced->content();
  // Another library build may be at the same content under another name.
  const FileLock held = cache.lock(content);
  std::optional<CodeObject> object = cache.load(content, name);
  const bool is_new = !object;
  if (object) {
    ++disk_;
  } else {
    object = make(*traced, name);
  }
  try {
    if (is_new) cache.store(content, *object);
    cache.link(name, content);
  } catch (const Error& error) {
    if (options_.must_keep) throw;
    cache.report(fmt::format("not kept: {}: {}", name.key, error.what()));
  }
  return std::move(*object);
}

bool Loader::is_busy_elsewhere(const BuildKey& key) {
  if (options_.cache == nullptr || options_.cache->options().read_only) return false;
  if (options_.builder == nullptr) return false;
  const CodeName name{.key = key.text(), .chip = key.chip(), .library = *options_.library};
  return options_.cache->lock(name.digest(), std::chrono::milliseconds(0)).state() ==
         FileLock::State::busy;
}

std::vector<PrepareFailure> Loader::prepare(
    std::span<const BuildKey> keys, int jobs,
    const std::function<void(const PrepareProgress&)>& progress) {
  std::vector<std::optional<Error>> errors(keys.size());
  std::mutex mutex;
  PrepareProgress state{.total = keys.size()};
  const auto get_one = [&](size_t index) {
    const auto start = std::chrono::steady_clock::now();
    try {
      get(keys[index]);
    } catch (const Error& error) {
      errors[index] = error;
    } catch (const std::exception& fault) {
      errors[index] = Error(ErrorKind::failed_check, fault.what());
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    const std::lock_guard lock(mutex);
    ++(errors[index] ? state.failed : state.done);
    state.key = &keys[index];
    state.key_ms = took.count();
    if (progress) progress(state);
  };
  std::vector<size_t> deferred;
  on_threads(keys.size(), jobs, [&](size_t index) {
    if (!is_busy_elsewhere(keys[index])) return get_one(index);
    const std::lock_guard lock(mutex);
    deferred.push_back(index);
  });
  on_threads(deferred.size(), jobs, [&](size_t i) { get_one(deferred[i]); });
  std::vector<PrepareFailure> failures;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (errors[i]) failures.push_back({keys[i], *errors[i]});
  }
  return failures;
}

LoaderCounts Loader::counts() const {
  return {.memory = memory_,
          .disk = disk_,
          .shared = shared_,
          .compiled = compiled_,
          .traced = traced_};
}

void throw_if_any(std::span<const PrepareFailure> failures) {
  if (failures.empty()) return;
  std::string list;
  for (const PrepareFailure& failure : failures) {
    list += fmt::format("{}{} for {} ({})", list.empty() ? "" : "; ", failure.key.text(),
                        failure.key.chip(), failure.error.what());
  }
  throw Error(ErrorKind::failed_check, fmt::format("{} keys failed: {}", failures.size(), list),
              failures.front().error.hint());
}

}  // namespace baton
