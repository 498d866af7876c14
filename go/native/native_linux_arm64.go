// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !nef_system

package native

import "github.com/Hexa08/NEF/go/native/lib/linux_arm64"

// Stamp names the library that was linked: the hash of archive and headers, or "system".
const Stamp = linux_arm64.Stamp
