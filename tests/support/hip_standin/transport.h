// How a call gets to the machine: in this process, or over a socket to one that several share.
#pragma once

#include "tests/support/hip_standin/machine.h"

namespace baton::standin {

/// Whole messages: a structure and the payload whose size it tells. False when the other side
/// ended.
bool send_message(int socket, const void* header, size_t header_bytes, ByteView payload);
bool receive_bytes(int socket, void* to, size_t bytes);

/// Performs the call on the machine that BATON_STANDIN_SOCKET names, or else on this process's own:
/// BATON_STANDIN_DEVICES (8) of BATON_STANDIN_CHIP (gfx950).
Reply perform(const Call& call, ByteView payload, Bytes& answer);

}  // namespace baton::standin
