// SPDX-License-Identifier: Apache-2.0

//go:build cgo && linux && arm64

// Package linux_arm64 links the static archive in this folder. Archive, headers and nef_stamp.h
// are put here by "./dev build" and by the release; only the Go files are kept on main.
package linux_arm64

// #cgo LDFLAGS: ${SRCDIR}/libnef.a -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -static-libgcc -lm -lpthread -ldl
// #if !__has_include("nef_stamp.h")
// #error "NEF: no libnef.a for linux/arm64 here. In a checkout run ./dev build; as a dependency use a release tag; or install NEF and build with -tags nef_system"
// #define NEF_ARCHIVE_SHA256 ""
// #else
// #include "nef_stamp.h"
// #endif
// #include <stdlib.h>
// #if !defined(__GLIBC__)
// #error "NEF: this libnef.a is for glibc, the compiler is for another C library, such as musl. Install NEF built for it and build with -tags nef_system"
// #endif
import "C"

import _ "github.com/Hexa08/NEF/go/native/lib/linux_arm64/include/nef" // keeps the headers in vendor folders

// Stamp is the hash of archive and headers. It is part of what Go compiles, so that a new archive
// is linked although Go does not watch archives.
const Stamp = C.NEF_ARCHIVE_SHA256
