// SPDX-License-Identifier: Apache-2.0

//go:build cgo && nef_system

package native

// #cgo pkg-config: nef
import "C"

// Stamp names the library that was linked: the hash of archive and headers, or "system".
const Stamp = "system"
