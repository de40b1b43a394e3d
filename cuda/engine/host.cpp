// The kernels for a host: a library of C functions that tests/cuda/fake_driver.c calls in the place of
// kernels, one for each, `NAME_on_host`. Threads are those of the system; a warp has one.
//
//     c++ -std=c++17 -ffp-contract=off -shared -fPIC -pthread cuda/engine/host.cpp -o kernels.so

#include <thread>
#include <utility>
#include <vector>

#include "../general.cu"

namespace {

/// Calls a kernel with arguments as cuLaunchKernel takes them.
template <class... Arguments, size_t... Index>
void call(void (*kernel)(Arguments...), void **arguments, std::index_sequence<Index...>) {
    kernel(*static_cast<Arguments *>(arguments[Index])...);
}

template <class... Arguments>
void run(void (*kernel)(Arguments...), unsigned blocks, unsigned threads, void **arguments) {
    std::vector<uint32_t> arrived(blocks);
    std::vector<unsigned char> shared(size_t(blocks) * fastlbp::HOST_SHARED);
    const auto body = [&](uint32_t block, uint32_t thread) {
        unsigned char *const own = &shared[size_t(block) * fastlbp::HOST_SHARED];
        fastlbp::host_thread() = {block, blocks, thread, {&arrived[block], threads, 0}, own};
        call(kernel, arguments, std::index_sequence_for<Arguments...>());
    };
    std::vector<std::thread> others;
    for (uint32_t i = 1; i < blocks * threads; ++i) {
        others.emplace_back(body, i / threads, i % threads);
    }
    body(0, 0);
    for (std::thread &other : others) {
        other.join();
    }
}

}  // namespace

#define ON_HOST(name)                                                                       \
    extern "C" void name##_on_host(unsigned blocks, unsigned threads, void **arguments) { \
        run(name, blocks, threads, arguments);                                             \
    }

ON_HOST(general_prepare)
ON_HOST(general_begin)
ON_HOST(general_passes)
ON_HOST(general_results)
ON_HOST(general_take)
ON_HOST(general_begin_beliefs)
ON_HOST(general_measure_beliefs)
