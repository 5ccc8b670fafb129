//===- ExecSlots.h - How many slots channels need ---------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EXECSLOTS_H
#define COIL_COMPILER_SEMANTICS_EXECSLOTS_H

#include "compiler/semantics/ExecModel.h"

#include <optional>
#include <vector>

namespace coil {

/// For each channel of a staged variant the fewest slots with which the programs get through: with
/// all of these numbers they do, and with one slot less in any one channel they do not. Where more
/// slots in one channel would spare some in another, channels of lower numbers are spared first.
/// The largest of the numbers is the least that is enough for all channels alike. None if they do
/// not get through with any number of slots; `model`'s own numbers do not count.
///
/// A run tells whether given numbers do. That depends on them monotonously, so that each is found
/// by bisection; if one slot for all is enough, one run is. Where channels are so many that their
/// bisections would take long, all get the number that is enough for all.
std::optional<std::vector<int64_t>> fewestSlots(const ExecModel &model);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECSLOTS_H
