//===- ProxyTest.cpp - The thread that carries out requests ---------------===//

#include "runtime/executor/cuda/Proxy.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <vector>

namespace coil::test {
namespace {

using namespace cuda;
using namespace std::chrono_literals;
using device::ProxyEntry;
using device::ProxyKind;
using device::ProxyRequest;
using device::ProxySide;
using testing::HasSubstr;

/// Keeps what it is given, and completes as much of it as it is told to.
class FakeTransport : public ProxyTransport {
public:
  Status submit(const ProxyRequest &request) override {
    std::lock_guard lock(mutex);
    if (requests.size() + 1 == failsAt)
      return Status::error(StatusCode::SystemError, "end {} has no network", request.end);
    requests.push_back(request);
    return Status::ok();
  }
  Result<uint64_t> poll() override {
    std::lock_guard lock(mutex);
    if (pollFails)
      return Status::error(StatusCode::RemoteError, "the network is down");
    if (claim)
      return *claim;
    return std::min<uint64_t>(requests.size(), allowed);
  }

  void allow(uint64_t count) {
    std::lock_guard lock(mutex);
    allowed = count;
  }
  size_t submitted() {
    std::lock_guard lock(mutex);
    return requests.size();
  }

  std::mutex mutex;
  std::vector<ProxyRequest> requests;
  uint64_t allowed = ~uint64_t{0};
  size_t failsAt = 0; ///< number of the request; 0: none
  bool pollFails = false;
  std::optional<uint64_t> claim; ///< what poll() says instead
};

/// Waits for what another thread brings about; false if that takes too long.
template <typename Condition> bool comesTrue(Condition condition) {
  auto end = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

/// A queue with a producer that does as ProxyQueue.h does.
class Host {
public:
  explicit Host(size_t capacity) : entries(capacity) {}

  Result<std::unique_ptr<Proxy>> start() {
    return Proxy::start({entries, &doneWord}, transport, [this](Status status) {
      std::lock_guard lock(mutex);
      failures.push_back(std::string(statusCodeName(status.code())) + ": " + status.message());
    });
  }

  bool hasRoom() { return number < entries.size() + done(); }
  void push(ProxyRequest request) {
    ++number;
    ProxyEntry packed = device::packRequest(request, number, entries.size());
    ProxyEntry &entry = entries[(number - 1) % entries.size()];
    std::atomic_ref(entry.first).store(packed.first, std::memory_order_relaxed);
    std::atomic_ref(entry.second).store(packed.second, std::memory_order_release);
  }
  uint64_t done() { return std::atomic_ref(doneWord).load(std::memory_order_acquire); }
  std::vector<std::string> failed() {
    std::lock_guard lock(mutex);
    return failures;
  }

  std::vector<ProxyEntry> entries;
  device::u64 doneWord = 0;
  uint64_t number = 0;
  FakeTransport transport;

private:
  std::mutex mutex;
  std::vector<std::string> failures;
};

ProxyRequest requestOf(uint32_t number) {
  return {static_cast<ProxyKind>(number % device::numProxyKinds),
          number % 3 == 0 ? ProxySide::Receiving : ProxySide::Sending, number, number % 5,
          uint64_t{number} * 1000};
}

TEST(ProxyTest, CarriesOutAllRequestsInOrder) {
  for (size_t capacity : {1, 2, 16}) {
    SCOPED_TRACE(capacity);
    Host host(capacity);
    Result<std::unique_ptr<Proxy>> proxy = host.start();
    ASSERT_TRUE(proxy.isOk()) << proxy.status().message();
    constexpr uint32_t count = 500;
    for (uint32_t i = 0; i < count; ++i) {
      if (i == count / 2) // long enough to fall asleep
        std::this_thread::sleep_for(5ms);
      ASSERT_TRUE(comesTrue([&] { return host.hasRoom(); }));
      host.push(requestOf(i));
    }
    ASSERT_TRUE(comesTrue([&] { return host.done() == count; }));
    proxy->reset();
    ASSERT_EQ(host.transport.requests.size(), count);
    for (uint32_t i = 0; i < count; ++i) {
      const ProxyRequest &found = host.transport.requests[i], expected = requestOf(i);
      EXPECT_EQ(found.kind, expected.kind) << i;
      EXPECT_EQ(found.side, expected.side) << i;
      EXPECT_EQ(found.end, expected.end) << i;
      EXPECT_EQ(found.slot, expected.slot) << i;
      EXPECT_EQ(found.bytes, expected.bytes) << i;
    }
    EXPECT_TRUE(host.failed().empty());
  }
}

TEST(ProxyTest, CompletesWhatTheTransportHasCompleted) {
  Host host(4);
  host.transport.allow(1);
  Result<std::unique_ptr<Proxy>> proxy = host.start();
  ASSERT_TRUE(proxy.isOk());
  for (uint32_t i = 0; i < 3; ++i)
    host.push(requestOf(i));
  ASSERT_TRUE(comesTrue([&] { return host.transport.submitted() == 3; }));
  ASSERT_TRUE(comesTrue([&] { return host.done() == 1; }));
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(host.done(), 1u);
  host.transport.allow(3);
  EXPECT_TRUE(comesTrue([&] { return host.done() == 3; }));
}

TEST(ProxyTest, StopsWhileTheQueueIsFull) {
  Host host(4);
  host.transport.allow(0);
  Result<std::unique_ptr<Proxy>> proxy = host.start();
  ASSERT_TRUE(proxy.isOk());
  for (uint32_t i = 0; host.hasRoom(); ++i)
    host.push(requestOf(i));
  ASSERT_TRUE(comesTrue([&] { return host.transport.submitted() == 4; }));
  proxy->reset();
  EXPECT_EQ(host.done(), 0u);
  EXPECT_EQ(host.transport.submitted(), 4u) << "nothing is taken twice";
  EXPECT_TRUE(host.failed().empty());
}

TEST(ProxyTest, TellsWhyARequestCannotBegin) {
  Host host(8);
  host.transport.failsAt = 3;
  Result<std::unique_ptr<Proxy>> proxy = host.start();
  ASSERT_TRUE(proxy.isOk());
  for (uint32_t i = 0; i < 5; ++i)
    host.push(requestOf(i));
  ASSERT_TRUE(comesTrue([&] { return !host.failed().empty(); }));
  std::this_thread::sleep_for(2ms);
  EXPECT_THAT(host.failed(), testing::ElementsAre("system error: end 2 has no network"));
  EXPECT_EQ(host.transport.submitted(), 2u);
}

TEST(ProxyTest, TellsWhatGoesWrongOnTheWay) {
  Host host(8);
  host.transport.pollFails = true;
  Result<std::unique_ptr<Proxy>> proxy = host.start();
  ASSERT_TRUE(proxy.isOk());
  host.push(requestOf(0));
  ASSERT_TRUE(comesTrue([&] { return !host.failed().empty(); }));
  EXPECT_THAT(host.failed(), testing::ElementsAre(HasSubstr("the network is down")));
  EXPECT_EQ(host.done(), 0u);
}

TEST(ProxyTest, DoesNotBelieveATransportThatCompletesTooMuch) {
  Host host(8);
  host.transport.claim = 2;
  Result<std::unique_ptr<Proxy>> proxy = host.start();
  ASSERT_TRUE(proxy.isOk());
  host.push(requestOf(0));
  ASSERT_TRUE(comesTrue([&] { return !host.failed().empty(); }));
  EXPECT_THAT(host.failed(),
              testing::ElementsAre(HasSubstr("expected from 0 to 1 completed requests")));
  EXPECT_EQ(host.done(), 0u);
}

TEST(ProxyTest, RefusesARequestOfNoKind) {
  Host host(8);
  Result<std::unique_ptr<Proxy>> proxy = host.start();
  ASSERT_TRUE(proxy.isOk());
  host.push({static_cast<ProxyKind>(9), ProxySide::Sending, 0, 0, 0});
  ASSERT_TRUE(comesTrue([&] { return !host.failed().empty(); }));
  EXPECT_THAT(host.failed(), testing::ElementsAre(HasSubstr(
                                 "expected a kind below 4 in request 1 to the proxy, found 9")));
  EXPECT_EQ(host.transport.submitted(), 0u);
}

TEST(ProxyTest, RefusesAQueueThatIsNoPowerOfTwo) {
  for (size_t capacity : {0, 3, 12}) {
    Host host(capacity);
    Result<std::unique_ptr<Proxy>> proxy = host.start();
    ASSERT_FALSE(proxy.isOk());
    EXPECT_EQ(proxy.status().code(), StatusCode::InvalidArgument);
  }
}

} // namespace
} // namespace coil::test
