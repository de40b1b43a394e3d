package io.github.fastlbp;

/** Where iterations run. Results do not depend on it. */
public enum Backend {
    /** Each run where it is expected to end first; where there is no usable device, the CPU. */
    AUTO,
    /** The processor. */
    CPU,
    /** A CUDA device. */
    CUDA;
}
