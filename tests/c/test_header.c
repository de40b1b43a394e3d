/* The header alone, twice. */
#include <fastlbp.h>
#include <fastlbp.h>

int main(void) {
    return fastlbp_status_string(FASTLBP_STATUS_OK)[0] == 'F' ? 0 : 1;
}
