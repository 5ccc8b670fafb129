// RUN: coil-opt %s | FileCheck %s
// RUN: coil-opt %s | coil-opt | FileCheck %s
// RUN: coil-opt %s --emit-bytecode | coil-opt | FileCheck %s
// RUN: coil-opt %s --mlir-print-op-generic | coil-opt | FileCheck %s

// Every operation of the coil dialect, as text and bytecode and back.

// CHECK-LABEL: coil.algorithm @chain implements broadcast
// CHECK-NEXT: ^bb0(%ranks: index, %root: index):
coil.algorithm @chain implements broadcast {
^bb0(%ranks: index, %root: index):
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  %c0 = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  %c1 = arith.constant 1 : index
  // CHECK: coil.chunks %[[C1]]
  coil.chunks %c1
  // CHECK: coil.schedule slices %ranks parallel %[[C1]] over staged using ll
  coil.schedule slices %ranks parallel %c1 over staged using ll
  // CHECK: %{{.*}} = coil.parameter radix in %[[C1]] to %ranks default %[[C1]] : index
  %radix = coil.parameter radix in %c1 to %ranks default %c1 : index
  // CHECK: %{{.*}} = coil.parameter fast : i1
  %fast = coil.parameter fast : i1
  // CHECK: %[[NODES:.*]] = coil.nodes
  %nodes = coil.nodes
  // CHECK: coil.gcd %ranks, %[[NODES]]
  %rings = coil.gcd %ranks, %nodes
  // CHECK: coil.scratch kept[%ranks]
  coil.scratch kept[%ranks]
  %some = arith.cmpi sge, %ranks, %c1 : index
  // CHECK: coil.assert %{{.*}}, "ranks must be positive"
  coil.assert %some, "ranks must be positive"
  // CHECK: scf.for
  scf.for %i = %c1 to %ranks step %c1 {
    %to = arith.addi %root, %i : index
    %from = arith.subi %to, %c1 : index
    // CHECK: %[[FROM:.*]] = coil.place data[%[[C0]]] on
    %source = coil.place data[%c0] on %from
    // CHECK: %[[TO:.*]] = coil.place data[%[[C0]]] on
    %destination = coil.place data[%c0] on %to
    // CHECK: coil.send %[[FROM]] to %[[TO]]
    coil.send %source to %destination
    // CHECK: %[[KEPT:.*]] = coil.place kept[%[[C0]] to %[[C1]]] on
    %kept = coil.place kept[%c0 to %c1] on %to
    // CHECK: coil.copy %[[TO]] to %[[KEPT]]
    coil.copy %destination to %kept
  }
  // CHECK: %[[LOG:.*]] = coil.log2 %ranks
  %log = coil.log2 %ranks
  // CHECK: coil.mod %[[LOG]], %ranks
  %mod = coil.mod %log, %ranks
}

// CHECK-LABEL: coil.algorithm @pairs implements allreduce
coil.algorithm @pairs implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mine = coil.place data[%c0] on %c0
  // CHECK: coil.exchange {
  coil.exchange {
    // CHECK: coil.reduce %{{.*}} from {
    coil.reduce %mine from {
      // CHECK: scf.for
      scf.for %q = %c1 to %ranks step %c1 {
        %theirs = coil.place input[%c0] on %q
        // CHECK: coil.operand
        coil.operand %theirs
      }
    }
  }
  %sum = coil.place output[%c0] on %c1
  // CHECK: coil.combine %{{.*}} from {
  coil.combine %sum from {
    coil.operand %mine
  }
}

// CHECK-LABEL: coil.algorithm @applying implements broadcast
coil.algorithm @applying implements broadcast {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  coil.scratch kept[%c1]
  // CHECK: coil.apply @chain root %root with ["radix", "fast"](%{{.*}}, %{{.*}} : index, i1) over {
  coil.apply @chain root %root with ["radix", "fast"](%c1, %yes : index, i1) over {
    // CHECK-NEXT: coil.item %{{.*}} to %ranks
    coil.item %c0 to %ranks
  // CHECK-NEXT: } on "data" {
  } on "data" {
    // CHECK-NEXT: coil.item %{{.*}}
    coil.item %c0
  // CHECK-NEXT: } to "kept" {
  } to "kept" {
    coil.item %c0
  }
  // CHECK: coil.apply @pairs over {
  coil.apply @pairs over {
    coil.item %root
  } on "data" {
    coil.item %c0
  }
}

// CHECK-LABEL: coil.algorithm @tabled implements allreduce
coil.algorithm @tabled implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = coil.table [1, 2] of %{{.*}}, %ranks
  %t = coil.table [1, 2] of %c0, %ranks
  // CHECK: coil.entry %[[T]][%{{.*}}, %{{.*}}]
  %e = coil.entry %t[%c0, %c0]
}

// CHECK-LABEL: coil.algorithm @promising implements custom
coil.algorithm @promising implements custom {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: coil.segments input %{{.*}} output %ranks
  coil.segments input %c1 output %ranks
  // CHECK: coil.ensures[%{{.*}}] on %{{.*}} of {
  coil.ensures [%c0] on %c0 of {
    // CHECK-NEXT: coil.source[%{{.*}} to %{{.*}}] on %{{.*}}
    coil.source [%c0 to %c1] on %c1
  }
}
