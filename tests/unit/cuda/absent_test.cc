// SPDX-License-Identifier: Apache-2.0
// Without a driver the backend is absent and says where it looked.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backends/cuda/cuda.h"

namespace {

TEST(Absent, TheReasonNamesTheLibraryAndTheWayOut) {
  const nef_backend& cuda = *nef_backend_cuda();
  EXPECT_STREQ(cuda.name, "cuda");
  char message[512] = "";
  nef_backend_error err{message, sizeof message};
  const nef_code code = cuda.init(nullptr, &err);
  if (code == NEF_OK) GTEST_SKIP() << "there is a GPU here";
  EXPECT_EQ(code, NEF_BACKEND_UNAVAILABLE);
  EXPECT_EQ(cuda.device_count(), 0);
  const std::string why = message;
  if (why.find("tried ") == std::string::npos) GTEST_SKIP() << "there is a driver here: " << why;
  EXPECT_NE(why.find("libcuda.so"), std::string::npos) << why;
  EXPECT_NE(why.find("NEF_CUDA_PATH"), std::string::npos) << why;
  // It is asked for again when a folder has been added.
  ::setenv("NEF_CUDA_PATH", "/nowhere/at/all", 1);
  message[0] = '\0';
  EXPECT_EQ(cuda.init(nullptr, &err), NEF_BACKEND_UNAVAILABLE);
  EXPECT_NE(std::string(message), why);
  ::unsetenv("NEF_CUDA_PATH");
}

TEST(Absent, CallsWithoutADeviceFailInWords) {
  const nef_backend& cuda = *nef_backend_cuda();
  if (cuda.device_count() > 0) GTEST_SKIP() << "there is a GPU here";
  char message[512] = "";
  nef_backend_error err{message, sizeof message};
  void* p = nullptr;
  EXPECT_EQ(cuda.alloc(0, 16, &p, &err), NEF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(message).find("no device 0"), std::string::npos) << message;
}

}  // namespace
