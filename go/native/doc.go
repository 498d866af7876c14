// SPDX-License-Identifier: Apache-2.0

// Package native links the NEF engine into a Go program; it holds nothing else. Importing package
// nef is enough, nobody needs to import this one.
//
// By default the static archive lib/<os>_<arch>/libnef.a is linked. It is made by "./dev build" in
// a checkout and comes with the release tags. With the build tag nef_system the installed library
// is used instead, as pkg-config finds it under the name nef.
package native
