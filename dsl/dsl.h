// All that a kernel author includes.
#pragma once

#include "dsl/control/control.h"   // IWYU pragma: export
#include "dsl/handoff/handoff.h"   // IWYU pragma: export
#include "dsl/handoff/sentinel.h"  // IWYU pragma: export
#include "dsl/lanes/lanes.h"       // IWYU pragma: export
#include "dsl/matrix/matrix.h"     // IWYU pragma: export
#include "dsl/memory/memory.h"     // IWYU pragma: export
#include "dsl/trace/kernel.h"      // IWYU pragma: export
#include "dsl/value/functions.h"   // IWYU pragma: export
#include "dsl/value/values.h"      // IWYU pragma: export
