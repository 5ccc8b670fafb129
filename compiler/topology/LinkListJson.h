//===- LinkListJson.h - Topologies as lists of links ------------*- C++ -*-===//
//
// What researchers of schedule synthesis pass around, ForestColl and TE-CCL among them:
// an object with
//
//   nodes    a count, or the vertices' names
//   gpus     the numbers of those that take part; all others are switches
//   links    [from, to, GB/s] or [from, to, GB/s, seconds], each in one direction
//
// A member `units` says GB/s, or is absent; others are passed over.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_LINKLISTJSON_H
#define COIL_COMPILER_TOPOLOGY_LINKLISTJSON_H

#include "compiler/topology/Reader.h"

namespace coil::topology {

/// Whether a text begins as a JSON object.
bool mayBeLinkList(std::string_view text);

std::optional<ReadResult> readLinkListJson(const SourceFile &file, DiagnosticEngine &diagnostics);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_LINKLISTJSON_H
