package io.github.fastlbp;

/** Hears the messages of the library; see {@link FastLbp#setLogListener}. */
@FunctionalInterface
public interface LogListener {
    /**
     * Takes a message. Called on the threads that call the library and on threads of its own, also on several at
     * the same time. What it throws goes to the thread's handler of uncaught exceptions.
     *
     * @param level how important it is
     * @param text one or more lines, without a final line break
     */
    void onMessage(LogLevel level, String text);
}
