package io.github.fastlbp;

/** How important a message of the library is. */
public enum LogLevel {
    /** A defect, or something that did not work. */
    ERROR,
    /** Something that makes results doubtful, such as contradictions that were voted on. */
    WARNING,
    /** What the library decided or did, and everything less important. */
    INFO;

    static LogLevel of(int number) {
        return number <= 1 ? ERROR : number == 2 ? WARNING : INFO;
    }
}
