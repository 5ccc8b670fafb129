//===- DriverApi.h - The driver's functions, as they are exported -*- C++ -*-===//

#ifndef COIL_RUNTIME_EMULATED_DRIVERAPI_H
#define COIL_RUNTIME_EMULATED_DRIVERAPI_H

#include "runtime/executor/cuda/DriverAbi.h"

#define COIL_DECLARE_DRIVER_FUNCTION(name, parameters)                                             \
  extern "C" ::coil::cuda::DriverResult name parameters;
COIL_DRIVER_FUNCTIONS(COIL_DECLARE_DRIVER_FUNCTION)
#undef COIL_DECLARE_DRIVER_FUNCTION

#endif // COIL_RUNTIME_EMULATED_DRIVERAPI_H
