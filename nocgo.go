// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package nef

// Without cgo this import fails with a message that says what to do.
import _ "github.com/Hexa08/NEF/go/native"
