// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package native

// The name is the message: the compiler prints it.
const Stamp = NEF_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler
