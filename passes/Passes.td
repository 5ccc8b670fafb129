//===- Passes.td - Every pass, in the order of the pipeline ---*- tablegen -*-===//

#ifndef COIL_PASSES_PASSES_TD
#define COIL_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

// The instance that a pass works on.
class InstancePass<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  list<Option> instanceOptions = [
    Option<"ranks", "ranks", "int64_t", "0", "Number of ranks; at least 1">,
    Option<"root", "root", "int64_t", "-1",
           "Root of a collective that has one; -1 stands for every root">,
    Option<"nodes", "nodes", "int64_t", "1", "Nodes that the ranks lie on; divides their number">,
    ListOption<"parameters", "param", "std::string",
               "Values of the algorithm's parameters: radix=4,fast=true">
  ];
}

def VerifyCollective : InstancePass<"coil-verify-collective"> {
  let summary = "prove that algorithms compute their collective";
  let description = [{
    Expands each `coil.algorithm` for the given number of ranks and follows which
    inputs each place holds. Reading a place that holds nothing, combining a
    contribution twice, naming a chunk out of range, mixing lengths, or ending
    without exactly the promised contributions is an error at the statement to
    blame. Changes nothing.

    ```mlir
    // With ranks=2: error: input[0] of rank 0 is combined twice into data[0] on rank 0
    coil.reduce %mine from {
      coil.operand %mine
    }
    ```
  }];
  let options = instanceOptions;
}

def LowerToExec : InstancePass<"coil-lower-to-exec"> {
  let summary = "turn algorithms into matched rank programs";
  let description = [{
    Replaces each `coil.algorithm` by an `exec.plan` for the given number of
    ranks, with a variant for each root, in place and out of place. Places get
    memory, independent moves run in the same step, and each move becomes a send
    and a receive. The algorithm must be right (`coil-verify-collective`).

    ```mlir
    coil.send %a to %b
    // ==>
    exec.send input[0] via @from0to1 length 0      // in rank 0's program
    exec.recv via @from0to1 to output[0] length 0  // in rank 1's
    ```
  }];
  let options = instanceOptions;
  let dependentDialects = ["::coil::exec::ExecDialect"];
}

def LowerProtocol : Pass<"coil-lower-protocol", "::mlir::ModuleOp"> {
  let summary = "fix transports: one variant a transport";
  let description = [{
    Replaces each matched variant by one for each transport. Over `staged`
    channels sends become pushes, receives pops. Over `p2p` the receiver reads the
    sender's memory; signals, waits and the handshakes at the ends of the call are
    added where an order is needed that nothing else gives, and a copy to scratch
    where the value would be overwritten too early.

    ```mlir
    exec.send input[0] via @from0to1 length 0
    exec.recv via @from0to1 to output[0] length 0
    // ==> staged
    exec.push input[0] via @from0to1 length 0
    exec.pop via @from0to1 to output[0] length 0
    // ==> p2p
    exec.get input[0] on 0 to output[0] length 0
    ```
  }];
  let options = [
    ListOption<"transports", "transports", "std::string",
               "Transports to make variants for: p2p, staged (default: what the plan is over, or "
               "both)">,
    Option<"slots", "slots", "int64_t", "4", "Slots of a staged channel; at least 1">
  ];
}

def VerifyExec : Pass<"coil-verify-exec", "::mlir::ModuleOp"> {
  let summary = "prove what will really run";
  let description = [{
    Proves each variant of each `exec.plan`, transport fixed, for any number of
    tiles and calls: no deadlock with the slots that channels have, no two
    conflicting accesses without an order, every message and signal matched, no
    access to memory of a rank outside its call, and the collective's promise
    kept. Changes nothing.

    ```mlir
    // error: wait on channel @s has no matching signal
    exec.wait @s
    ```
  }];
}

#endif // COIL_PASSES_PASSES_TD
