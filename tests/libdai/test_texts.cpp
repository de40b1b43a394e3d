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
    for (const char* wrong : {"", "tol=1", "[tol=1", "tol=1]", "[tol]", "[=1]", "[a=[1]", "[a=1]]", "[a=1,b]"})
        THROWS(PropertySet(wrong), MALFORMED_PROPERTY, wrong);
    THROWS(PropertySet("[a = 1]"), MALFORMED_PROPERTY, "'[a' should be in brackets");
    // As libDAI: what no key may be is a key that nobody asks for.
    SAME(PropertySet("[a=1,]").size(), 1u);
    SAME(PropertySet("[,a=1]").hasKey("a"), false);

    SAME(PropertySet("[in=[a=1]]").getStringAs<PropertySet>("in").getStringAs<int>("a"), 1);
    SAME(PropertySet("[in=[a=1]]").toString(), "[in=[a=1]]");
    set.fromString("[a=1]");
    SAME(set.toString(), "[a=1]");
    std::istringstream two("[a=1] [b=2]");
    PropertySet second;
    two >> set >> second;
    CHECK(set.hasKey("a") && second.hasKey("b"));
    set.set("list", std::vector<int>(1, 1));
    THROWS(set.toString(), UNKNOWN_PROPERTY_TYPE, "");
    SAME(set.getAs<std::vector<int>>("list").size(), 1u);
    THROWS(set.convertTo<int>("list"), ASSERTION_FAILED, "typeid");
    SAME(boost::any_cast<std::string>(set.get("a")), "1");
    CHECK(*boost::any_cast<std::string>(&set.get("a")) == "1" && !boost::any_cast<int>(&set.get("a")));
    THROWS(boost::any_cast<int>(set.get("a")), IMPOSSIBLE_TYPECAST, "is not a");
    CHECK(PropertyValue().empty() && !set.get("a").empty());
}

static void names(const std::string& scratch) {
    const FactorGraph graph(std::vector<Factor>(1, Factor(Var(0, 2), std::vector<Real>{1, 3})));
    CHECK(builtinInfAlgNames().count("BP") == 1);
    const std::unique_ptr<InfAlg> bp(newInfAlgFromString("BP[tol=1e-3,logdomain=0,updates=PARALL]", graph));
    SAME(bp->identify(), "BP[tol=0.001,maxiter=10000,maxtime=inf,verbose=0,logdomain=0,updates=PARALL,damping=0,"
                         "inference=SUMPROD]");
    THROWS(newInfAlg("MF", graph, PropertySet()), UNKNOWN_DAI_ALGORITHM, "'MF': these headers have {BP, DECMAP, EXACT, ");

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
    SAME(readAliasesFile(file).size(), 1u);
    const std::map<std::string, std::string> chain = {{"A", "B[x=1]"}, {"B", "C[x=2,y=3]"}, {"L", "M[]"}, {"M", "L"}};
    SAME(parseNameProperties("A", chain).first + parseNameProperties("A", chain).second.toString(), "C[x=1,y=3]");
    SAME(parseNameProperties("L", chain).first, "L");
    THROWS(readAliasesFile(scratch + "/nothing"), CANNOT_READ_FILE, "nothing");
}

static void texts() {
    SAME(fromString<int>("12"), 12);
    SAME(toString(0.1), "0.10000000000000001"); // with all digits
    SAME(toString(2.5), "2.5");
    THROWS(fromString<int>(" 12"), IMPOSSIBLE_TYPECAST, "' 12'");
    THROWS(fromString<int>("12 "), IMPOSSIBLE_TYPECAST, "'12 '");
    THROWS(fromString<Real>(" 1"), IMPOSSIBLE_TYPECAST, "' 1'");
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
        SAME(error.getMsg(), "Requested belief not available");
        SAME(error.message(error.code()), error.getMsg());
        SAME(error.what(), error.getMsg() + ": of this kind [File " + error.getFilename() + ", line " + error.getLine()
                               + ", function: " + error.getFunction() + "]");
        CHECK(error.getFunction().find("texts") != std::string::npos);
        CHECK(error.getFilename().find("test_texts") != std::string::npos);
    }
}

void test_texts(const std::string& scratch) {
    properties();
    names(scratch);
    texts();
}
