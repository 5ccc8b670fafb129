//===- ReduceBySymmetry.h - An instance for one rank of a kind --*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_REDUCEBYSYMMETRY_H
#define COIL_COMPILER_SEMANTICS_REDUCEBYSYMMETRY_H

#include "compiler/semantics/Instance.h"

namespace coil {

/// Finds shifts of ranks and chunks under which the instance's statements go over into
/// each other, and returns the instance with those that write on representatives of the
/// kinds of ranks. Statements come in an order in which those that one depends on come
/// first, and each takes effect on all ranks at once.
///
/// An instance without such shifts, with a root, or with faults is returned as it is.
/// Takes time near linear in the statements, once for every digit that is found.
Instance reduceBySymmetry(Instance instance);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_REDUCEBYSYMMETRY_H
