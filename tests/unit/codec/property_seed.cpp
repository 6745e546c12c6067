// Properties run with a fixed seed, so that a failure in CI is the same failure at a desk. RC_PARAMS overrides it.
#include <cstdlib>

namespace {
const bool kSeeded = setenv("RC_PARAMS", "seed=20240229 max_success=2000", /*overwrite=*/0) == 0;
}  // namespace
