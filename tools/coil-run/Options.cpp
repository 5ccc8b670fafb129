//===- Options.cpp - coil-run's command line ------------------------------===//

#include "tools/coil-run/Options.h"

#include "tools/coil-run/Sizes.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>

namespace coil::run {

const char *nameOf(MemoryKind kind) {
  return kind == MemoryKind::Registered ? "registered" : "plain";
}

const char *nameOf(Target target) {
  switch (target) {
  case Target::Cuda:
    return "cuda";
  case Target::CudaEmulated:
    return "cuda-emulated";
  default:
    return "cpu";
  }
}

namespace {

constexpr const char *description =
    "Runs a collective on processes of this machine, checks it and times it.\n"
    "FILE is a program (.coil), which is compiled in memory, or a plan that coilc wrote.";

constexpr const char *footer =
    R"(Sizes are a list of SIZE, FROM:TO (doubling), FROM:TO:xFACTOR and FROM:TO:+STEP, where K,
M and G count in 1024s. As in nccl-tests, a size is that of the whole vector: the larger
of a rank's two buffers, such as what all-gather gathers in total.

Examples:
  coil-run examples/allreduce/ring.coil -n 4 --bytes 64M --check
  coil-run ring.plan --bytes 1K:64M:x4 --type f16,bf16 --op sum,avg --check
  coil-run ring.coil -n 4 --count 0:17:+1 --type all --op all --check --quiet
  coil-run chain.coil -n 3 -b 1M --root all --memory both --json rows.json
  coilc ring.coil --ranks 2 -o - | coil-run - -b 8:64K
  coil-run ring.coil -n 8 --target cuda --check
  coil-run ring.coil -n 4 --target cuda --ranks-per-gpu 4 --check
  coil-run ring.coil -n 3 --target cuda-emulated --ranks-per-gpu 3 -b 4K --check

--target cuda generates a CUDA kernel from the plan, compiles it with NVRTC for the GPU at
hand and runs rank r on GPU r / ranks-per-gpu. --target cuda-emulated runs the same kernel
text on the host, by a stand-in for CUDA that compiles it with the C++ compiler of this
machine: to test plans and kernels where there is no GPU, not to time them.

The columns are those of nccl-tests: time is the slowest rank's mean over the iterations;
algbw is size / time; busbw is algbw times 2 (n - 1) / n for allreduce, (n - 1) / n for
allgather, reduce_scatter, gather, scatter and alltoall, 1 for broadcast, reduce and sendrecv;
#wrong counts the elements, over all ranks, that were not what they should be. Of a rooted
collective, only the root is in place: the others give no address of what they do not have.

With --check, one more call with fresh data follows the timed ones. Its result is computed
anew from the inputs and compared on every rank; send buffers must be unchanged, and the
64 bytes before and after the receive buffer untouched. Exact data makes every partial
result an exact value, so that results must be equal bit for bit in any order of
combination. Random data rounds: sums and products of floats are compared within
((1 + u)^k - 1) * m + k * s, where u is the type's unit roundoff, k the number of
roundings (ranks, one more for avg and premulsum), m the sum of the operands' magnitudes
and s the smallest subnormal.

Exit status: 0 if all is well, 1 if a rank failed or an element was wrong, 2 for a wrong
command line, 128 + n if ended by signal n.)";

/// The command line's words, before they are understood.
struct Words {
  std::string bytes = "1K:64M:x4", count, types = "f32", ops, root, memory = "registered",
              data = "exact", offset = "0", timeout = "30", scalar, slotBytes, directBytes,
              target = "cpu", protocol = "auto", llBytes;
  int64_t ranks = 0, iterations = 0, warmup = 0;
  bool outOfPlace = false, inPlace = false;
};

std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> items;
  for (size_t begin = 0;;) {
    size_t comma = text.find(',', begin);
    items.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos)
      return items;
    begin = comma + 1;
  }
}

/// A comma-separated list of names, or "all"; repetitions are dropped.
template <typename Enum, typename Parse>
Result<std::vector<Enum>> parseNames(const std::string &text, int number, Parse parse) {
  std::vector<std::string_view> names;
  std::vector<Enum> values, all;
  for (int i = 0; i < number; ++i) {
    all.push_back(static_cast<Enum>(i));
    names.push_back(nameOf(all.back()));
  }
  if (text == "all")
    return all;
  for (const std::string &item : splitList(text)) {
    std::optional<Enum> value = parse(item);
    if (!value)
      return Status::error(StatusCode::InvalidArgument, "expected all or a list of {}, found '{}'",
                           fmt::join(names, ", "), item);
    if (std::find(values.begin(), values.end(), *value) == values.end())
      values.push_back(*value);
  }
  return values;
}

Result<double> parseNumber(const std::string &text) {
  double value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return Status::error(StatusCode::InvalidArgument, "expected a number, found '{}'", text);
  return value;
}

Status readSizes(const Words &words, Options &options) {
  options.sizesAreCounts = !words.count.empty();
  for (const std::string &item : splitList(options.sizesAreCounts ? words.count : words.bytes)) {
    auto sizes = parseSizes(item);
    if (!sizes.isOk())
      return std::move(sizes).status().withContext(
          (options.sizesAreCounts ? "--count " : "--bytes ") + item);
    options.sizes.insert(options.sizes.end(), sizes->begin(), sizes->end());
  }
  return Status::ok();
}

