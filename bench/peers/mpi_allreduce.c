/*===- mpi_allreduce.c - Times MPI_Allreduce over sizes ----------*- C -*-===*\
|*
|* mpi_allreduce SAMPLES BYTES:CALLS ...: for each size, a float sum all-reduce
|* out of place. A sample is the time of CALLS calls, divided by their number, on
|* the rank that took longest; rank 0 prints the median of the samples as
|* `BYTES MICROSECONDS`. The last result of each size is checked on every rank.
|*
\*===----------------------------------------------------------------------===*/

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { warmupSamples = 2, mostSamples = 100 };

struct Size {
  size_t bytes;
  int calls;
};

static int compareTimes(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Returns the number of wrong elements on all ranks. */
static long measure(struct Size size, int samples, float *send, float *recv, int rank, int ranks) {
  size_t count = size.bytes / sizeof(float);
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
    for (int call = 0; call < size.calls; ++call)
      MPI_Allreduce(send, recv, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    mine = (MPI_Wtime() - start) / size.calls;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (sample >= 0)
      times[sample] = slowest;
  }
  for (size_t i = 0; i < count; ++i)
    wrong += recv[i] != (float)((size_t)ranks * (i % 1024) + (size_t)(ranks * (ranks - 1) / 2));
  MPI_Allreduce(&wrong, &allWrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  qsort(times, (size_t)samples, sizeof times[0], compareTimes);
  if (rank == 0) {
    printf("%zu %.4f\n", size.bytes, times[samples / 2] * 1e6);
    fflush(stdout);
  }
  return allWrong;
}

/* Reads `BYTES:CALLS`; false for anything else. */
static int parseSize(const char *text, struct Size *size) {
  return sscanf(text, "%zu:%d", &size->bytes, &size->calls) == 2 && size->calls > 0;
}

int main(int argc, char **argv) {
  int rank, ranks, samples = argc > 1 ? atoi(argv[1]) : 0;
  size_t most = 0;
  long wrong = 0;
  struct Size size;
  void *send = NULL, *recv = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 2; i < argc; ++i) {
    if (!parseSize(argv[i], &size) || samples < 1 || samples > mostSamples) {
      fprintf(stderr, "usage: mpi_allreduce SAMPLES BYTES:CALLS ...\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    most = size.bytes > most ? size.bytes : most;
  }
  if (posix_memalign(&send, 4096, most + 4096) || posix_memalign(&recv, 4096, most + 4096)) {
    fprintf(stderr, "mpi_allreduce: no memory for two buffers of %zu bytes\n", most);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 2; i < argc && parseSize(argv[i], &size); ++i)
    wrong += measure(size, samples, send, recv, rank, ranks);
  free(send);
  free(recv);
  MPI_Finalize();
  if (wrong)
    fprintf(stderr, "mpi_allreduce: %ld elements are wrong\n", wrong);
  return wrong != 0;
}
