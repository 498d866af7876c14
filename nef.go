// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/Hexa08/NEF/go/native"
)

// Version is the version of the library that is linked: "0.1.0".
func Version() string { return C.GoString(C.nef_version()) }

// LibraryStamp tells which library is linked: the hash of the archive and its headers, or
// "system" when built with the tag nef_system.
func LibraryStamp() string { return native.Stamp }

// skew is the error of every constructor when the library is older than the header that this
// package was compiled with. A shared library can be exchanged after the build; calls that it
// lacks must not be reached.
var skew = abiSkew(uint32(C.nef_abi_version()), uint32(C.NEF_ABI_VERSION))

func abiSkew(library, header uint32) *Error {
	if library >= header {
		return nil
	}
	return newError(CodeABIMismatch, "link", "the NEF library has ABI version %d, this program was built for %d: "+
		"install the library of NEF %s or newer", library, header, C.NEF_VERSION_STRING)
}

// Counters are counts since the process began, and objects that are alive now.
type Counters struct {
	ProgramsCompiled uint64
	// ProgramCacheHits and ProgramCacheMisses count executions of lazy values.
	ProgramCacheHits, ProgramCacheMisses uint64
	// KernelCacheHits and KernelCacheMisses count the cache in memory, the other two the cache on
	// disk, which is asked only after a miss in memory.
	KernelCacheHits, KernelCacheMisses uint64
	DiskCacheHits, DiskCacheMisses     uint64
	Runs                               uint64

	LiveTensors, LiveGraphs, LivePrograms, LiveRuns, LiveStatuses uint64
}

// ReadCounters reads the counters of the library.
func ReadCounters() Counters {
	c := C.nef_counters{struct_size: C.sizeof_nef_counters}
	C.nef_counters_read(&c)
	return Counters{
		ProgramsCompiled:   uint64(c.programs_compiled),
		ProgramCacheHits:   uint64(c.program_cache_hits),
		ProgramCacheMisses: uint64(c.program_cache_misses),
		KernelCacheHits:    uint64(c.kernel_cache_hits),
		KernelCacheMisses:  uint64(c.kernel_cache_misses),
		DiskCacheHits:      uint64(c.disk_cache_hits),
		DiskCacheMisses:    uint64(c.disk_cache_misses),
		Runs:               uint64(c.runs),
		LiveTensors:        uint64(c.live_tensors),
		LiveGraphs:         uint64(c.live_graphs),
		LivePrograms:       uint64(c.live_programs),
		LiveRuns:           uint64(c.live_runs),
		LiveStatuses:       uint64(c.live_statuses),
	}
}

// cText is text for C, in Go's memory: valid while it is referred to.
func cText(op, text string) (*C.char, *Error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, newError(CodeInvalidArgument, op, "%q holds a NUL byte, which names and paths must not", text)
	}
	buf := append(make([]byte, 0, len(text)+1), text...)
	buf = append(buf, 0)
	return (*C.char)(unsafe.Pointer(&buf[0])), nil
}
