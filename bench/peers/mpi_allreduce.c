/*===- mpi_allreduce.c - Times MPI_Allreduce over sizes ----------*- C -*-===*\
|*
|* mpi_allreduce BYTES ...: for each size, a float sum all-reduce out of place.
|* A sample is the time of a run of calls, divided by their number, on the rank
|* that took longest; the median of the samples is printed by rank 0 as
|* `BYTES MICROSECONDS`. The last result of each size is checked on every rank.
|*
\*===----------------------------------------------------------------------===*/

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { warmupSamples = 3, mostSamples = 25, fewestSamples = 9 };

static int compareTimes(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Calls a sample: enough to make the clock's grain small, few for long messages. */
static int callsPerSample(size_t bytes) {
  if (bytes <= 4096)
    return 500;
  if (bytes <= 128 * 1024)
    return 100;
  return bytes <= 2 * 1024 * 1024 ? 10 : 1;
}

static int samplesFor(size_t bytes) {
  return bytes > 8 * 1024 * 1024 ? fewestSamples : mostSamples;
}

/* Returns the number of wrong elements on all ranks. */
static long measure(size_t bytes, float *send, float *recv, int rank, int ranks) {
  size_t count = bytes / sizeof(float);
  int calls = callsPerSample(bytes), samples = samplesFor(bytes);
  double times[mostSamples];
  long wrong = 0, allWrong = 0;
  for (size_t i = 0; i < count; ++i) {
    send[i] = (float)(i % 1024 + (size_t)rank);
    recv[i] = -1;
  }
  for (int sample = -warmupSamples; sample < samples; ++sample) {
    double start, mine, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int call = 0; call < calls; ++call)
      MPI_Allreduce(send, recv, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    mine = (MPI_Wtime() - start) / calls;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (sample >= 0)
      times[sample] = slowest;
  }
  for (size_t i = 0; i < count; ++i)
    wrong += recv[i] != (float)((size_t)ranks * (i % 1024) + (size_t)(ranks * (ranks - 1) / 2));
  MPI_Allreduce(&wrong, &allWrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  qsort(times, (size_t)samples, sizeof times[0], compareTimes);
  if (rank == 0) {
    printf("%zu %.4f\n", bytes, times[samples / 2] * 1e6);
    fflush(stdout);
  }
  return allWrong;
}

int main(int argc, char **argv) {
  int rank, ranks;
  size_t most = 0;
  long wrong = 0;
  void *send = NULL, *recv = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    size_t bytes = strtoull(argv[i], NULL, 10);
    most = bytes > most ? bytes : most;
  }
  if (posix_memalign(&send, 4096, most + 4096) || posix_memalign(&recv, 4096, most + 4096)) {
    fprintf(stderr, "mpi_allreduce: no memory for two buffers of %zu bytes\n", most);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 1; i < argc; ++i)
    wrong += measure(strtoull(argv[i], NULL, 10), send, recv, rank, ranks);
  free(send);
  free(recv);
  MPI_Finalize();
  if (wrong)
    fprintf(stderr, "mpi_allreduce: %ld elements are wrong\n", wrong);
  return wrong != 0;
}
