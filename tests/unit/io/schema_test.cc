// SPDX-License-Identifier: Apache-2.0
// docs/nef.schema.json against the test data and against what we write.
#include <sys/wait.h>

#include <cstdlib>

#include "engine/build/builder.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

TEST(Schema, FitsWhatWeReadAndWrite) {
  TempDir dir;
  const std::string source = NEF_SOURCE_DIR;
  const auto g = load_nef(std::string(NEF_TEST_DATA_DIR) + "/nef/golden_mlp.nef");
  save_nef(*g, dir / "plain.nef", {.edges = true});
  const std::string command = "/usr/bin/python3 '" + source + "/tests/unit/io/check_schema.py' '" +
                              source + "' '" + (dir / "plain.nef") + "' >'" + (dir / "log") +
                              "' 2>&1";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "python3-jsonschema is not installed";
  EXPECT_EQ(WEXITSTATUS(status), 0) << read_file(dir / "log");
}

}  // namespace
}  // namespace nef::io
