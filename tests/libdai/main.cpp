// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests of fastlbp's libDAI-compatible headers: PROGRAM DATA SCRATCH, the directories of small
// graphs and of files to be written.
#include "check.hpp"

void test_algebra();
void test_texts(const std::string& scratch);
void test_neighbors();
void test_graphs(const std::string& data, const std::string& scratch);
void test_bp(const std::string& data);
void test_changes();
void test_exact();
void test_learning();
void test_causal(const std::string& data, const std::string& scratch);

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    try {
        test_algebra();
        test_texts(argv[2]);
        test_neighbors();
        test_graphs(argv[1], argv[2]);
        test_bp(argv[1]);
        test_changes();
        test_exact();
        test_learning();
        test_causal(argv[1], argv[2]);
    } catch (const std::exception& error) {
        check_that(false, error.what(), __FILE__, __LINE__);
    }
    return failures() != 0;
}
