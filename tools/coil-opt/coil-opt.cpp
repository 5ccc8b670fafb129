//===- coil-opt.cpp - Runs passes on IR text ------------------------------===//
//
//   coil-opt --coil-verify-collective=ranks=4 ring.mlir
//   coil-opt --coil-compile=ranks=4 ring.mlir
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Pipeline.h"
#include "dialect/Coil/Coil.h"
#include "dialect/Exec/Exec.h"
#include "passes/Passes.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/DialectRegistry.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>
#include <mlir/Transforms/Passes.h>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<coil::ir::CoilDialect, coil::exec::ExecDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  coil::registerCoilPasses();
  coil::registerPipelines();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Coil's optimizer driver\n", registry));
}
