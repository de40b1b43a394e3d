// SPDX-License-Identifier: MIT OR Apache-2.0
// Variables, sets, joint states, vectors of probabilities, factors.
#include "check.hpp"

using namespace dai;

static void sets_and_states() {
    const Var a(3, 2), b(1, 3), c(7, 2);
    CHECK(b < a && a > b && a <= a && a >= b && a != b && a == Var(3, 2));
    SAME(toString(a), "x3");
    const std::vector<Var> list = {c, a, b, a};
    VarSet all(list.begin(), list.end());
    SAME(all.size(), 3u);
    SAME(toString(all), "{x1, x3, x7}");
    SAME(all.nrStates(), 12u);
    SAME(VarSet().nrStates(), 1u);
    CHECK((a | b) << all && all >> (a | b) && !(all << (a | b)));
    CHECK((all / (a | b)) == VarSet(c) && (all & VarSet(b, Var(9, 2))) == VarSet(b));
    CHECK(all.contains(a) && !all.contains(Var(4, 2)) && all.intersects(a | Var(4, 2)));
    CHECK(all.front() == b && all.back() == c);
    all.erase(a).erase(Var(4, 2));
    CHECK(all == (b | c));
    std::vector<Var> many;
    for (size_t label = 0; label < 64; ++label)
        many.push_back(Var(label, 2));
    THROWS(VarSet(many.begin(), many.end()).nrStates(), OUT_OF_MEMORY, "64 variables");

    const VarSet ab(a, b); // b is the faster one
    std::map<Var, size_t> states = calcState(ab, 4);
    SAME(states[b], 1u);
    SAME(states[a], 1u);
    SAME(calcLinearState(ab, states), 4u);
    size_t count = 0;
    IndexFor index(VarSet(a), ab);
    for (State state(ab); state.valid(); state++, ++index, ++count) {
        SAME(static_cast<size_t>(state), count);
        SAME(state(b), count % 3);
        SAME(state(a), count / 3);
        SAME(state(Var(8, 5)), 0u);
        SAME(state(VarSet(a)), count / 3);
        SAME(static_cast<size_t>(index), count / 3);
    }
    SAME(count, 6u);
    CHECK(!index.valid());
    THROWS(++index, ASSERTION_FAILED, "valid");
    SAME(static_cast<size_t>(index.reset()), 0u);

    const std::vector<Var> order = {a, b};
    const Permute permute(order);
    for (size_t i = 0; i < 6; ++i) // x1 + 3 x3 is x3 + 2 x1
        SAME(permute.convertLinearIndex(i), i / 3 + 2 * (i % 3));
    for (size_t i = 0; i < 6; ++i)
        SAME(permute.inverse().convertLinearIndex(permute.convertLinearIndex(i)), i);
}

static void vectors() {
    Prob p(std::vector<Real>{1, 3, 4});
    NEAR(p.sum(), 8);
    NEAR(p.max(), 4);
    NEAR(p.min(), 1);
    SAME(p.argmax().first, 2u);
    NEAR(p.normalized()[1], 0.375);
    NEAR(p.normalized(NORMLINF)[1], 0.75);
    NEAR(p.normalize(), 8);
    NEAR(p.entropy(), -(0.125 * std::log(0.125) + 0.375 * std::log(0.375) + 0.5 * std::log(0.5)));
    CHECK((p ^ 2.0) == p * p && -(-p) == p && (p + 1.0) - 1.0 == p);
    CHECK(p / Prob(3, 0.0) == Prob(3, 0.0));
    CHECK(Prob(3, 0.0).inverse() == Prob(3, 0.0) && std::isinf(Prob(3, 0.0).inverse(false)[0]));
    CHECK(std::isinf(Prob(1, 0.0).log()[0]) && Prob(1, 0.0).log(true)[0] == 0);
    CHECK(p.log().exp().hasNaNs() == false && (-p).hasNegatives() && !p.hasNegatives());
    CHECK(min(p, Prob(3, 0.4))[2] == 0.4 && max(p, Prob(3, 0.4))[2] == 0.5);
    const Prob uniform(3);
    NEAR(dist(p, uniform, DISTL1), 2 * (1.0 / 3 - 0.125));
    NEAR(dist(p, uniform, DISTLINF), 1.0 / 3 - 0.125);
    NEAR(dist(p, uniform, DISTTV), dist(p, uniform, DISTL1) / 2);
    NEAR(dist(p, uniform, DISTKL), std::log(3.0) - p.entropy());
    NEAR(dist(p, p, DISTHEL), 0);
    SAME(toString(Prob(std::vector<Real>{0.5, 0.25})), "(0.5, 0.25)");
    THROWS(Prob(2, 0.0).normalize(), NOT_NORMALIZABLE, "");
    THROWS(p + Prob(2), ASSERTION_FAILED, "size() == q.size()");
    rnd_seed(7);
    const Real first = rnd_uniform();
    const size_t drawn = Prob(std::vector<Real>{0, 1, 0}).draw();
    SAME(drawn, 1u);
    rnd_seed(7);
    CHECK(rnd_uniform() == first && first >= 0 && first < 1);
    for (int i = 0; i < 100; ++i)
        CHECK(rnd_int(-2, 2) >= -2 && rnd(3) < 3);
}

