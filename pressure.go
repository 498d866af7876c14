// SPDX-License-Identifier: Apache-2.0

package nef

import (
	"runtime"
	"sync/atomic"
)

// Go's collector does not see native memory, so a program that never calls Close could fill it
// with dead values long before the Go heap asks for a collection. One is asked for whenever
// values have grown by this much, or by half of what they hold if that is more.
const pressureStep = 256 << 20

var pressure struct {
	held    atomic.Int64 // bytes
	growth  atomic.Int64 // since the last collection asked for
	running atomic.Bool
}

func nativeHeld(bytes int64) {
	if bytes == 0 {
		return
	}
	held := pressure.held.Add(bytes)
	if pressure.growth.Add(bytes) < max(pressureStep, held/2) || !pressure.running.CompareAndSwap(false, true) {
		return
	}
	go func() {
		pressure.growth.Store(0)
		runtime.GC()
		pressure.running.Store(false)
	}()
}

func nativeFreed(bytes int64) {
	if bytes == 0 {
		return
	}
	pressure.held.Add(-bytes)
	// Not below zero: what a collection frees must not postpone the next one.
	if pressure.growth.Add(-bytes) < 0 {
		pressure.growth.Store(0)
	}
}
