// What the commands print, and where: products on standard output, reports on standard error.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/error.h"

namespace baton::cli {

/// Thrown when the reader of standard output has gone away (`| head`): the command's work is over,
/// and that is no error.
struct ReaderGone {};

/// Signals and descriptors as the commands want them: a closed pipe and the file-size limit become
/// errors of the write, and no file is ever opened under the number of a closed standard stream.
void prepare_streams();

/// Writes all of `text` to standard output. Throws ReaderGone, or Error (environment).
void print(std::string_view text);

/// Whether standard output is a terminal that wants colour: NO_COLOR and TERM=dumb say no.
bool colour_on_output();

/// `error: ...` and `hint: ...` on standard error, a line each; a hang's details follow on lines of
/// their own. Control bytes are shown as \xNN.
void report(const Error& error);
/// `remark: ...` on standard error.
void report_remark(std::string_view remark);

/// The exit code that belongs to `error`.
int exit_code(const Error& error);

}  // namespace baton::cli
