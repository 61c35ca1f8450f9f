// What a user may choose of kda_pre.
#pragma once

#include "builds/schema.h"

namespace baton::builds::kimi_k3 {

Family kda_pre_family();

}  // namespace baton::builds::kimi_k3
