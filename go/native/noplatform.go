// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !nef_system && !(linux && (amd64 || arm64))

package native

// The name is the message: the compiler prints it.
const Stamp = NEF_has_no_archive_for_this_platform__linux_amd64_and_linux_arm64_are_supported__others_need_an_installed_library_and_the_tag_nef_system
