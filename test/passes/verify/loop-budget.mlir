// RUN: coil-opt %s --coil-verify-collective="ranks=2" --verify-diagnostics

// Counting up to the limit takes more than a minute under a sanitizer.
// UNSUPPORTED: asan

coil.algorithm @loops implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000000000 : index
  // expected-error@+1 {{the program takes more than 67108864 loop iterations}}
  scf.for %i = %c0 to %many step %c1 {
  }
}
