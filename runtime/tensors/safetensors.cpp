#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/tensors/tensor.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

struct Dtype {
  std::string_view name;       ///< Baton's
  std::string_view file_name;  ///< in safetensors
  int64_t bytes;
};

constexpr std::array<Dtype, 8> kDtypes = {{{"bf16", "BF16", 2},
                                           {"f16", "F16", 2},
                                           {"f32", "F32", 4},
                                           {"i8", "I8", 1},
                                           {"u8", "U8", 1},
                                           {"i32", "I32", 4},
                                           {"u32", "U32", 4},
                                           {"i64", "I64", 8}}};

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr size_t kMaxAxes = 16;

class Parser {
 public:
  Parser(ByteView bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  TensorMap parse() {
    const Json header = parse_header();
    TensorMap tensors;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      tensors.emplace(name, parse_tensor(name, entry, ranges));
    }
    check_ranges(ranges);
    return tensors;
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    throw Error(
        ErrorKind::user,
        fmt::format("{}: {}", source_, fmt::format(text, std::forward<Arguments>(arguments)...)),
        "write it with safetensors, or with baton run --outputs");
  }

  Json parse_header() {
    if (bytes_.size() < kLengthBytes) {
      fail("{} bytes: a safetensors file has at least {}", bytes_.size(), kLengthBytes);
    }
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    const uint64_t limit = std::min(bytes_.size() - kLengthBytes, kMaxHeaderBytes);
    if (length > limit) fail("the header claims {} bytes, at most {} can follow", length, limit);
    data_ = bytes_.subspan(kLengthBytes + length);
    const auto* text = bytes_.data() + kLengthBytes;
    check_depth(text, length);
    Json header = Json::parse(text, text + length, nullptr, /*allow_exceptions=*/false);
    if (!header.is_object()) fail("the header is no JSON object");
    return header;
  }

  /// The JSON parser recurses; a header nests three deep.
  void check_depth(const uint8_t* text, uint64_t length) const {
    constexpr int kMaxDepth = 8;
    int depth = 0;
    bool quoted = false;
    for (uint64_t i = 0; i < length; ++i) {
      if (text[i] == '\\' && quoted) {
        ++i;
      } else if (text[i] == '"') {
        quoted = !quoted;
      } else if (!quoted && (text[i] == '{' || text[i] == '[')) {
        if (++depth > kMaxDepth) fail("the header nests deeper than {} at byte {}", kMaxDepth, i);
      } else if (!quoted && (text[i] == '}' || text[i] == ']')) {
        --depth;
      }
    }
  }

  const Dtype& parse_dtype(const std::string& name, const Json& entry) const {
    if (!entry.contains("dtype") || !entry["dtype"].is_string())
      fail("tensor {} has no dtype", quote(name));
    const auto& dtype = entry["dtype"].get_ref<const std::string&>();
    for (const Dtype& known : kDtypes) {
      if (known.file_name == dtype) return known;
    }
    fail("tensor {} has the unknown dtype {}", quote(name), quote(dtype));
  }

  std::vector<int64_t> parse_shape(const std::string& name, const Json& entry) const {
    if (!entry.contains("shape") || !entry["shape"].is_array() ||
        entry["shape"].size() > kMaxAxes) {
      fail("tensor {} has no shape of at most {} axes", quote(name), kMaxAxes);
    }
    std::vector<int64_t> shape;
    for (const Json& size : entry["shape"]) {
      if (!size.is_number_unsigned() || size.get<uint64_t>() > INT32_MAX) {
        fail("tensor {} has a size that is no number of 0 .. {}", quote(name), INT32_MAX);
      }
      shape.push_back(size.get<int64_t>());
    }
    return shape;
  }

  Tensor parse_tensor(const std::string& name, const Json& entry,
                      std::vector<std::pair<uint64_t, uint64_t>>& ranges) const {
    if (!entry.is_object()) fail("tensor {} is no JSON object", quote(name));
    const Dtype& dtype = parse_dtype(name, entry);
    Tensor tensor{std::string(dtype.name), parse_shape(name, entry), {}};
    const Json offsets = entry.value("data_offsets", Json());
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      fail("tensor {} has no two data_offsets", quote(name));
    }
    const auto begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
    if (begin > end || end > data_.size()) {
      fail("tensor {} lies at bytes {} .. {} of {}", quote(name), begin, end, data_.size());
    }
    // Sizes are below 2^31 and the product is stopped before it can overflow.
    uint64_t expected = static_cast<uint64_t>(dtype.bytes);
    for (int64_t size : tensor.shape) {
      expected *= static_cast<uint64_t>(size);
      if (expected > data_.size()) break;
    }
    if (expected != end - begin) {
      fail("tensor {} is {}, which takes {} bytes, but has {}", quote(name),
           describe(tensor.dtype, tensor.shape), expected, end - begin);
    }
    ranges.emplace_back(begin, end);
    const ByteView bytes = data_.subspan(begin, end - begin);
    tensor.bytes.assign(bytes.begin(), bytes.end());
    return tensor;
  }

  void check_ranges(std::vector<std::pair<uint64_t, uint64_t>>& ranges) const {
    std::sort(ranges.begin(), ranges.end());
    uint64_t next = 0;
    for (const auto& [begin, end] : ranges) {
      if (begin != next) {
        fail("tensors {} at byte {} of the data", begin < next ? "overlap" : "leave a gap", next);
      }
      next = end;
    }
    if (next != data_.size()) fail("{} bytes follow the last tensor", data_.size() - next);
  }

  ByteView bytes_;
  std::string_view source_;
  ByteView data_;
};

}  // namespace

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

int64_t dtype_bytes(std::string_view dtype) {
  for (const Dtype& known : kDtypes) {
    if (known.name == dtype) return known.bytes;
  }
  return 0;
}

std::string describe(std::string_view dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{} [{}]", dtype, fmt::join(shape, ", "));
}

TensorMap parse_safetensors(ByteView bytes, std::string_view source) {
  return Parser(bytes, source).parse();
}

TensorMap read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path), path.string());
}

Bytes format_safetensors(const TensorMap& tensors) {
  Json header = Json::object();
  uint64_t next = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto* dtype = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& known) {
      return known.name == tensor.dtype;
    });
    BATON_CHECK(dtype != kDtypes.end(), "tensor dtype " + tensor.dtype);
    const uint64_t end = next + tensor.bytes.size();
    header[name] = {
        {"dtype", dtype->file_name}, {"shape", tensor.shape}, {"data_offsets", {next, end}}};
    next = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data starts at a multiple of 8
  const uint64_t length = text.size();
  Bytes bytes(kLengthBytes + text.size());
  std::memcpy(bytes.data(), &length, kLengthBytes);
  std::memcpy(bytes.data() + kLengthBytes, text.data(), text.size());
  for (const auto& [name, tensor] : tensors) {
    bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  return bytes;
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors) {
  write_file(path, format_safetensors(tensors));
}

}  // namespace baton
