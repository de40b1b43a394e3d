package io.github.fastlbp.spark;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;

/** What comes out of the entries of a partition, some of which are done by one call. One result per entry. */
final class Groups<T, R> implements Iterator<R> {
    private final Iterator<T> input;
    private final int size;
    private final Function<List<T>, List<R>> run;
    private final Queue<R> done = new ArrayDeque<>();

    Groups(Iterator<T> input, int size, Function<List<T>, List<R>> run) {
        this.input = input;
        this.size = size;
        this.run = run;
    }

    @Override
    public boolean hasNext() {
        return !done.isEmpty() || input.hasNext();
    }

    @Override
    public R next() {
        if (done.isEmpty()) {
            List<T> group = new ArrayList<>();
            do {
                group.add(input.next());
            } while (group.size() < size && input.hasNext());
            done.addAll(run.apply(group));
        }
        return done.remove();
    }
}
