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
    SAME(all.nrStates(), 12);
    SAME(VarSet().nrStates(), 1);
    CHECK((a | b) << all && all >> (a | b) && !(all << (a | b)));
    CHECK((all / (a | b)) == VarSet(c) && (all & VarSet(b, Var(9, 2))) == VarSet(b));
    CHECK(all.contains(a) && !all.contains(Var(4, 2)) && all.intersects(a | Var(4, 2)));
    CHECK(all.front() == b && all.back() == c);
    all.erase(a).erase(Var(4, 2));
    CHECK(all == (b | c));
    std::vector<Var> many;
    for (size_t label = 0; label < 70; ++label)
        many.push_back(Var(label, 2));
    const VarSet wide(many.begin(), many.end());
    SAME(toString(wide.nrStates()), "1180591620717411303424");
    THROWS(Factor(wide), ASSERTION_FAILED, "states()");
    State far(wide, wide.nrStates() - 1);
    SAME(far(Var(69, 2)), 1u);
    SAME(far(wide), wide.nrStates() - 1);
    THROWS(static_cast<size_t>(far), ASSERTION_FAILED, "fits_ulong_p");
    ++far;
    CHECK(!far.valid() && far(wide) == 0);
    SAME(toString(SmallSet<size_t>(0, 1)), "{0, 1}"); // two elements, not a range
    SAME(toString(SmallSet<size_t>(7, 7)), "{7}");
    SAME(a.toString() + all.toString() + SmallSet<int>(2, 1).toString(), "x3{x1, x7}{1, 2}");

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
        SAME(state(VarSet(a)), BigInt(count / 3));
        SAME(static_cast<size_t>(index), count / 3);
    }
    SAME(count, 6u);
    CHECK(!index.valid());
    CHECK(!(++index).valid());
    THROWS(static_cast<size_t>(index), ASSERTION_FAILED, "valid");
    SAME(static_cast<size_t>(index.reset()), 0u);

}

static void permutations() {
    const Var x0(0, 2), x1(1, 3), x2(2, 2);
    const std::vector<Var> order = {x1, x2, x0};
    // An array with x1 fastest, then x2, becomes one with x0 fastest, then x1; reversed, x0 was fastest, then x2.
    const size_t forward[] = {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}, backward[] = {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11};
    const Permute permute(order), reversed(order, true);
    SAME(toString(permute.sigma()), "(2, 0, 1)");
    SAME(toString(reversed.sigma()), "(0, 2, 1)");
    for (size_t i = 0; i < 12; ++i) {
        SAME(permute.convertLinearIndex(i), forward[i]);
        SAME(reversed.convertLinearIndex(i), backward[i]);
        SAME(permute.inverse().convertLinearIndex(permute.convertLinearIndex(i)), i);
        const Factor f(order, createFactorDelta(VarSet(x0, x1) | x2, i).p().p());
        SAME(f.p().argmax().first, forward[i]);
    }
    size_t count = 0;
    multifor loops(std::vector<size_t>{3, 2, 2});
    for (; loops.valid(); ++loops, ++count) {
        SAME(static_cast<size_t>(loops), count);
        SAME(loops[0] + 3 * loops[1] + 6 * loops[2], count);
    }
    SAME(count, 12u);
    loops++;
    CHECK(!loops.valid() && loops.reset().valid() && loops[2] == 0);
    multifor none;
    CHECK(none.valid() && !(++none).valid());
}

static void big_numbers() {
    BigInt factorial = 1, two = 1;
    for (int i = 1; i <= 30; ++i)
        factorial *= i;
    SAME(toString(factorial), "265252859812191058636308480000000");
    for (int i = 30; i > 1; --i) {
        SAME(factorial % i, 0);
        factorial /= i;
    }
    SAME(factorial, 1);
    for (int i = 0; i < 130; ++i)
        two *= 2;
    SAME(toString(two), "1361129467683753853853498429727072845824");
    SAME(two.get_d(), std::ldexp(1.0, 130));
    CHECK(!two.fits_ulong_p() && two > factorial && factorial < two && two != factorial && two >= two);
    SAME(toString(two - 1), "1361129467683753853853498429727072845823");
    SAME((two - 1) + 1, two);
    const BigInt other = two / 7 + 12345678901ull; // both of more than one digit
    SAME(two / other * other + two % other, two);
    CHECK(two % other < other && (two / two) == 1 && two % two == 0 && two / (two + 1) == 0);
    SAME(BigInt(18446744073709551615ull) + 1, BigInt(1ull << 32) * BigInt(1ull << 32));
    SAME((BigInt(1ull << 32) * BigInt(1ull << 32) - 1).get_ui(), 18446744073709551615ul);
    SAME(toString(BigInt(1000000000) * 1000000000 * 1000000000), "1000000000000000000000000000");
    SAME(BigInt(5) / 0, 0);
    SAME(toString(BigInt()++), "0");
    SAME(BigInt_size_t(BigInt(17)), 17u);
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
    CHECK(p / Prob(3, 0.0) == Prob(3, 0.0) && p / 0.0 == Prob(3, 0.0));
    CHECK((Prob(3, 0.0) ^ -1.0) == Prob(3, 0.0) && p.accumulateSum(1, fo_id<Real>()) == 2);
    CHECK(p.accumulateMax(-3, fo_abs<Real>(), false) == 3 && p.accumulateMax(-3, fo_id<Real>(), true) == -3);
    CHECK(Prob().max() == -INFINITY && Prob().min() == INFINITY && Prob().sum() == 0);
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

// Function objects as std::bind2nd and std::transform take them.
static void function_objects() {
    CHECK(fo_id<Real>()(-2) == -2 && fo_abs<Real>()(-2) == 2 && fo_exp<Real>()(0) == 1 && fo_log<Real>()(1) == 0);
    CHECK(std::isinf(fo_log<Real>()(0)) && fo_log0<Real>()(0) == 0 && fo_inv<Real>()(4) == 0.25);
    CHECK(fo_inv0<Real>()(0) == 0 && fo_inv0<Real>()(2) == 0.5 && fo_plog0p<Real>()(0) == 0 && fo_plog0p<Real>()(1) == 0);
    CHECK(fo_divides0<Real>()(1, 0) == 0 && fo_divides0<Real>()(1, 4) == 0.25 && fo_absdiff<Real>()(1, 3) == 2);
    CHECK(fo_max<Real>()(1, 3) == 3 && fo_min<Real>()(1, 3) == 1 && fo_pow<Real>()(2, 3) == 8 && fo_pow<Real>()(0, -1) == 0);
    CHECK(fo_KL<Real>()(0, 1) == 0 && fo_KL<Real>()(1, 1) == 0 && fo_Hellinger<Real>()(4, 1) == 1);
    const fo_divides0<Real>::result_type quotient = 1;
    CHECK(quotient == 1);
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
    NEAR(dist(Factor(), Factor(), DISTL1), -1);
    THROWS(createFactorDelta(b, 3), ASSERTION_FAILED, "state < v.states()");
    THROWS(createFactorDelta(VarSet(a, b), 6), ASSERTION_FAILED, "state <");
    THROWS(Factor(VarSet(a, b), std::vector<Real>{1, 2}), ASSERTION_FAILED, "x.size()");
    THROWS(f.slice(VarSet(Var(9, 2)), 0), ASSERTION_FAILED, "vars << vars_");
    THROWS(Factor(a, 0.0).marginal(a), NOT_NORMALIZABLE, "");
}

void test_algebra() {
    sets_and_states();
    permutations();
    big_numbers();
    vectors();
    function_objects();
    factors();
}
