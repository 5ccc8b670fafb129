//===- Exchange.h - All ranks learn what each one gives ---------*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_EXCHANGE_H
#define COIL_RUNTIME_BOOTSTRAP_EXCHANGE_H

#include "runtime/bootstrap/Members.h"

namespace coil {

/// The arguments of Bootstrap::exchange().
struct ExchangeCall {
  std::string what;
  uint64_t sequence; ///< counts the exchanges of these members
  Deadline deadline;
  const std::function<Status()> &interrupted;
};

struct ExchangeResult {
  Status status;
  /// Whether the next exchange may succeed; true after a success.
  bool mayGoOn = false;
  std::vector<Parcel> contributions;
};

/// Bootstrap::exchange() tells what it does. Unless the result says that the
/// members may go on, the others have been told and the connections are closed.
ExchangeResult exchangeAmong(Members &members, const ExchangeCall &call, Parcel mine);

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_EXCHANGE_H
