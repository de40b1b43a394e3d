package io.github.fastlbp;

/** What messages a run starts from. */
public enum Start {
    /** Uniform ones. */
    FRESH,
    /** Those that the last run, {@code setMessages} or {@code restoreState} left. */
    WARM;
}
