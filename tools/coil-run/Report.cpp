//===- Report.cpp - The table and the JSON file ---------------------------===//

#include "tools/coil-run/Report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace coil::run {

namespace {

std::string version() {
  return fmt::format("{}.{}.{}", COIL_VERSION_MAJOR, COIL_VERSION_MINOR, COIL_VERSION_PATCH);
}

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

/// A path or name that must not break a line of comments.
std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

constexpr const char *tableHead =
    "#\n"
    "#                                                              out-of-place"
    "                       in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
    "     time   algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)        "
    "     (us)  (GB/s)  (GB/s)        \n";

std::string redopName(const Job &job, const Row &row) {
  return std::string(combines(job.plan.collective) ? nameOf(row.op) : "none");
}
int rootNumber(const Job &job, const Row &row) {
  return hasRoot(job.plan.collective) ? row.root : -1;
}

} // namespace

double busFactor(Collective collective, int ranks) {
  double share = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
  case Collective::AllReduce:
    return 2 * share;
  case Collective::AllGather:
  case Collective::ReduceScatter:
  case Collective::Gather:
  case Collective::Scatter:
  case Collective::AllToAll:
    return share;
  default:
    return 1;
  }
}

std::string shortNumber(double value, int width) {
  for (int decimals = 2; decimals > 0; --decimals)
    if (std::string text = fmt::format("{:.{}f}", value, decimals);
        text.size() < static_cast<size_t>(width))
      return text;
  return fmt::format("{:.0f}", value);
}

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += '\\', result += c;
    else if (code < 0x20)
      result += fmt::format("\\u{:04x}", code);
    else
      result += c;
  }
  return result + '"';
}

Status Report::open() {
  if (job.options.jsonPath.empty())
    return Status::ok();
  if (job.options.jsonPath == "-") {
    // A copy, which may be closed to learn whether all was written.
    json.reset(fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w"));
    return json ? Status::ok() : jsonError();
  }
  json.reset(std::fopen(job.options.jsonPath.c_str(), "we"));
  return json ? Status::ok() : jsonError();
}

Status Report::jsonError() const {
  return job.options.jsonPath == "-"
             ? Status::system(errno, "cannot write standard output")
             : Status::system(errno, "cannot write '{}'", job.options.jsonPath);
}

void Report::print(const std::string &text) {
  if (job.options.quiet || job.options.jsonPath == "-" || printError != 0)
    return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    printError = errno ? errno : EIO;
}

void Report::printHeader(std::span<const int> pids) {
  const Options &options = job.options;
  std::string text = fmt::format("# coil-run {}  plan {} ({}), {} ranks, {} chunks, {} variants\n",
                                 version(), oneLine(job.plan.name), nameOf(job.plan.collective),
                                 job.ranks, job.plan.chunks, job.plan.variants.size());
  std::string memory = nameOf(options.memory.front());
  if (options.memory.size() > 1)
    memory = "both";
  text +=
      fmt::format("# file {}  memory {}  offset {}  check {}  data {}  timeout {} s  target {}  "
                  "ranks are {}\n#\n# Using ranks\n",
                  oneLine(options.file), memory, options.offset, options.check ? "on" : "off",
                  options.data == DataKind::Exact ? "exact" : "random",
                  static_cast<double>(options.timeoutMs) / 1000, nameOf(options.target),
                  job.ranksPerProcess > 1 ? "threads" : "processes");
  std::string host = oneLine(hostName());
  for (size_t rank = 0; rank < pids.size(); ++rank)
    text += fmt::format("#  Rank {:2} Pid {:6} on {}{}\n", rank, pids[rank], host,
                        job.cores.empty() ? "" : fmt::format(" core {}", job.cores[rank]));
  print(text + tableHead);
}

double Report::bandwidth(const Row &row, const Measurement &measurement) const {
  return measurement.seconds > 0 ? static_cast<double>(row.bytes) / measurement.seconds / 1e9 : 0;
}

std::string Report::columns(const Row &row, const std::optional<Measurement> &measurement) const {
  if (!measurement)
    return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "N/A", "N/A", "N/A", "N/A");
  double algbw = bandwidth(row, *measurement);
  double busbw = algbw * busFactor(job.plan.collective, job.ranks);
  return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", shortNumber(measurement->seconds * 1e6, 7),
                     shortNumber(algbw, 6), shortNumber(busbw, 6),
                     measurement->wrong ? std::to_string(*measurement->wrong) : "N/A");
}

