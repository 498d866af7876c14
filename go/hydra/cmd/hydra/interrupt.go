// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/Hexa08/NEF/go/hydra/internal/temporary"
)

const (
	// graceTime is how long work that was interrupted may take to end. What waits for something
	// that cannot be interrupted, such as a reader of its output, is then left behind.
	graceTime = 2 * time.Second
	// leaveTime is how long the last words may take: whoever reads them may be gone too.
	leaveTime = 200 * time.Millisecond
)

var errInterrupted = errors.New("interrupted")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal finds the handling of the system: it ends the process at once.
	context.AfterFunc(ctx, stop)
	a := newApp(os.Stdout, os.Stderr)
	done := make(chan int, 1)
	go func() { done <- a.execute(ctx, os.Args[1:]) }()
	os.Exit(a.wait(ctx, done))
}

// wait gives the exit code of the work, or after an interrupt that of an interrupted command.
func (a *app) wait(ctx context.Context, done <-chan int) int {
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-done:
		return code
	case <-time.After(graceTime):
	}
	left := make(chan struct{})
	go func() {
		temporary.RemoveAll()
		a.report(errInterrupted)
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(leaveTime):
	}
	return exitInterrupted
}
