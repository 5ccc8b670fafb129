//===- LowerToStaged.cpp - Matched programs over bounded FIFOs ------------===//

#include "compiler/schedule/LowerProtocol.h"

namespace coil {

ExecVariant lowerToStaged(const ExecVariant &matched, int64_t slots) {
  ExecVariant variant = matched;
  variant.transport = ExecTransport::Staged;
  std::vector<bool> carriesData(variant.channels.size(), false);
  for (std::vector<ExecWorker> &workers : variant.programs)
    for (ExecWorker &worker : workers)
      for (ExecOp &op : worker.body) {
        switch (op.kind) {
        case ExecOpKind::Send:
          op.kind = ExecOpKind::Push;
          carriesData[op.channel] = true;
          break;
        case ExecOpKind::Recv:
          op.kind = ExecOpKind::Pop;
          break;
        case ExecOpKind::RecvReduce:
          op.kind = ExecOpKind::PopReduce;
          break;
        default:
          break;
        }
      }
  for (size_t i = 0; i < variant.channels.size(); ++i)
    variant.channels[i].slots = carriesData[i] ? slots : 0;
  return variant;
}

} // namespace coil
