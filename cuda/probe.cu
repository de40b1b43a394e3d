// PTX targets: sm_70
//
// What the engine needs of a device, tried by src/engine/cuda/probe.rs.

// The arithmetic: from each triple (a, b, c) a * b + c, a / b, a - b and a * b, which the host compares
// with its own, bit for bit.
extern "C" __global__ void probe_arithmetic(const double *triples, double *results, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    double a = triples[3 * i], b = triples[3 * i + 1], c = triples[3 * i + 2];
    results[4 * i] = a * b + c;
    results[4 * i + 1] = a / b;
    results[4 * i + 2] = a - b;
    results[4 * i + 3] = a * b;
}

// Waits until `target` blocks, counted over all rounds, have come here.
static __device__ void wait_for_blocks(unsigned *arrived, unsigned target) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < target) {
        }
        __threadfence();
    }
    __syncthreads();
}

// A barrier over all blocks: in each round every block takes its neighbour's value plus one, so that all
// values are the number of rounds in the end. `values` and `arrived` begin as zeros.
extern "C" __global__ void probe_barrier(unsigned *values, unsigned *arrived, unsigned rounds) {
    unsigned next = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1;
    for (unsigned round = 0; round < rounds; round++) {
        unsigned value = *(volatile unsigned *)&values[next];
        wait_for_blocks(arrived, gridDim.x * (2 * round + 1));
        if (threadIdx.x == 0)
            *(volatile unsigned *)&values[blockIdx.x] = value + 1;
        wait_for_blocks(arrived, gridDim.x * (2 * round + 2));
    }
}
