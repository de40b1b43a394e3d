/** Belief propagation on factor graphs, for probabilistic program analysis. */
module io.github.fastlbp {
    exports io.github.fastlbp;
    exports io.github.fastlbp.smartfl;
}
