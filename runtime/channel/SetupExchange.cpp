//===- SetupExchange.cpp - What set-up calls exchange ---------------------===//

#include "runtime/channel/SetupExchange.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <unordered_map>

namespace coil {

namespace {

/// The segments that communicators of this process have made, so that ranks that
/// are threads find each other's.
class ProcessSegments {
public:
  static uint64_t add(const std::shared_ptr<SharedSegment> &segment) {
    std::lock_guard lock(mutex);
    std::erase_if(table, [](const auto &entry) { return entry.second.expired(); });
    table.emplace(++lastId, segment);
    return lastId;
  }
  static std::shared_ptr<SharedSegment> find(uint64_t id) {
    std::lock_guard lock(mutex);
    auto found = table.find(id);
    return found == table.end() ? nullptr : found->second.lock();
  }

private:
  static inline std::mutex mutex;
  static inline uint64_t lastId = 0;
  static inline std::unordered_map<uint64_t, std::weak_ptr<SharedSegment>> table;
};

/// Begins every blob of gatherBlobs. The value follows, then the error's text.
struct BlobHeader {
  uint32_t code;
  uint32_t valueSize;
};

Status copyOf(const Status &status) {
  return status.isOk() ? Status::ok() : Status(status.code(), status.message());
}

Result<UniqueFd> duplicate(int fd) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy)
    return Status::system(errno, "cannot duplicate a descriptor of shared memory");
  return copy;
}

} // namespace

bool SetupExchange::isInThisProcess(int rank) const {
  return bootstrap.peer(rank).processCookie == bootstrap.peer(group.rank).processCookie;
}

