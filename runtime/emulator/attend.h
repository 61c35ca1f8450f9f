// Ties an emulator to the collective that runs on it.
#pragma once

#include "runtime/collective.h"
#include "runtime/emulator/emulator.h"

namespace baton::emulator {

/// Reports of hangs name regions, and collective.regions() holds the words of sentinel regions as
/// they were before their readers re-armed them. Both must outlive the launches.
void attend(Emulator& emulator, Collective& collective);

}  // namespace baton::emulator
