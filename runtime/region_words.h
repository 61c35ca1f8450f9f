// The words of a region as they lie in memory, and as the kernel's author thinks of them.
#pragma once

#include "runtime/object/record.h"
#include "runtime/tensors/tensor.h"

namespace baton {

/// Bytes of a word in memory: a tagged one is a pair.
uint64_t word_bytes(const RecordRegion& region);

/// "part[3, 0, 2, 1]": the first element of word `word`.
std::string name_of_word(const RecordRegion& region, uint64_t word);

/// The words of `raw` that no put of the step of `epoch` has reached, in logical order: a tagged
/// word has another step's tag, a sentinel word is the sentinel.
std::vector<uint64_t> words_not_arrived(const RecordRegion& region, ByteView raw, uint32_t epoch);

/// The region in logical shape and type from its bytes: tags stripped, sentinel blocking undone.
Tensor logical_tensor(const RecordRegion& region, ByteView raw);

}  // namespace baton
