#include "builds/matrix.h"

#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "builds/families.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/target/target.h"

namespace baton::builds {
namespace {

constexpr size_t kMostKeys = 100'000;

/// The values that one field takes, as a key spells them.
struct FieldValues {
  std::string name;
  std::vector<std::string> texts;
};

/// A rule of [[build.exclude]].
struct Exclude {
  std::vector<FieldValues> fields;
  std::string where;
  bool used = false;
};

class MatrixReader {
 public:
  explicit MatrixReader(const std::string& file) : file_(file) {}

  Matrix read(const toml::table& root, std::span<const std::string> chips) {
    check_names(root, {"name", "chips", "build"}, "the matrix");
    Matrix matrix{.name = text_or(root, "name", ""), .keys = {}};
    std::vector<std::string> wanted(chips.begin(), chips.end());
    for (const std::string& chip : wanted) find_target(chip);
    if (const toml::node* node = root.get("chips"); wanted.empty() && node != nullptr) {
      wanted = texts_of(*node);
      for (const std::string& chip : wanted) at(*node, [&] { find_target(chip); });
    }
    if (wanted.empty()) {
      fail(root, "no chip: neither the file's chips nor --arch names one",
           "write chips = [\"gfx950\"]");
    }
    const toml::array* builds = root["build"].as_array();
    if (builds == nullptr || builds->empty()) {
      fail(root, "no [[build]]", "each [[build]] names a kernel and the values of its fields");
    }
    std::set<std::string> seen;
    for (const std::string& chip : wanted) {
      for (const toml::node& build : *builds) {
        for (BuildKey& key : expand(table_of(build), chip)) {
          if (seen.insert(key.text() + "@" + chip).second) matrix.keys.push_back(std::move(key));
        }
      }
    }
    if (matrix.keys.empty()) {
      fail(root, "the matrix spans no key: its excludes leave all of them out",
           "a matrix has a key at least");
    }
    return matrix;
  }

  std::string where(const toml::source_region& place) const {
    return fmt::format("{}:{}", file_, place.begin.line);
  }

 private:
  [[noreturn]] void fail(const toml::node& node, const std::string& message,
                         const std::string& hint = "") const {
    throw Error(ErrorKind::user, message, hint, where(node.source()));
  }

  /// What `find` returns; its Error gets the place of `node`.
  template <typename Find>
  std::invoke_result_t<Find> at(const toml::node& node, Find find) const {
    try {
      return find();
    } catch (const Error& error) {
      fail(node, error.what(), error.hint());
    }
  }

  const toml::table& table_of(const toml::node& node) const {
    if (const toml::table* table = node.as_table()) return *table;
    fail(node, "a table is expected here");
  }

  std::string text_or(const toml::table& table, const char* name, const char* fallback) const {
    const toml::node* node = table.get(name);
    if (node == nullptr) return fallback;
    if (!node->is_string()) fail(*node, fmt::format("{} is no string", name));
    return node->value<std::string>().value();
  }

  void check_names(const toml::table& table, std::vector<std::string_view> known,
                   std::string_view owner) const {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(known, key.str()) != known.end()) continue;
      const std::string_view near = nearest(key.str(), known);
      fail(node, fmt::format("{} has no field {}", owner, quote(key.str())),
           fmt::format("{}its fields: {}",
                       near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                       fmt::join(known, ", ")));
    }
  }

