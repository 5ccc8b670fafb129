//===- LocationTable.h - Source locations by number -------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_LOCATIONTABLE_H
#define COIL_COMPILER_SEMANTICS_LOCATIONTABLE_H

#include "compiler/semantics/Findings.h"

#include <llvm/ADT/DenseMap.h>
#include <mlir/IR/Location.h>
#include <vector>

namespace coil {

/// The source locations that LocationIndex names in flat structures.
class LocationTable {
public:
  LocationIndex add(mlir::Location location) {
    auto [it, inserted] =
        indices.try_emplace(location, static_cast<LocationIndex>(locations.size()));
    if (inserted)
      locations.push_back(location);
    return it->second;
  }
  mlir::Location operator[](LocationIndex index) const { return locations[index]; }
  const std::vector<mlir::Location> &list() const { return locations; }

private:
  std::vector<mlir::Location> locations;
  llvm::DenseMap<mlir::Location, LocationIndex> indices;
};

/// Emits findings as errors with notes; `context`, such as "with 4 ranks", follows
/// each message in parentheses.
void emitFindings(const std::vector<Finding> &findings, const LocationTable &locations,
                  const std::string &context);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_LOCATIONTABLE_H
