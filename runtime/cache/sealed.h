// JSON that says by itself whether any byte of it has changed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace baton {

/// `object`, which holds at least one field, as pretty JSON whose last field, "seal", is the
/// SHA-256 of all that stands before it.
std::string seal(const nlohmann::ordered_json& object);

/// Reads what seal() wrote. Throws Error (failed_check), one line that starts with `source`, when
/// the text is cut or any byte of it differs.
nlohmann::ordered_json unseal(std::string_view text, std::string_view source);

/// What a reader of sealed files wants of a field: a text. Throws Error (failed_check) that names
/// the field when it is missing or of another type.
std::string text_field(const nlohmann::ordered_json& object, const char* name,
                       std::string_view source);
/// The same for a number from 0 up.
uint64_t number_field(const nlohmann::ordered_json& object, const char* name,
                      std::string_view source);

}  // namespace baton