Result<std::vector<Parcel>> SetupExchange::gatherBlobs(const char *what, const Status &mine,
                                                       Blob blob) {
  BlobHeader header{static_cast<uint32_t>(mine.code()), static_cast<uint32_t>(blob.size)};
  Parcel contribution;
  contribution.fds = std::move(blob.fds);
  std::vector<uint8_t> &bytes = contribution.bytes;
  bytes.resize(sizeof header + blob.size + mine.message().size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (blob.size != 0)
    std::memcpy(bytes.data() + sizeof header, blob.value, blob.size);
  std::copy(mine.message().begin(), mine.message().end(),
            bytes.begin() + static_cast<ptrdiff_t>(sizeof header + blob.size));

  auto poison = [this] {
    return group.control.empty() ? Status::ok() : group.mine().poison.status();
  };
  auto interrupted = [&]() -> Status {
    if (group.control.empty())
      return Status::ok();
    COIL_RETURN_IF_ERROR(poison());
    // Told to all before the exchange's own failure reaches them.
    Status disagreement = group.checkAgreement(sequence);
    return disagreement.isOk() ? Status::ok() : group.fail(std::move(disagreement));
  };
  Result<std::vector<Parcel>> all =
      bootstrap.exchange(what, std::move(contribution), group.timeoutMs, interrupted);
  if (!all.isOk()) {
    // A rank that failed and left says why in the poison.
    COIL_RETURN_IF_ERROR(poison());
    return group.fail(std::move(all).status());
  }

  Status failure;
  for (size_t rank = 0; rank < all->size() && mine.isOk(); ++rank) {
    const std::vector<uint8_t> &theirs = (*all)[rank].bytes;
    BlobHeader theirHeader{};
    if (theirs.size() >= sizeof theirHeader)
      std::memcpy(&theirHeader, theirs.data(), sizeof theirHeader);
    if (theirs.size() < sizeof theirHeader + blob.size || theirHeader.valueSize != blob.size)
      return group.fail(Status::error(StatusCode::InternalError,
                                      "rank {} sent {} bytes in {}, expected at least {}", rank,
                                      theirs.size(), what, sizeof theirHeader + blob.size));
    auto code = static_cast<StatusCode>(theirHeader.code);
    if (code == StatusCode::Ok || !failure.isOk())
      continue;
    auto text = theirs.begin() + static_cast<ptrdiff_t>(sizeof theirHeader + blob.size);
    failure = Status(code, fmt::format("rank {}: {}", rank, std::string(text, theirs.end())));
  }
  if (!mine.isOk())
    return copyOf(mine);
  if (!failure.isOk())
    return failure;
  for (Parcel &each : *all)
    each.bytes.erase(each.bytes.begin(), each.bytes.begin() + sizeof header);
  return all;
}

Status SetupExchange::agree(const char *what, const Status &mine) {
  return gatherBlobs(what, mine, {}).status();
}

Result<std::vector<PeerSegment>> SetupExchange::mapOffers(
    const char *what, const Result<SegmentOffer> &mine,
    const std::function<Result<PeerSegment>(int, const SegmentOffer &, UniqueFd)> &mapOne) {
  SegmentOffer offer;
  std::vector<UniqueFd> fds;
  Status prepared = copyOf(mine.status());
  if (mine.isOk() && mine->base) {
    offer = *mine;
    Result<UniqueFd> copy = duplicate(offer.fd);
    if (copy.isOk())
      fds.push_back(*std::move(copy));
    else
      prepared = std::move(copy).status();
  }
  COIL_ASSIGN_OR_RETURN(std::vector<Parcel> offers,
                        gatherBlobs(what, prepared, {&offer, sizeof offer, std::move(fds)}));

  std::vector<PeerSegment> segments(offers.size());
  Status mapped;
  for (int rank = 0; rank < group.ranks && mapped.isOk(); ++rank) {
    Parcel &theirs = offers[static_cast<size_t>(rank)];
    SegmentOffer theirOffer;
    std::memcpy(&theirOffer, theirs.bytes.data(), sizeof theirOffer);
    if (!theirOffer.base)
      continue;
    UniqueFd fd = theirs.fds.empty() ? UniqueFd() : std::move(theirs.fds.front());
    if (!isInThisProcess(rank) && !fd) {
      mapped = Status::error(StatusCode::InternalError, "no descriptor came from rank {}", rank);
      break;
    }
    Result<PeerSegment> segment = mapOne(rank, theirOffer, std::move(fd));
    if (segment.isOk())
      segments[static_cast<size_t>(rank)] = *std::move(segment);
    else
      mapped = std::move(segment).status().withContext(
          fmt::format("cannot map memory of rank {}", rank));
  }
  // Owners keep what they offered until all have it.
  COIL_RETURN_IF_ERROR(agree(what, mapped));
  return segments;
}

namespace {
Result<PeerSegment> mapForeign(const SegmentOffer &offer, UniqueFd fd) {
  COIL_ASSIGN_OR_RETURN(SharedSegment mapping, SharedSegment::map(std::move(fd), offer.bytes));
  auto holder = std::make_shared<SharedSegment>(std::move(mapping));
  std::byte *data = holder->data();
  return PeerSegment{data, offer.bytes, offer.id, std::move(holder)};
}
} // namespace

Result<std::vector<PeerSegment>> SetupExchange::share(const char *what,
                                                      Result<std::shared_ptr<SharedSegment>> mine) {
  Result<SegmentOffer> offer = SegmentOffer{};
  if (!mine.isOk())
    offer = std::move(mine).status();
  else
    offer =
        SegmentOffer{(*mine)->data(), (*mine)->size(), (*mine)->fd(), ProcessSegments::add(*mine)};
  return mapOffers(
      what, offer,
      [this](int rank, const SegmentOffer &theirs, UniqueFd fd) -> Result<PeerSegment> {
        if (!isInThisProcess(rank))
          return mapForeign(theirs, std::move(fd));
        std::shared_ptr<SharedSegment> holder = ProcessSegments::find(theirs.id);
        if (!holder)
          return Status::error(StatusCode::InternalError, "segment {} is not of this process",
                               theirs.id);
        std::byte *data = holder->data();
        return PeerSegment{data, theirs.bytes, theirs.id, std::move(holder)};
      });
}

Result<std::vector<PeerSegment>>
SetupExchange::shareUserMemory(const char *what, Result<SegmentOffer> mine, const Reuse &reuse) {
  return mapOffers(what, mine,
                   [&](int rank, const SegmentOffer &theirs, UniqueFd fd) -> Result<PeerSegment> {
                     if (isInThisProcess(rank))
                       return PeerSegment{theirs.base, theirs.bytes, theirs.id, nullptr};
                     if (std::shared_ptr<SharedSegment> known = reuse(rank, theirs.id)) {
                       std::byte *data = known->data();
                       return PeerSegment{data, theirs.bytes, theirs.id, std::move(known)};
                     }
                     return mapForeign(theirs, std::move(fd));
                   });
}

} // namespace coil
