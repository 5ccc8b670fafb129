//===- ExecDialect.td - The exec dialect ----------------------*- tablegen -*-===//

#ifndef COIL_DIALECT_EXEC_EXECDIALECT_TD
#define COIL_DIALECT_EXEC_EXECDIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let useDefaultAttributePrinterParser = 1;
  let cppNamespace = "::coil::exec";
  let summary = "Rank programs: workers, channels, one-sided operations.";
  let description = [{
    The exec dialect holds what each rank runs: workers (a CUDA thread block, or
    a CPU worker) that execute lists of operations over chunks and channels. It
    has two levels.

    Before `lower-protocol`, a channel is a matched pair of ends: the i-th `send`
    on it meets the i-th `recv` (or `recv_reduce` operand).

    After it, each channel has a transport, and the operations are those that the
    transport offers:

    | transport | operations                                   |
    | --------- | -------------------------------------------- |
    | `p2p`     | put, get, get_reduce, signal, wait, meet     |
    | `staged`  | push, pop, pop_reduce                        |

    `p2p` is memory of a peer that loads and stores reach (CUDA IPC, or shared
    memory); it says nothing of order, which only signal and wait give. `staged`
    is a bounded FIFO with credits: each push fills a slot, each pop frees it.

    What lies in memory is named by places: chunk `index` of the call's send
    buffer (`input`), receive buffer (`output`) or the plan's `scratch`, on this
    rank, or `on` a peer.
  }];
}

def Exec_Transport : I32EnumAttr<"Transport", "how a variant's channels carry data", [
    I32EnumAttrCase<"Matched", 0, "matched">,
    I32EnumAttrCase<"P2P", 1, "p2p">,
    I32EnumAttrCase<"Staged", 2, "staged">]> {
  let cppNamespace = "::coil::exec";
}

def Exec_Protocol : I32EnumAttr<"Protocol", "how messages lie in slots on GPUs", [
    I32EnumAttrCase<"Simple", 0, "simple">,
    I32EnumAttrCase<"Ll", 1, "ll">,
    I32EnumAttrCase<"Ll128", 2, "ll128">]> {
  let cppNamespace = "::coil::exec";
}

def Exec_Buffer : I32EnumAttr<"Buffer", "a buffer of a rank", [
    I32EnumAttrCase<"Input", 0, "input">,
    I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"Scratch", 2, "scratch">]> {
  let cppNamespace = "::coil::exec";
  let genSpecializedAttr = 0;
}

def Exec_PlaceAttr : AttrDef<Exec_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "a chunk of a buffer, on this rank or on a peer";
  let description = [{
    `rank` is -1 for the rank that executes the operation. In operations it is
    written `input[3]` or `scratch[0] on 2`.
  }];
  let parameters = (ins EnumParameter<Exec_Buffer>:$buffer, "int64_t":$index,
                        DefaultValuedParameter<"int64_t", "-1">:$rank);
  let assemblyFormat = "`<` $buffer `[` $index `]` (`on` $rank^)? `>`";
}

def Exec_HeadAttr : AttrDef<Exec_Dialect, "Head"> {
  let mnemonic = "head";
  let summary = "the oldest message of a channel that ends at this worker";
  let description = [{
    In operations it is written `head @channel`.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$channel);
  let assemblyFormat = "`<` $channel `>`";
}

#endif // COIL_DIALECT_EXEC_EXECDIALECT_TD