  std::string text_of(const toml::node& node) const {
    if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "1" : "0";
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_floating_point()) {
      return float_text(number->get());
    }
    fail(node, "a value is an integer, a number, true, false or a string");
  }

  /// A number as keys spell it, which hold float32s; what does not fit one stays as it is.
  static std::string float_text(double number) {
    const std::string text = fmt::format("{}", number);
    const std::optional<float> value = parse_number<float>(text);
    return value ? baton::text_of(KeyValue(*value)) : text;
  }

  std::vector<std::string> range_of(const toml::table& table) const {
    check_names(table, {"from", "to", "step"}, "a range");
    const auto number = [&](const char* name, std::optional<int64_t> fallback) {
      const std::optional<int64_t> value = table[name].value_exact<int64_t>();
      if (!value && (table.contains(name) || !fallback)) {
        fail(table, fmt::format("a range needs {} as an integer", name),
             "a range is { from = 1, to = 8 } or { from = 8, to = 64, step = 8 }");
      }
      return value ? *value : *fallback;
    };
    const int64_t from = number("from", {}), to = number("to", {}), step = number("step", 1);
    constexpr int64_t kFar = int64_t{1} << 40;
    if (step < 1 || from > to || from < -kFar || to > kFar ||
        (to - from) / step >= static_cast<int64_t>(kMostKeys)) {
      fail(table, fmt::format("from {} to {} by {} is no range", from, to, step));
    }
    std::vector<std::string> texts;
    for (int64_t value = from; value <= to; value += step) texts.push_back(std::to_string(value));
    return texts;
  }

  std::vector<std::string> texts_of(const toml::node& node) const {
    if (const toml::table* range = node.as_table()) return range_of(*range);
    const toml::array* list = node.as_array();
    if (list == nullptr) return {text_of(node)};
    std::vector<std::string> texts;
    for (const toml::node& one : *list) texts.push_back(text_of(one));
    if (texts.empty()) fail(node, "an empty list leaves no key");
    return texts;
  }

  /// The fields that a table gives, in the schema's order.
  std::vector<FieldValues> fields_of(const toml::table& table, const Family& family,
                                     std::vector<std::string_view> others) const {
    for (const Field& field : family.fields) others.push_back(field.name);
    check_names(table, others, family.name);
    std::vector<FieldValues> fields;
    for (const Field& field : family.fields) {
      const toml::node* node = table.get(field.name);
      if (node != nullptr) fields.push_back({std::string(field.name), texts_of(*node)});
    }
    return fields;
  }

  std::vector<Exclude> excludes_of(const toml::table& build, const Family& family) const {
    std::vector<Exclude> excludes;
    const toml::node* node = build.get("exclude");
    if (node == nullptr) return excludes;
    const toml::array* list = node->as_array();
    if (list == nullptr) fail(*node, "exclude is no list of tables", "write [[build.exclude]]");
    for (const toml::node& one : *list) {
      const toml::table& table = table_of(one);
      excludes.push_back({fields_of(table, family, {}), where(table.source())});
      if (excludes.back().fields.empty()) fail(one, "an exclude without fields leaves no key");
    }
    return excludes;
  }

  /// The fields of a key by name, as text; of one that is not complete yet, those that are given.
  using FieldTexts = std::map<std::string, std::string, std::less<>>;

  static bool matches(const FieldTexts& key, const Exclude& exclude) {
    return std::ranges::all_of(exclude.fields, [&](const FieldValues& values) {
      const auto field = key.find(values.name);
      return field != key.end() &&
             std::ranges::find(values.texts, field->second) != values.texts.end();
    });
  }

  /// Every combination of one [[build]] that no exclude leaves out.
  std::vector<BuildKey> expand(const toml::table& build, const std::string& chip) const {
    const std::string kernel = text_or(build, "kernel", "");
    if (kernel.empty()) fail(build, "a [[build]] needs kernel = \"...\"");
    const Family& family =
        at(*build.get("kernel"), [&]() -> const Family& { return find_family(kernel); });
    const std::vector<FieldValues> fields = fields_of(build, family, {"kernel", "exclude"});
    std::vector<Exclude> excludes = excludes_of(build, family);
    size_t count = 1;
    for (const FieldValues& field : fields) {
      if (field.texts.size() > kMostKeys / count) {
        fail(build, fmt::format("it spans over {} keys", kMostKeys),
             "split it, or let its lists and ranges span fewer values");
      }
      count *= field.texts.size();
    }
    std::vector<BuildKey> keys;
    std::vector<Error> refused;
    for (size_t i = 0; i < count; ++i) {
      try {
        const KeyText text = combination(kernel, fields, i);
        FieldTexts given, all;
        for (const KeyTextField& field : text.fields) given[field.name] = field.value;
        if (is_excluded(given, excludes)) continue;  // also one that the kernel would refuse
        BuildKey key = complete(family, text, chip);
        for (const KeyField& field : key.fields()) all[field.name] = baton::text_of(field.value);
        if (!is_excluded(all, excludes)) keys.push_back(std::move(key));
      } catch (const Error& error) {
        refused.push_back(error);
      }
    }
    if (!refused.empty()) {
      const std::string more =
          refused.size() == 1 ? "" : fmt::format(", and {} more", refused.size() - 1);
      fail(build, refused[0].what() + more, refused[0].hint());
    }
    for (const Exclude& exclude : excludes) {
      if (!exclude.used) {
        throw Error(ErrorKind::user, "this exclude leaves nothing out",
                    "its values are those of complete keys, spelt as `baton keys` does",
                    exclude.where);
      }
    }
    return keys;
  }

  static bool is_excluded(const FieldTexts& key, std::vector<Exclude>& excludes) {
    bool excluded = false;
    for (Exclude& exclude : excludes) {
      if (!matches(key, exclude)) continue;
      exclude.used = excluded = true;
    }
    return excluded;
  }

  /// The `number`th combination; the last field changes fastest.
  static KeyText combination(const std::string& kernel, const std::vector<FieldValues>& fields,
                             size_t number) {
    KeyText text{.family = kernel, .fields = {}};
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      text.fields.push_back({field->name, field->texts[number % field->texts.size()]});
      number /= field->texts.size();
    }
    return text;
  }

  const std::string& file_;
};

}  // namespace

Matrix read_matrix(std::string_view text, const std::string& file,
                   std::span<const std::string> chips) {
  MatrixReader reader(file);
  try {
    return reader.read(toml::parse(text, file), chips);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::user, printable(error.description()), "the file is not TOML",
                reader.where(error.source()));
  }
}

}  // namespace baton::builds