Status readNames(const Words &words, Options &options) {
  auto types = parseNames<DataType>(words.types, numDataTypes, parseDataType);
  if (!types.isOk())
    return std::move(types).status().withContext("--type");
  options.types = *std::move(types);
  if (!words.ops.empty()) {
    auto ops = parseNames<ReduceOp>(words.ops, numReduceOps, parseReduceOp);
    if (!ops.isOk())
      return std::move(ops).status().withContext("--op");
    options.ops = *std::move(ops);
  }
  if (words.memory != "plain")
    options.memory.push_back(MemoryKind::Registered);
  if (words.memory != "registered")
    options.memory.push_back(MemoryKind::Plain);
  options.data = words.data == "exact" ? DataKind::Exact : DataKind::Random;
  return Status::ok();
}

Status readRoot(const Words &words, Options &options) {
  options.allRoots = words.root == "all";
  if (words.root.empty() || options.allRoots)
    return Status::ok();
  int root = 0;
  const char *end = words.root.data() + words.root.size();
  auto [stop, failure] = std::from_chars(words.root.data(), end, root);
  if (failure != std::errc() || stop != end || root < 0)
    return Status::error(StatusCode::InvalidArgument, "--root: expected all or a rank, found '{}'",
                         words.root);
  options.root = root;
  return Status::ok();
}

Status readScalar(const Words &words, Options &options) {
  if (words.scalar.empty())
    return Status::ok();
  if (std::find(options.ops.begin(), options.ops.end(), ReduceOp::PreMulSum) == options.ops.end())
    return Status::error(StatusCode::InvalidArgument,
                         "--scalar: expected --op premulsum, which it is for");
  auto scalar = parseNumber(words.scalar);
  if (!scalar.isOk())
    return std::move(scalar).status().withContext("--scalar");
  for (DataType type : options.types)
    if (Status valid = validateScalar(*scalar, type, options.data); !valid.isOk())
      return std::move(valid).withContext("--scalar");
  options.scalar = *scalar;
  return Status::ok();
}

Status readTuning(const Words &words, Options &options) {
  auto offset = parseSize(words.offset);
  if (!offset.isOk())
    return std::move(offset).status().withContext("--offset");
  if (*offset > 4096)
    return Status::error(StatusCode::InvalidArgument, "--offset: expected at most 4096, found {}",
                         *offset);
  options.offset = *offset;

  auto seconds = parseNumber(words.timeout);
  if (!seconds.isOk())
    return std::move(seconds).status().withContext("--timeout");
  if (*seconds < 0 || *seconds > 1e9)
    return Status::error(StatusCode::InvalidArgument,
                         "--timeout: expected 0 to 1e9 seconds, found {}", words.timeout);
  options.timeoutMs = static_cast<uint64_t>(std::ceil(*seconds * 1000));

  auto optionalSize = [](const char *name, const std::string &text,
                         std::optional<uint64_t> &target) {
    if (text.empty())
      return Status::ok();
    auto size = parseSize(text);
    if (!size.isOk())
      return std::move(size).status().withContext(name);
    target = *size;
    return Status::ok();
  };
  COIL_RETURN_IF_ERROR(optionalSize("--slot-bytes", words.slotBytes, options.slotBytes));
  COIL_RETURN_IF_ERROR(optionalSize("--ll-bytes", words.llBytes, options.llBytes));
  return optionalSize("--direct-bytes", words.directBytes, options.directBytes);
}

constexpr std::array protocolNames{"auto", "simple", "ll", "ll128"};
constexpr std::array targets{Target::Cpu, Target::Cuda, Target::CudaEmulated};

void readTarget(const Words &words, Options &options) {
  for (Target target : targets)
    if (words.target == nameOf(target))
      options.target = target;
  auto protocol = std::find(protocolNames.begin(), protocolNames.end(), words.protocol);
  options.protocol = static_cast<coilProtocol_t>(protocol - protocolNames.begin());
}

} // namespace

