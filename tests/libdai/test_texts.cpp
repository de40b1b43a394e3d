// SPDX-License-Identifier: MIT OR Apache-2.0
// Properties, names of algorithms, exceptions, texts.
#include "check.hpp"

using namespace dai;

static void properties() {
    PropertySet set("[tol=1e-9,updates=SEQFIX,inner=[a=1,b=[c=2]],maxtime=inf]");
    SAME(set.size(), 4u);
    NEAR(set.getStringAs<Real>("tol"), 1e-9);
    SAME(set.getAs<std::string>("updates"), "SEQFIX");
    SAME(set.getStringAs<std::string>("inner"), "[a=1,b=[c=2]]");
    CHECK(std::isinf(set.getStringAs<Real>("maxtime")));
    SAME(toString(set), "[inner=[a=1,b=[c=2]],maxtime=inf,tol=1e-9,updates=SEQFIX]");
    SAME(toString(PropertySet("[]")), "[]");
    set.set("maxiter", size_t(7)).set("verb", true).set("name", "literal");
    SAME(set.getAs<size_t>("maxiter"), 7u);
    SAME(set.getStringAs<size_t>("maxiter"), 7u);
    SAME(set.getAs<std::string>("name"), "literal");
    CHECK(set.getAs<bool>("verb") && set("verb", false).getAs<bool>("verb") == false && set.hasKey("verb"));
    CHECK(set(PropertySet("[x=1]")).hasKey("x") && !set.hasKey("x"));
    set.setAsString("number", 2.5);
    set.convertTo<Real>("number");
    NEAR(set.getAs<Real>("number"), 2.5);
    SAME(set.keys().count("number"), 1u);
    SAME(set.erase("number"), 1u);
    THROWS(set.get("number"), OBJECT_NOT_FOUND, "'number'");
    THROWS(set.getAs<Real>("maxiter"), IMPOSSIBLE_TYPECAST, "is not a");
    THROWS(set.getStringAs<size_t>("updates"), IMPOSSIBLE_TYPECAST, "'SEQFIX'");
    for (const char* wrong : {"", "tol=1", "[tol=1", "tol=1]", "[tol]", "[=1]", "[a=[1]", "[a=1]]", "[,a=1]", "[a=1,]"})
        THROWS(PropertySet(wrong), MALFORMED_PROPERTY, wrong);
}

static void names(const std::string& scratch) {
    const FactorGraph graph(std::vector<Factor>(1, Factor(Var(0, 2), std::vector<Real>{1, 3})));
    CHECK(builtinInfAlgNames().count("BP") == 1);
    const std::unique_ptr<InfAlg> bp(newInfAlgFromString("BP[tol=1e-3,logdomain=0,updates=PARALL]", graph));
    SAME(bp->identify(), "BP[tol=0.001,maxiter=10000,maxtime=inf,verbose=0,logdomain=0,updates=PARALL,damping=0,"
                         "inference=SUMPROD]");
    THROWS(newInfAlg("JTREE", graph, PropertySet()), UNKNOWN_DAI_ALGORITHM, "'JTREE': these headers have {");

    fastlbp::dai::register_bp("FASTLBP");
    fastlbp::dai::register_bp("FASTLBP"); // replaces the first one
    const PropertySet usual("[tol=1e-3,logdomain=0,updates=PARALL]");
    const std::unique_ptr<InfAlg> own(newInfAlg("FASTLBP", graph, usual));
    const std::unique_ptr<InfAlg> other(own->construct(graph, usual));
    SAME(other->name(), "FASTLBP");
    CHECK(dynamic_cast<fastlbp::dai::BP*>(other.get()) != nullptr);

    const std::string file = scratch + "/aliases.conf";
    std::ofstream(file.c_str()) << "# names\n\nFAST:  BP[tol=1e-3,logdomain=0,updates=PARALL]\r\nB : BP\n";
    const std::map<std::string, std::string> aliases = readAliasesFile(file);
    SAME(aliases.size(), 2u);
    SAME(parseNameProperties("FAST[tol=1]", aliases).second.getStringAs<Real>("tol"), 1.0);
    SAME(parseNameProperties("B", aliases).first, "BP");
    const std::unique_ptr<InfAlg> aliased(newInfAlgFromString("FAST[maxiter=3]", graph, aliases));
    CHECK(aliased->printProperties().find("maxiter=3,") != std::string::npos);
    std::ofstream(file.c_str()) << "FAST: BP\nno colon\n";
    THROWS(readAliasesFile(file), INVALID_ALIAS, ":2: 'no colon'");
    std::ofstream(file.c_str()) << "FAST: BP\nFAST: BP\n";
    THROWS(readAliasesFile(file), INVALID_ALIAS, "second alias 'FAST'");
    THROWS(readAliasesFile(scratch + "/nothing"), CANNOT_READ_FILE, "nothing");
}

static void texts() {
    SAME(fromString<int>(" 12 "), 12);
    THROWS(fromString<int>("12x"), IMPOSSIBLE_TYPECAST, "'12x'");
    THROWS(fromString<Real>(""), IMPOSSIBLE_TYPECAST, "''");
    SAME(tokenizeString("a\tb\t\tc", true).size(), 4u);
    SAME(tokenizeString("a\tb\t\tc", false).size(), 3u);
    SAME(toString(std::vector<std::set<int>>(2, std::set<int>{1, 2})), "({1, 2}, {1, 2})");
    SAME(toString(std::map<int, Real>{{1, 0.5}}), "{1->0.5}");
    SAME(concat(std::vector<int>{1}, std::vector<int>{2}).size(), 2u);
    CHECK(toc() > 0 && __LOGSTR__.find("test_texts.cpp") != std::string::npos);
    try {
        DAI_THROWE(BELIEF_NOT_AVAILABLE, "of this kind");
    } catch (const Exception& error) {
        CHECK(error.code() == Exception::BELIEF_NOT_AVAILABLE && error.getDetailedMsg() == "of this kind");
        CHECK(std::string(error.what()).find("of this kind") != std::string::npos && !error.getLine().empty());
        CHECK(error.getMsg() == error.message(error.code()));
        CHECK(error.getFilename().find("test_texts") != std::string::npos);
    }
}

void test_texts(const std::string& scratch) {
    properties();
    names(scratch);
    texts();
}
