//===- ExecOps.td - Operations of the exec dialect ------------*- tablegen -*-===//

#ifndef COIL_DIALECT_EXEC_EXECOPS_TD
#define COIL_DIALECT_EXEC_EXECOPS_TD

include "dialect/Exec/ExecDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

// A number that C++ reads with its sign.
def Exec_IntAttr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Exec_PlanOp : Exec_Op<"plan",
    [Symbol, SymbolTable, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "an algorithm for a number of ranks, in all its variants";
  let description = [{
    `chunks` is the number of chunks that a segment is cut into. With `over`, matched
    variants become such of that transport only. With `using`, messages of staged
    variants on GPUs have that protocol; else the runtime chooses one for each call.

    Constraints:
    - C1: `collective` names a collective; `ranks` and `chunks` are at least 1; the
      transport behind `over` is not `matched`, and `staged` if a protocol is given.
    - C2: holds `exec.variant`s only, and before them one `exec.contract` exactly if the
      collective is `custom`.

    ```mlir
    exec.plan @ring implements allreduce ranks 2 chunks 2 {
      exec.variant @out_of_place root 0 transport staged scratch [0, 0] {
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$collective,
                       Exec_IntAttr:$ranks, Exec_IntAttr:$chunks,
                       OptionalAttr<Exec_Transport>:$transport,
                       OptionalAttr<Exec_Protocol>:$protocol);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `implements` custom<Collective>($collective) `ranks` $ranks `chunks` $chunks
    (`over` $transport^)? (`using` $protocol^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Exec_ContractOp : Exec_Op<"contract", [HasParent<"PlanOp">, SingleBlock, NoTerminator]> {
  let summary = "what an algorithm promises itself";
  let description = [{
    `input` and `output` are the segments of each rank's buffers.

    Constraints:
    - C1: both buffers have 1 to 2^20 segments.
    - C2: holds `exec.promise`s only, ascending by rank and then by segment.

    ```mlir
    exec.contract input 1 output 2 {
      exec.promise output[0] on 1 of input[0] on 0
    }
    ```
  }];
  let arguments = (ins Exec_IntAttr:$input, Exec_IntAttr:$output);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`input` $input `output` $output attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Exec_PromiseOp : Exec_Op<"promise", [HasParent<"ContractOp">]> {
  let summary = "the input segments whose combination an output segment is";
  let description = [{
    One segment is a copy. Places are segments here, all with their ranks.

    Constraints:
    - C1: the place is an output segment; the sources are input segments, at least one,
      ascending by rank and then by segment.

    ```mlir
    exec.promise output[1] on 0 of input[0] on 0, input[0] on 1
    ```
  }];
  let arguments = (ins Exec_PlaceAttr:$place, ArrayAttr:$sources);
  let assemblyFormat = "custom<Place>($place) `of` custom<Operands>($sources) attr-dict";
}

def Exec_VariantOp : Exec_Op<"variant",
    [Symbol, SymbolTable, HasParent<"PlanOp">, SingleBlock, NoTerminator]> {
  let summary = "one way to run the plan's collective";
  let description = [{
    A variant is for one root (0 if the collective has none), for calls in place
    or not, and for one transport; it holds the channels and one program for each
    kind of ranks. `scratch` gives the chunks of scratch on a rank of each kind.

    Without `symmetry`, every rank is a kind of its own. With it, ranks whose numbers
    differ in its digits only are of one kind, and the program is that of the smallest
    one, the kind's representative. The digit of weight w and radix m of rank r is
    r / w mod m; adding to it shifts the rank, and with it each segment of a rank, and
    adds as much to the digit of weight `chunks` of each chunk of a segment (0: chunks
    stay). A channel begins at a representative. It, and each operation, stands for its
    images under all shifts: with `symmetry [weight 1 radix 4 chunks 1]`, what rank 0
    does with chunk 2 and rank 1, rank 3 does with chunk 1 and rank 0. Chunks of scratch
    have the same number on all ranks of a kind.

    Constraints:
    - C1: `root` is a rank, 0 if the collective has none.
    - C2: `scratch` has one entry a kind, none negative.
    - C3: holds channels, which begin at representatives, then one `exec.program` for each
      representative, in order.
    - C4: each channel that an operation names is declared, and begins (send, push,
      signal) or ends (recv, pop, wait, heads; or an image of it does) at the operation's
      worker.
    - C5: each operation is one that the transport offers; copy, reduce and barrier
      always are, and signal and wait on a channel without slots.
    - C6: digits lie side by side in the ranks, by rising weight, and their chunks in the
      chunks; the collective treats all ranks alike.

    ```mlir
    exec.variant @in_place_staged root 0 in_place transport staged scratch [0, 0] {
      exec.channel @c0 from 0 : 0 to 1 : 0 slots 4
      exec.program rank 0 {
        exec.worker {
          exec.tiles {
            exec.push input[0] via @c0 length 0
          }
        }
      }
      exec.program rank 1 {
        exec.worker {
          exec.tiles {
            exec.pop via @c0 to output[0] length 0
          }
        }
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exec_IntAttr:$root, UnitAttr:$in_place,
                       Exec_Transport:$transport,
                       // Three numbers a digit: weight, radix, weight of its chunks.
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$symmetry,
                       DenseI64ArrayAttr:$scratch);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `root` $root (`in_place` $in_place^)? `transport` $transport
    custom<Symmetry>($symmetry) `scratch` $scratch attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    std::vector<::coil::SymmetryDigit> getDigits();
  }];
  let hasRegionVerifier = 1;
}

def Exec_ChannelOp : Exec_Op<"channel", [Symbol, HasParent<"VariantOp">]> {
  let summary = "an ordered way from one worker to another";
  let description = [{
    Ends are written rank `:` worker. A staged channel is a FIFO of `slots`
    slots, each with room for one tile of a chunk; a p2p channel is a counter that
    signals advance and waits watch, and has no slots.

    Constraints:
    - C1: both ranks are ranks of the plan, both workers exist.
    - C2: slots are not negative; data flows through a staged channel's slots only.

    ```mlir
    exec.channel @c0 from 0 : 0 to 1 : 0 slots 4
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exec_IntAttr:$source_rank, Exec_IntAttr:$source_worker,
                       Exec_IntAttr:$destination_rank, Exec_IntAttr:$destination_worker,
                       DefaultValuedAttr<Exec_IntAttr, "0">:$slots);
  let assemblyFormat = [{
    $sym_name `from` $source_rank `:` $source_worker `to` $destination_rank `:`
    $destination_worker (`slots` $slots^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Exec_ProgramOp : Exec_Op<"program", [HasParent<"VariantOp">, SingleBlock, NoTerminator]> {
  let summary = "what one rank runs";
  let description = [{
    Constraints:
    - C1: holds at least one `exec.worker`, and nothing else.

    ```mlir
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
        }
      }
    }
    ```
  }];
  let arguments = (ins Exec_IntAttr:$rank);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`rank` $rank attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Exec_WorkerOp : Exec_Op<"worker", [HasParent<"ProgramOp">, SingleBlock, NoTerminator]> {
  let summary = "what one worker of a rank runs";
  let description = [{
    Workers count from 0 in the order written. What stands before `exec.tiles`
    runs once when the call begins, what stands after it once when it ends.

    Constraints:
    - C1: holds exactly one `exec.tiles`.
    - C2: an operation that moves data stands in the `exec.tiles`.

    ```mlir
    exec.worker {
      exec.meet [1]
      exec.tiles {
        exec.get input[0] on 1 to output[0] length 0
      }
      exec.signal @done
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Exec_TilesOp : Exec_Op<"tiles", [HasParent<"WorkerOp">, SingleBlock, NoTerminator]> {
  let summary = "a loop over the tiles of the message";
  let description = [{
    A tile is a slice of every chunk at once. The body runs for the first tile,
    then for the next, on every rank the same number of times, at least once.
    Tiles of user buffers do not overlap; scratch and slots are used anew.

    ```mlir
    exec.tiles {
      exec.copy input[0] to output[0] length 0
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//
//
// `length` is the chunk of a segment that gives the length of all operands.

class Exec_DataOp<string mnemonic> : Exec_Op<mnemonic, [ParentOneOf<["TilesOp", "WorkerOp"]>]>;

// One source on this rank, one destination on this rank.
class Exec_MoveOp<string mnemonic> : Exec_DataOp<mnemonic> {
  let arguments = (ins Exec_PlaceAttr:$source, Exec_PlaceAttr:$destination, Exec_IntAttr:$length);
  let assemblyFormat = [{
    custom<Place>($source) `to` custom<Place>($destination) `length` $length attr-dict
  }];
}

// Several operands combined left to right.
class Exec_CombiningOp<string mnemonic> : Exec_DataOp<mnemonic> {
  let arguments = (ins ArrayAttr:$operandPlaces, Exec_PlaceAttr:$destination, Exec_IntAttr:$length,
                       UnitAttr:$complete);
  let hasVerifier = 1;
  let assemblyFormat = [{
    custom<Operands>($operandPlaces) `to` custom<Place>($destination) `length` $length
    (`complete` $complete^)? attr-dict
  }];
}

// A place of this rank into a channel.
class Exec_SendingOp<string mnemonic> : Exec_DataOp<mnemonic> {
  let arguments = (ins Exec_PlaceAttr:$source, FlatSymbolRefAttr:$channel, Exec_IntAttr:$length);
  let assemblyFormat = "custom<Place>($source) `via` $channel `length` $length attr-dict";
}

// A channel's message into a place of this rank.
class Exec_ReceivingOp<string mnemonic> : Exec_DataOp<mnemonic> {
  let arguments = (ins FlatSymbolRefAttr:$channel, Exec_PlaceAttr:$destination, Exec_IntAttr:$length);
  let assemblyFormat = "`via` $channel `to` custom<Place>($destination) `length` $length attr-dict";
}

def Exec_CopyOp : Exec_MoveOp<"copy"> {
  let summary = "copies a chunk within this rank";
  let description = [{
    ```mlir
    exec.copy input[0] to output[0] length 0
    ```
  }];
}

def Exec_ReduceOp : Exec_CombiningOp<"reduce"> {
  let summary = "combines chunks of this rank";
  let description = [{
    destination := (x1 + x2) ..., left to right, rounded once. The destination may
    be one of the operands. `complete` marks the statement that completes the
    collective's value, where an average is divided.

    ```mlir
    exec.reduce input[0], scratch[0] to output[0] length 0 complete
    ```
  }];
}

def Exec_SendOp : Exec_SendingOp<"send"> {
  let summary = "matched: gives a chunk's value to a channel";
  let description = [{
    The value is that of the moment of the send.

    ```mlir
    exec.send input[0] via @c0 length 0
    ```
  }];
}

def Exec_RecvOp : Exec_ReceivingOp<"recv"> {
  let summary = "matched: takes a chunk's value from a channel";
  let description = [{
    ```mlir
    exec.recv via @c0 to output[0] length 0
    ```
  }];
}

def Exec_RecvReduceOp : Exec_CombiningOp<"recv_reduce"> {
  let summary = "matched: combines chunks and messages";
  let description = [{
    As `exec.reduce`; operands may be the heads of channels, each of which gives
    one message.

    ```mlir
    exec.recv_reduce input[0], head @c0 to output[0] length 0 complete
    ```
  }];
}

def Exec_PutOp : Exec_MoveOp<"put"> {
  let summary = "p2p: writes a chunk into a peer's memory";
  let description = [{
    ```mlir
    exec.put output[0] to output[0] on 1 length 0
    ```
  }];
}

def Exec_GetOp : Exec_MoveOp<"get"> {
  let summary = "p2p: reads a chunk from a peer's memory";
  let description = [{
    ```mlir
    exec.get output[0] on 1 to output[0] length 0
    ```
  }];
}

def Exec_GetReduceOp : Exec_CombiningOp<"get_reduce"> {
  let summary = "p2p: combines chunks of this rank and of peers";
  let description = [{
    As `exec.reduce`; operands may be on peers.

    ```mlir
    exec.get_reduce input[0], input[0] on 1 to output[0] length 0 complete
    ```
  }];
}

def Exec_PushOp : Exec_SendingOp<"push"> {
  let summary = "staged: fills a slot of a channel";
  let description = [{
    Waits until a slot is free.

    ```mlir
    exec.push input[0] via @c0 length 0
    ```
  }];
}

def Exec_PopOp : Exec_ReceivingOp<"pop"> {
  let summary = "staged: copies the oldest slot and frees it";
  let description = [{
    Waits until a slot is full.

    ```mlir
    exec.pop via @c0 to output[0] length 0
    ```
  }];
}

def Exec_PopReduceOp : Exec_CombiningOp<"pop_reduce"> {
  let summary = "staged: combines chunks and slots, and frees the slots";
  let description = [{
    Waits until all its channels have a full slot.

    ```mlir
    exec.pop_reduce input[0], head @c0 to output[0] length 0 complete
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

def Exec_SignalOp : Exec_Op<"signal"> {
  let summary = "p2p: tells the other end that all earlier operations are done";
  let description = [{
    Everything that this worker read and wrote before is done, and seen by the
    other end, once the matching `exec.wait` has returned.

    ```mlir
    exec.signal @c0
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel);
  let assemblyFormat = "$channel attr-dict";
}

def Exec_WaitOp : Exec_Op<"wait"> {
  let summary = "p2p: waits for the signal of the same ordinal";
  let description = [{
    The i-th wait on a channel returns after the i-th signal on it.

    ```mlir
    exec.wait @c0
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel);
  let assemblyFormat = "$channel attr-dict";
}

def Exec_MeetOp : Exec_Op<"meet", [HasParent<"WorkerOp">]> {
  let summary = "p2p: waits until peers have entered the call";
  let description = [{
    Memory of a rank may be accessed by others only after the rank has entered
    the call, and until it leaves it.

    Constraints:
    - C1: names ranks of the plan other than this one, each once.

    ```mlir
    exec.meet [1, 2]
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$peers);
  let assemblyFormat = "$peers attr-dict";
  let hasVerifier = 1;
}

def Exec_BarrierOp : Exec_Op<"barrier"> {
  let summary = "waits for all workers of this rank";
  let description = [{
    ```mlir
    exec.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // COIL_DIALECT_EXEC_EXECOPS_TD
