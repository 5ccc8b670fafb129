//===- ExecProgram.cpp - Rank programs as flat structures -----------------===//

#include "compiler/schedule/ExecProgram.h"

#include <array>

namespace coil {

const char *nameOf(ExecOpKind kind) {
  static constexpr std::array names{"copy",       "reduce", "send",       "recv", "recv_reduce",
                                    "put",        "get",    "get_reduce", "push", "pop",
                                    "pop_reduce", "signal", "wait",       "meet", "barrier"};
  return names[static_cast<size_t>(kind)];
}

const char *nameOf(ExecTransport transport) {
  static constexpr std::array names{"matched", "p2p", "staged"};
  return names[static_cast<size_t>(transport)];
}

const char *nameOf(ExecBuffer buffer) {
  static constexpr std::array names{"input", "output", "scratch"};
  return names[static_cast<size_t>(buffer)];
}

} // namespace coil
