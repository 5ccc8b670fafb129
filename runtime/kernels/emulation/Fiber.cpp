//===- Fiber.cpp - A stack of its own, and switching to it ----------------===//

#include "runtime/kernels/emulation/Fiber.h"
#include "runtime/kernels/emulation/Sanitizers.h"

#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

// On x86-64, switching is a dozen instructions. ucontext, used elsewhere, makes
// two system calls a switch.
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace coil::emulation {

namespace {

#if defined(COIL_ADDRESS_SANITIZER) || defined(COIL_THREAD_SANITIZER)
constexpr std::size_t stackBytes = 256 << 10; // instrumented frames are larger
#else
constexpr std::size_t stackBytes = 64 << 10;
#endif

/// Stacks that no fiber has. Never destroyed: threads may outlive static objects.
struct Pool {
  std::mutex mutex;
  std::vector<FiberStack> stacks;
};

Pool &pool() {
  static Pool *pool = new Pool;
  return *pool;
}

FiberStack takeStack() {
  {
    std::lock_guard lock(pool().mutex);
    if (!pool().stacks.empty()) {
      FiberStack stack = pool().stacks.back();
      pool().stacks.pop_back();
      return stack;
    }
  }
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void *memory = mmap(nullptr, page + stackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return {};
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, page + stackBytes);
    return {};
  }
  return {static_cast<std::byte *>(memory) + page, sanitizers::createFiber()};
}

void giveBackStack(FiberStack stack) {
  std::lock_guard lock(pool().mutex);
  pool().stacks.push_back(stack);
}

/// The fiber that main() begins with.
thread_local Fiber *starting = nullptr;

} // namespace

#ifdef __x86_64__

extern "C" void coilEmulationSwitch(void **save, void *load);

// Saves what a called function must preserve, and returns on the other stack.
asm(R"(
.pushsection .text
.p2align 4
.globl coilEmulationSwitch
.hidden coilEmulationSwitch
.type coilEmulationSwitch, @function
coilEmulationSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size coilEmulationSwitch, . - coilEmulationSwitch
.popsection
)");

namespace {

void switchContext(void **save, void *load) { coilEmulationSwitch(save, load); }

/// A context that begins in `main`, as coilEmulationSwitch() leaves one.
void *newContext(std::byte *bottom, void (*main)()) {
  auto *top = reinterpret_cast<std::uintptr_t *>(bottom + stackBytes);
  *--top = 0; // main's return address: none
  *--top = reinterpret_cast<std::uintptr_t>(main);
  for (int i = 0; i < 6; ++i)
    *--top = 0;
  return top;
}

} // namespace

#else

namespace {

// A context lies on the stack that it is of.
void switchContext(void **save, void *load) {
  ucontext_t own;
  *save = &own;
  swapcontext(&own, static_cast<ucontext_t *>(load));
}

void *newContext(std::byte *bottom, void (*main)()) {
  auto *context = new (bottom) ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = bottom + sizeof(ucontext_t);
  context->uc_stack.ss_size = stackBytes - sizeof(ucontext_t);
  context->uc_link = nullptr;
  makecontext(context, main, 0);
  return context;
}

} // namespace

#endif

Fiber::Fiber() : stack(takeStack()) {}

Fiber::~Fiber() {
  if (!hasStack())
    return;
  if (!hasEnded) {
    sanitizers::unpoison(stack.bottom, stackBytes);
    sanitizers::destroyFiber(stack.threadSanitizerFiber);
    stack.threadSanitizerFiber = sanitizers::createFiber();
  }
  giveBackStack(stack);
}

void Fiber::prepare(void (*function)(void *), void *value) {
  entry = function;
  argument = value;
  ownStackPointer = newContext(stack.bottom, &Fiber::main);
}

void Fiber::resume() {
  if (hasEnded) {
    hasEnded = false;
    starting = this;
  }
  resumerFiber = sanitizers::currentFiber();
  sanitizers::startSwitch(&resumerFakeStack, stack.bottom, stackBytes);
  sanitizers::switchToFiber(stack.threadSanitizerFiber);
  switchContext(&resumerStackPointer, ownStackPointer);
  sanitizers::finishSwitch(resumerFakeStack, nullptr, nullptr);
}

void Fiber::suspend() {
  sanitizers::startSwitch(&ownFakeStack, resumerStackBottom, resumerStackBytes);
  sanitizers::switchToFiber(resumerFiber);
  switchContext(&ownStackPointer, resumerStackPointer);
  sanitizers::finishSwitch(ownFakeStack, &resumerStackBottom, &resumerStackBytes);
}

void Fiber::main() {
  Fiber *self = starting;
  sanitizers::finishSwitch(nullptr, &self->resumerStackBottom, &self->resumerStackBytes);
  self->entry(self->argument);
  self->hasEnded = true;
  sanitizers::startSwitch(nullptr, self->resumerStackBottom, self->resumerStackBytes);
  sanitizers::switchToFiber(self->resumerFiber);
  switchContext(&self->ownStackPointer, self->resumerStackPointer);
}

} // namespace coil::emulation
