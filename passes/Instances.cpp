//===- Instances.cpp - The instances that pass options name ---------------===//

#include "passes/Instances.h"

#include <fmt/format.h>
#include <numeric>

namespace coil {

mlir::FailureOr<std::vector<int64_t>> rootsOf(ir::AlgorithmOp algorithm, int64_t ranks,
                                              int64_t root) {
  if (ranks < 1 || ranks > (int64_t(1) << 20))
    return algorithm.emitError() << "expected a number of ranks from 1 to " << (1 << 20)
                                 << ", found " << ranks;
  bool rooted = static_cast<bool>(algorithm.getRoot());
  if (root < -1 || root >= ranks)
    return algorithm.emitError() << "expected a root below " << ranks << ", found " << root;
  if (!rooted && root > 0)
    return algorithm.emitError() << "has no root, but root " << root << " is asked for";
  std::vector<int64_t> roots{std::max<int64_t>(root, 0)};
  if (rooted && root == -1) {
    roots.resize(static_cast<size_t>(ranks));
    std::iota(roots.begin(), roots.end(), int64_t(0));
  }
  return roots;
}

std::string describeInstance(ir::AlgorithmOp algorithm, int64_t ranks, int64_t root) {
  std::string text = fmt::format("with {} rank{}", ranks, ranks == 1 ? "" : "s");
  if (algorithm.getRoot())
    text += fmt::format(" and root {}", root);
  return text;
}

} // namespace coil
