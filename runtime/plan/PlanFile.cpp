//===- PlanFile.cpp - Reading plan files ----------------------------------===//

#include "runtime/plan/PlanFile.h"

#include "runtime/plan/plan_generated.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace coil {

namespace {

constexpr std::string_view magic = "COILPLAN";
/// FlatBuffers' offsets are 31 bits.
constexpr uint64_t maxPayloadSize = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return Status::error(StatusCode::InvalidPlan, format, std::forward<Args>(args)...);
}

template <typename Int> Int loadLittleEndian(const uint8_t *bytes) {
  Int value = 0;
  for (size_t i = 0; i < sizeof(Int); ++i)
    value |= static_cast<Int>(bytes[i]) << (8 * i);
  return value;
}

template <typename Int> void storeLittleEndian(Int value, uint8_t *bytes) {
  for (size_t i = 0; i < sizeof(Int); ++i)
    bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

/// Bytes that may be anything, as they can be shown in a message.
std::string quoted(std::span<const uint8_t> bytes) {
  std::string text = "\"";
  for (uint8_t byte : bytes) {
    if (byte == '"' || byte == '\\')
      text += '\\';
    if (byte >= 0x20 && byte < 0x7f)
      text += static_cast<char>(byte);
    else
      text += fmt::format("\\x{:02x}", byte);
  }
  return text + '"';
}

/// Reads the header at the start of `bytes` and checks all that needs no payload.
Result<PlanFileHeader> readHeader(std::span<const uint8_t> bytes) {
  if (bytes.empty())
    return invalid("not a plan: the file is empty");
  auto found = bytes.first(std::min(bytes.size(), magic.size()));
  if (!std::equal(found.begin(), found.end(), magic.begin()))
    return invalid("not a plan: expected the magic \"{}\", found {}", magic, quoted(found));
  if (bytes.size() < sizeof(PlanFileHeader))
    return invalid("the file ends early: expected a header of {} bytes, found {}",
                   sizeof(PlanFileHeader), bytes.size());

  PlanFileHeader header;
  std::copy(found.begin(), found.end(), header.magic);
  header.formatVersion =
      loadLittleEndian<uint32_t>(&bytes[offsetof(PlanFileHeader, formatVersion)]);
  header.reserved = loadLittleEndian<uint32_t>(&bytes[offsetof(PlanFileHeader, reserved)]);
  header.payloadSize = loadLittleEndian<uint64_t>(&bytes[offsetof(PlanFileHeader, payloadSize)]);
  header.checksum = loadLittleEndian<uint64_t>(&bytes[offsetof(PlanFileHeader, checksum)]);
  if (header.formatVersion != planFormatVersion)
    return invalid("a plan of format version {}: this build reads version {}", header.formatVersion,
                   planFormatVersion);
  if (header.reserved != 0)
    return invalid("damaged plan: expected 0 in the header's reserved field, found {}",
                   header.reserved);
  if (header.payloadSize > maxPayloadSize)
    return invalid("damaged plan: expected at most {} bytes after the header, found a size of {}",
                   maxPayloadSize, header.payloadSize);
  return header;
}

/// Turns a verified FlatBuffer into a Plan.
///
/// The verifier lets many offsets meet in one vector, so that a small file could
/// stand for a huge plan. Vectors and strings are therefore counted against the
/// payload's size, which a file that stores each once never exceeds.
class PlanConverter {
public:
  explicit PlanConverter(size_t payloadSize) : bytesLeft(payloadSize) {}

  Result<Plan> convert(const planfb::Plan &from) {
    Plan plan;
    convert(from.name(), plan.name);
    plan.collective = static_cast<Collective>(from.collective());
    plan.ranks = from.ranks();
    plan.chunks = from.chunks();
    convert(from.producer(), plan.producer);
    convert(from.variants(), plan.variants);
    convert(from.locations(), plan.locations);
    if (from.contract())
      convert(*from.contract(), plan.contract);
    if (from.protocol() != planfb::Protocol::Any)
      plan.protocol = static_cast<MessageProtocol>(static_cast<uint8_t>(from.protocol()) - 1);
    if (overdrawn)
      return invalid("damaged plan: its parts overlap, so that they hold more than its payload");
    return plan;
  }

private:
  bool take(size_t bytes) {
    overdrawn |= bytes > bytesLeft;
    if (!overdrawn)
      bytesLeft -= bytes;
    return !overdrawn;
  }

  template <typename From, typename To>
  void convert(const flatbuffers::Vector<From> *from, std::vector<To> &to) {
    if (!from || !take(from->size() * flatbuffers::IndirectHelper<From>::element_stride))
      return;
    to.resize(from->size());
    for (flatbuffers::uoffset_t i = 0; i < from->size() && !overdrawn; ++i)
      convert(from->Get(i), to[i]);
  }

  void convert(const flatbuffers::String *from, std::string &to) {
    if (from && take(from->size()))
      to = from->str();
  }

  void convert(uint32_t from, uint32_t &to) { to = from; }

  static PlanOperand convert(const planfb::Operand &from) {
    return {static_cast<OperandKind>(from.kind()), from.rank(), from.index()};
  }

  void convert(const planfb::Operand *from, PlanOperand &to) { to = convert(*from); }

  void convert(const planfb::Op *from, PlanOp &to) {
    to = {static_cast<OpKind>(from->kind()),
          from->complete(),
          from->length(),
          convert(from->destination()),
          from->first_operand(),
          from->operand_count(),
          from->channel(),
          from->location()};
  }

  void convert(const planfb::Digit *from, SymmetryDigit &to) {
    to = {from->weight(), from->radix(), from->chunk_weight()};
  }

  void convert(const planfb::Channel *from, PlanChannel &to) {
    to = {from->source_rank(),
          from->source_worker(),
          from->destination_rank(),
          from->destination_worker(),
          static_cast<Transport>(from->transport()),
          from->slots()};
  }

  void convert(const planfb::Worker *from, PlanWorker &to) {
    convert(from->prologue(), to.prologue);
    convert(from->body(), to.body);
    convert(from->epilogue(), to.epilogue);
    convert(from->operands(), to.operands);
  }

  void convert(const planfb::Program *from, PlanProgram &to) {
    convert(from->workers(), to.workers);
  }

  void convert(const planfb::Variant *from, PlanVariant &to) {
    to.root = from->root();
    to.inPlace = from->in_place();
    to.transport = static_cast<Transport>(from->transport());
    convert(from->channels(), to.channels);
    convert(from->programs(), to.programs);
    convert(from->program_of_kind(), to.programOfKind);
    convert(from->scratch_chunks(), to.scratchChunks);
    convert(from->symmetry(), to.digits);
  }

  void convert(const planfb::ContractPromise *from, OwnContract::Promise &to) {
    to = {from->rank(), from->segment(), from->first_source(), from->source_count()};
  }

  void convert(const planfb::ContractSource *from, OwnContract::Source &to) {
    to = {from->rank(), from->segment()};
  }

  void convert(const planfb::Contract &from, OwnContract &to) {
    to.inputSegments = from.input_segments();
    to.outputSegments = from.output_segments();
    convert(from.promises(), to.promises);
    convert(from.sources(), to.sources);
  }

  void convert(const planfb::Location *from, PlanLocation &to) {
    convert(from->file(), to.file);
    to.line = from->line();
    to.column = from->column();
  }

  size_t bytesLeft;
  bool overdrawn = false;
};

Result<Plan> readPayload(std::span<const uint8_t> payload) {
  // FlatBuffers reads scalars in place, so they must be aligned.
  std::vector<uint64_t> aligned((payload.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  if (!payload.empty())
    std::memcpy(aligned.data(), payload.data(), payload.size());

  flatbuffers::Verifier::Options options;
  options.max_depth = 8; // Plan, Variant, Program, Worker, and room to grow
  // A table and the offset that leads to it take 8 bytes at least.
  options.max_tables = static_cast<flatbuffers::uoffset_t>(payload.size() / 8);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(aligned.data()), payload.size(),
                                 options);
  if (!planfb::VerifyPlanBuffer(verifier))
    return invalid("damaged plan: its payload is not a well-formed FlatBuffer of a plan");
  return PlanConverter(payload.size()).convert(*planfb::GetPlan(aligned.data()));
}

/// Appends up to `size` bytes from the stream; fewer only at its end. Memory
/// grows with what arrives, not with what a header promises.
Status appendFromStream(std::FILE *stream, uint64_t size, std::vector<uint8_t> &bytes) {
  constexpr uint64_t step = 1 << 20;
  while (size > 0) {
    size_t old = bytes.size(), wanted = std::min(size, step);
    bytes.resize(old + wanted);
    errno = 0;
    size_t got = std::fread(&bytes[old], 1, wanted, stream);
    bytes.resize(old + got);
    if (got < wanted)
      return std::ferror(stream) ? Status::system(errno, "cannot read") : Status::ok();
    size -= got;
  }
  return Status::ok();
}

} // namespace

uint64_t planChecksum(std::span<const uint8_t> payload) {
  constexpr uint64_t basis = 0xcbf29ce484222325, prime = 0x100000001b3;
  uint64_t hash = (basis ^ payload.size()) * prime;
  auto add = [&hash](uint64_t word) {
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;
  };
  while (payload.size() >= sizeof(uint64_t)) {
    add(loadLittleEndian<uint64_t>(payload.data()));
    payload = payload.subspan(sizeof(uint64_t));
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < payload.size(); ++i)
    tail |= static_cast<uint64_t>(payload[i]) << (8 * i);
  add(tail);
  // The finishing mix of MurmurHash3.
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

std::vector<uint8_t> wrapPlan(std::span<const uint8_t> flatBuffer) {
  std::vector<uint8_t> bytes(sizeof(PlanFileHeader));
  std::copy(magic.begin(), magic.end(), bytes.begin());
  storeLittleEndian(planFormatVersion, &bytes[offsetof(PlanFileHeader, formatVersion)]);
  storeLittleEndian<uint64_t>(flatBuffer.size(), &bytes[offsetof(PlanFileHeader, payloadSize)]);
  storeLittleEndian(planChecksum(flatBuffer), &bytes[offsetof(PlanFileHeader, checksum)]);
  bytes.insert(bytes.end(), flatBuffer.begin(), flatBuffer.end());
  return bytes;
}

Result<Plan> readPlan(std::span<const uint8_t> bytes) {
  COIL_ASSIGN_OR_RETURN(PlanFileHeader header, readHeader(bytes));
  std::span<const uint8_t> payload = bytes.subspan(sizeof(PlanFileHeader));
  if (payload.size() < header.payloadSize)
    return invalid("the file ends early: expected {} bytes after the header, found {}",
                   header.payloadSize, payload.size());
  if (payload.size() > header.payloadSize)
    return invalid("the file goes on after the plan's {} bytes",
                   sizeof(PlanFileHeader) + header.payloadSize);
  uint64_t checksum = planChecksum(payload);
  if (checksum != header.checksum)
    return invalid("damaged plan: expected the checksum {:#018x}, found {:#018x}", header.checksum,
                   checksum);

  COIL_ASSIGN_OR_RETURN(Plan plan, readPayload(payload));
  COIL_RETURN_IF_ERROR(validatePlan(plan));
  plan.digest = checksum;
  return plan;
}

Result<Plan> readPlan(std::FILE *stream) {
  std::vector<uint8_t> bytes;
  COIL_RETURN_IF_ERROR(appendFromStream(stream, sizeof(PlanFileHeader), bytes));
  COIL_ASSIGN_OR_RETURN(PlanFileHeader header, readHeader(bytes));
  COIL_RETURN_IF_ERROR(appendFromStream(stream, header.payloadSize + 1, bytes));
  return readPlan(bytes);
}

Result<Plan> readPlanFile(const std::string &path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rbe"),
                                                        &std::fclose);
  if (!file)
    return Status::system(errno, "{}: cannot open", path);
  Result<Plan> plan = readPlan(file.get());
  if (!plan.isOk())
    return std::move(plan).status().withContext(path);
  return plan;
}

} // namespace coil