void Report::addRow(size_t index, Board &board) {
  const Row &row = job.rows[index];
  if (job.options.memory.size() > 1 && (index == 0 || job.rows[index - 1].memory != row.memory))
    print(fmt::format("# memory {}\n", nameOf(row.memory)));
  Measurements measurements;
  for (size_t placement = 0; placement < measurements.size(); ++placement) {
    if (!job.runs[placement])
      continue;
    Measurement sum{0, board.outcome(index, placement, 0).iterations, std::nullopt};
    uint64_t wrongHere = 0;
    for (int rank = 0; rank < job.ranks; ++rank) {
      const Outcome &outcome = board.outcome(index, placement, rank);
      sum.seconds = std::max(sum.seconds, outcome.seconds);
      wrongHere += outcome.wrong;
    }
    if (job.options.check)
      sum.wrong = wrongHere;
    wrong += wrongHere;
    measurements[placement] = sum;
  }
  print(fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}{}{}\n", row.bytes, row.count,
                    nameOf(row.type), redopName(job, row), rootNumber(job, row),
                    columns(row, measurements[0]), columns(row, measurements[1])));
  finished.push_back(measurements);
}

double Report::averageBusBandwidth() const {
  double sum = 0;
  size_t number = 0;
  for (size_t i = 0; i < finished.size(); ++i)
    for (const auto &measurement : finished[i])
      if (measurement) {
        sum += bandwidth(job.rows[i], *measurement) * busFactor(job.plan.collective, job.ranks);
        ++number;
      }
  return number == 0 ? 0 : sum / static_cast<double>(number);
}

std::string Report::jsonResult(size_t index, Placement placement,
                               const Measurement &measurement) const {
  const Row &row = job.rows[index];
  double algbw = bandwidth(row, measurement);
  return fmt::format("    {{\"memory\": \"{}\", \"in_place\": {}, \"size\": {}, \"count\": {}, "
                     "\"type\": \"{}\", \"redop\": \"{}\", \"root\": {}, \"iterations\": {}, "
                     "\"time_us\": {:.6g}, \"algbw_gbps\": {:.6g}, \"busbw_gbps\": {:.6g}, "
                     "\"errors\": {}}}",
                     nameOf(row.memory), placement == Placement::InPlace, row.bytes, row.count,
                     nameOf(row.type), redopName(job, row), rootNumber(job, row),
                     measurement.iterations, measurement.seconds * 1e6, algbw,
                     algbw * busFactor(job.plan.collective, job.ranks),
                     measurement.wrong ? std::to_string(*measurement.wrong) : "null");
}

Status Report::finish(bool failed) {
  std::string verdict = "N/A (not checked)";
  if (job.options.check)
    verdict = fmt::format("{} {}", wrong, wrong == 0 && !failed ? "OK" : "FAILED");
  print(fmt::format("# Out of bounds values : {}\n# Avg bus bandwidth    : {:.6g}\n#\n", verdict,
                    averageBusBandwidth()));
  if (printError != 0)
    return Status::system(printError, "cannot write standard output");
  return writeJson(failed);
}

Status Report::writeJson(bool failed) {
  if (!json)
    return Status::ok();
  std::string text = fmt::format(
      "{{\n  \"coil_run\": \"{}\",\n  \"file\": {},\n"
      "  \"plan\": {{\"name\": {}, \"collective\": \"{}\", \"ranks\": {}, \"chunks\": {}}},\n"
      "  \"host\": {},\n  \"target\": \"{}\",\n  \"threads\": {},\n  \"offset\": {},\n  "
      "\"checked\": {},\n"
      "  \"data\": \"{}\",\n  \"results\": [",
      version(), jsonString(job.options.file), jsonString(job.plan.name),
      nameOf(job.plan.collective), job.ranks, job.plan.chunks, jsonString(hostName()),
      nameOf(job.options.target), job.ranksPerProcess > 1, job.options.offset, job.options.check,
      job.options.data == DataKind::Exact ? "exact" : "random");
  const char *separator = "\n";
  for (size_t i = 0; i < finished.size(); ++i)
    for (Placement placement : bothPlacements)
      if (const auto &measurement = finished[i][static_cast<size_t>(placement)]) {
        text += separator + jsonResult(i, placement, *measurement);
        separator = ",\n";
      }
  text += fmt::format("\n  ],\n  \"errors\": {},\n  \"failed\": {},\n"
                      "  \"average_busbw_gbps\": {:.6g}\n}}\n",
                      job.options.check ? std::to_string(wrong) : "null", failed,
                      averageBusBandwidth());
  std::FILE *file = json.release();
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written)
    return jsonError();
  return Status::ok();
}

} // namespace coil::run
