//===- OwnContract.cpp - What an algorithm itself promises ----------------===//

#include "runtime/base/OwnContract.h"

#include <algorithm>
#include <utility>

namespace coil {

const OwnContract::Promise *OwnContract::find(uint32_t rank, uint32_t segment) const {
  auto key = std::pair(rank, segment);
  auto found = std::ranges::lower_bound(
      promises, key, {}, [](const Promise &each) { return std::pair(each.rank, each.segment); });
  bool isThere = found != promises.end() && found->rank == rank && found->segment == segment;
  return isThere ? &*found : nullptr;
}

bool OwnContract::combines() const {
  return std::ranges::any_of(promises, [](const Promise &each) { return each.sourceCount > 1; });
}

} // namespace coil
