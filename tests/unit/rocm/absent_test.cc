// SPDX-License-Identifier: Apache-2.0
// Without a driver the backend is absent and says where it looked.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backends/rocm/api.h"
#include "backends/rocm/rocm.h"

namespace {

TEST(Absent, TheReasonNamesTheLibraryAndTheWayOut) {
  const nef_backend& rocm = *nef_backend_rocm();
  EXPECT_STREQ(rocm.name, "rocm");
  char message[512] = "";
  nef_backend_error err{message, sizeof message};
  const nef_code code = rocm.init(nullptr, &err);
  if (code == NEF_OK) GTEST_SKIP() << "there is a GPU here";
  EXPECT_EQ(code, NEF_BACKEND_UNAVAILABLE);
  EXPECT_EQ(rocm.device_count(), 0);
  const std::string why = message;
  if (why.find("tried ") == std::string::npos) GTEST_SKIP() << "there is a driver here: " << why;
  EXPECT_NE(why.find("libamdhip64.so"), std::string::npos) << why;
  EXPECT_NE(why.find("NEF_ROCM_PATH"), std::string::npos) << why;
  // It is asked for again when a folder has been added.
  ::setenv("NEF_ROCM_PATH", "/nowhere/at/all", 1);
  message[0] = '\0';
  EXPECT_EQ(rocm.init(nullptr, &err), NEF_BACKEND_UNAVAILABLE);
  EXPECT_NE(std::string(message), why);
  ::unsetenv("NEF_ROCM_PATH");
}

// As found with HIP 5.2: it compiles for the former, the others end the process.
TEST(Absent, Hip5IsAskedForWhatItKnowsOnly) {
  for (const char* arch : {"gfx803", "gfx900", "gfx906", "gfx90a", "gfx90a:sramecc+:xnack-",
                           "gfx90c", "gfx1010", "gfx1030", "gfx1036"}) {
    EXPECT_TRUE(nef::rocm::known_to_hip5(arch)) << arch;
  }
  for (const char* arch : {"gfx940", "gfx942:sramecc+:xnack-", "gfx1100", "gfx1103", "gfx1201",
                           "gfx90", "gfx10300", ""}) {
    EXPECT_FALSE(nef::rocm::known_to_hip5(arch)) << arch;
  }
}

TEST(Absent, CallsWithoutADeviceFailInWords) {
  const nef_backend& rocm = *nef_backend_rocm();
  if (rocm.device_count() > 0) GTEST_SKIP() << "there is a GPU here";
  char message[512] = "";
  nef_backend_error err{message, sizeof message};
  void* p = nullptr;
  EXPECT_EQ(rocm.alloc(0, 16, &p, &err), NEF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(message).find("no device 0"), std::string::npos) << message;
}

}  // namespace