Result<CommandLine> parseCommandLine(int argc, const char *const *argv) {
  CLI::App app(description, "coil-run");
  app.footer(footer);
  app.set_version_flag("--version", fmt::format("coil-run {}.{}.{}", COIL_VERSION_MAJOR,
                                                COIL_VERSION_MINOR, COIL_VERSION_PATCH));
  Options options;
  Words words;

  app.add_option("FILE", options.file, "Program or plan; - is standard input")->required();
  CLI::Option *ranks =
      app.add_option("-n,--ranks", words.ranks, "Ranks to run; a plan knows its own")
          ->check(CLI::Range(1, mostRanks));
  app.add_option("--algorithm", options.algorithm, "Which algorithm of a program with several");

  app.add_option("--nodes", options.nodes, "Nodes that a program's ranks are said to lie on")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{mostRanks}));
  app.add_option("--param", options.parameters,
                 "Value of a program's parameter, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);

  app.add_option("-I,--import-folder", options.importFolders,
                 "Folder where a program's imports are looked for; may be repeated")
      ->allow_extra_args(false);

  CLI::Option_group *what = app.add_option_group("What to run");
  CLI::Option *bytes =
      what->add_option("-b,--bytes", words.bytes, "List of sizes and ranges of sizes")
          ->capture_default_str();
  what->add_option("--count", words.count, "Elements, as the call takes them, instead of bytes")
      ->excludes(bytes);
  what->add_option("-t,--type", words.types, "List of element types, or all")
      ->capture_default_str();
  what->add_option("-o,--op", words.ops, "List of operators, or all [sum]");
  what->add_option("--root", words.root, "Root rank, or all [the plan's first]");
  what->add_option("--scalar", words.scalar,
                   "Every rank's scalar for premulsum [2 on even ranks, 1 on odd ones]");
  what->add_flag("--out-of-place", words.outOfPlace, "Only out of place");
  what->add_flag("--in-place", words.inPlace, "Only in place");
  what->add_option("--memory", words.memory, "registered, plain or both")
      ->capture_default_str()
      ->check(CLI::IsMember({"registered", "plain", "both"}));
  what->add_option("--offset", words.offset, "Bytes to move buffers off their alignment")
      ->capture_default_str();

  CLI::Option_group *how = app.add_option_group("How to time and check");
  how->add_flag("-c,--check,!--no-check", options.check, "Check every element on every rank");
  how->add_option("--data", words.data, "exact or random, see below")
      ->capture_default_str()
      ->check(CLI::IsMember({"exact", "random"}));
  how->add_option("-i,--iterations,--iters", words.iterations,
                  "Timed calls a row [by size and time]")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  CLI::Option *warmup = how->add_option("-w,--warmup", words.warmup,
                                        "Calls before the timed ones [a tenth, at most 50]")
                            ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));

  CLI::Option_group *where = app.add_option_group("Ranks and runtime");
  where->add_flag("--threads", options.threads, "Run the ranks as threads of one process");
  where->add_flag("--bind,!--no-bind", options.bind,
                  "Pin each rank to a core if there are enough [on]");
  where->add_option("--timeout", words.timeout, "Seconds to wait for a rank; 0 is for ever")
      ->capture_default_str();
  where->add_option("--slot-bytes", words.slotBytes, "Bytes of a channel's slot");
  where->add_option("--direct-bytes", words.directBytes,
                    "From this size on registered buffers are accessed directly");

  CLI::Option_group *onGpus = app.add_option_group("GPUs");
  onGpus->add_option("--target", words.target, "Run on: cpu, cuda or cuda-emulated, see below")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda", "cuda-emulated"}));
  onGpus
      ->add_option("--ranks-per-gpu", options.ranksPerGpu,
                   "Ranks that share a GPU, in one process and one launch")
      ->capture_default_str()
      ->check(CLI::Range(1, 16));
  onGpus
      ->add_option("--protocol", words.protocol,
                   "How messages through FIFOs are packed: auto, simple, ll or ll128")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "simple", "ll", "ll128"}));
  onGpus->add_option("--ll-bytes", words.llBytes, "Up to this size auto is ll");
  onGpus->add_option("--instances", options.instances,
                     "Copies of a plan's program, each with its share of the data [by GPU]");
  onGpus->add_option("--threads-per-block", options.threadsPerBlock, "Threads of a block [by GPU]");
  onGpus
      ->add_option("--cubins", options.cubins,
                   "Kernels of this plan that coilc --cubin compiled, and that you trust as you "
                   "trust a program; what they lack is compiled")
      ->type_name("FILE");

  CLI::Option_group *output = app.add_option_group("Output");
  CLI::Option *json =
      output
          ->add_option("--json", options.jsonPath,
                       "Write the results as JSON to this file, or in place of the table")
          ->expected(0, 1);
  output->add_flag("-q,--quiet", options.quiet, "Print nothing but errors");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    return CommandLine{std::nullopt, app.help()};
  } catch (const CLI::CallForVersion &version) {
    return CommandLine{std::nullopt, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError &error) {
    return Status(StatusCode::InvalidArgument, error.what());
  }

  if (json->count() > 0 && options.jsonPath.empty())
    options.jsonPath = "-";
  if (ranks->count() > 0)
    options.ranks = static_cast<int>(words.ranks);
  options.iterations = static_cast<uint64_t>(words.iterations);
  if (warmup->count() > 0)
    options.warmup = static_cast<uint64_t>(words.warmup);
  options.placeChosen = words.outOfPlace || words.inPlace;
  if (options.placeChosen) {
    options.outOfPlace = words.outOfPlace;
    options.inPlace = words.inPlace;
  }
  readTarget(words, options);
  COIL_RETURN_IF_ERROR(readSizes(words, options));
  COIL_RETURN_IF_ERROR(readNames(words, options));
  COIL_RETURN_IF_ERROR(readRoot(words, options));
  COIL_RETURN_IF_ERROR(readScalar(words, options));
  COIL_RETURN_IF_ERROR(readTuning(words, options));
  return CommandLine{std::move(options), {}};
}

} // namespace coil::run