static void factors() {
    const Var a(0, 2), b(1, 3);
    const Factor f(VarSet(a, b), std::vector<Real>{1, 2, 3, 4, 5, 6});
    const Factor ordered(std::vector<Var>{b, a}, std::vector<Real>{1, 3, 5, 2, 4, 6});
    CHECK(f == ordered);
    NEAR(f.marginal(a), Factor(a, std::vector<Real>{9.0 / 21, 12.0 / 21}));
    NEAR(f.marginal(b, false), Factor(b, std::vector<Real>{3, 7, 11}));
    NEAR(f.maxMarginal(b, false), Factor(b, std::vector<Real>{2, 4, 6}));
    NEAR(f.slice(VarSet(b), 1), Factor(a, std::vector<Real>{3, 4}));
    NEAR(Factor(a, 2.0).embed(VarSet(a, b)), Factor(VarSet(a, b), 2.0));
    const Factor g(b, std::vector<Real>{0, 1, 10});
    CHECK(f * g == Factor(VarSet(a, b), std::vector<Real>{0, 0, 3, 4, 50, 60}));
    CHECK((f * g) / g == Factor(VarSet(a, b), std::vector<Real>{0, 0, 3, 4, 5, 6}));
    CHECK((f + g)[5] == 16 && (f - g)[5] == -4 && (f * 2.0)[5] == 12);
    CHECK(Factor()[0] == 1 && Factor().vars().empty() && Factor(3.0) * f == f * 3.0);
    CHECK(f.marginal(VarSet(), false) == Factor(21.0));
    SAME(toString(Factor(a, std::vector<Real>{0.25, 0.75})), "({x0}, (0.25, 0.75))");
    NEAR(f.normalized().p().sum(), 1);
    NEAR(dist(f.normalized(), f.normalized(), DISTKL), 0);
    NEAR(MutualInfo(Factor(VarSet(a, Var(2, 2)), std::vector<Real>{1, 0, 0, 1})), std::log(2.0));
    CHECK(createFactorDelta(b, 2) == Factor(b, std::vector<Real>{0, 0, 1}));
    NEAR(createFactorIsing(a, 0.5)[1], std::exp(0.5));
    NEAR(createFactorIsing(a, Var(2, 2), 0.5)[3], std::exp(0.5));
    NEAR(createFactorPotts(b, Var(2, 3), 2.0)[4], std::exp(2.0));
    NEAR(createFactorIsing(a, Var(2, 2), 0.5).strength(a, Var(2, 2)), std::tanh(0.5));
    THROWS(Factor(VarSet(a, b), std::vector<Real>{1, 2}), ASSERTION_FAILED, "x.size()");
    THROWS(f.slice(VarSet(Var(9, 2)), 0), ASSERTION_FAILED, "vars << vars_");
    THROWS(Factor(a, 0.0).marginal(a), NOT_NORMALIZABLE, "");
}

void test_algebra() {
    sets_and_states();
    vectors();
    factors();
}
