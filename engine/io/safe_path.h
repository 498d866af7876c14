// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engine/io/file.h"

namespace nef::io {

// Why `name` is no plain relative path ("is absolute", "leaves its folder with '..'", ...);
// nullptr when it is one.
const char* path_fault(std::string_view name);

// Opens the data file `name` that a .nef file refers to. `folder` is where the .nef file stands;
// `root` is empty, or a folder that the caller trusts.
//
// Without a root, nothing on the way from `folder` to the file may be a symbolic link, and the
// file may have no second hard link: both could lead out of the folder. With a root, links are
// followed and the file they end at must lie beneath it. Throws NEF_UNSAFE_PATH or NEF_IO.
Fd open_beneath(const std::string& folder, const std::string& root, const std::string& name);

// Folder part of a path; "." when there is none.
std::string folder_of(const std::string& path);
// Last part of a path.
std::string file_of(const std::string& path);

}  // namespace nef::io
