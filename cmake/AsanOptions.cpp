//===- AsanOptions.cpp - AddressSanitizer beside libMLIR ------------------===//
//
// LLVM's allocators poison the memory that they have not given out, in inline
// functions: instrumented code of ours poisons a slab, and Debian's libMLIR, which
// is not instrumented, hands parts of it out without taking the poison away. Only
// manual poisoning is turned off by this; every other check stays.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }
