//===- CoilDialect.td - The coil dialect ----------------------*- tablegen -*-===//

#ifndef COIL_DIALECT_COIL_COILDIALECT_TD
#define COIL_DIALECT_COIL_COILDIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/AttrTypeBase.td"

def Coil_Dialect : Dialect {
  let name = "coil";
  let cppNamespace = "::coil::ir";
  let summary = "Collective algorithms, seen over all ranks at once.";
  let description = [{
    The coil dialect holds an algorithm as its author wrote it: moves of chunks
    between ranks, in loops, parametric in the number of ranks. Integers are
    `index` values of 64 signed bits computed by `arith`; loops and conditions
    are `scf` operations and stay so; functions of integers are `func`
    operations without effects. A chunk somewhere is a `!coil.place`.

    Statements take effect as if one after another. What a program means for a
    given number of ranks is its *instance*: the flat list of moves that
    `compiler/semantics` expands it to.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::scf::SCFDialect"];
}

class Coil_Type<string name, string typeMnemonic> : TypeDef<Coil_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Coil_PlaceType : Coil_Type<"Place", "place"> {
  let summary = "A chunk, or a run of chunks, of a buffer on a rank.";
  let description = [{
    Made by `coil.place`. Its buffer, chunk and rank are numbers known only on
    the instance.

    ```mlir
    %p = coil.place data[%c] on %r
    ```
  }];
}

def Coil_TableType : Coil_Type<"Table", "table"> {
  let summary = "Numbers in rows, made by `coil.table`.";
}

#endif // COIL_DIALECT_COIL_COILDIALECT_TD
