// PTX targets: sm_90
//
// Thread block clusters, tried by src/engine/cuda/probe.rs.

static __device__ unsigned block_of_cluster() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

static __device__ void wait_for_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;"
                 :: : "memory");
}

// As probe_barrier, within one cluster and with the values at the end of each block's `bytes` of dynamic
// shared memory.
extern "C" __global__ void probe_cluster(unsigned *results, unsigned rounds,
                                         unsigned bytes) {
    extern __shared__ unsigned shared[];
    unsigned *own = shared + bytes / sizeof(unsigned) - 1;
    unsigned rank = block_of_cluster();
    unsigned next = rank + 1 == gridDim.x ? 0 : rank + 1;
    unsigned address = (unsigned)__cvta_generic_to_shared(own);
    unsigned remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(next));
    if (threadIdx.x == 0)
        *own = 0;
    wait_for_cluster();
    for (unsigned round = 0; round < rounds; round++) {
        unsigned value;
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory");
        wait_for_cluster();
        if (threadIdx.x == 0)
            *(volatile unsigned *)own = value + 1;
        wait_for_cluster();
    }
    if (threadIdx.x == 0)
        results[blockIdx.x] = *own;
}
