// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/Hexa08/NEF/internal/safetext"
)

const (
	progressDelay = time.Second
	progressTick  = 100 * time.Millisecond
)

// progress shows a bar for work that takes longer than a second, on a terminal only.
type progress struct {
	mu    sync.Mutex
	done  int
	stop  chan struct{}
	ended chan struct{}
}

// startProgress begins watching. Total is the number of steps, -1 when unknown.
func startProgress(w *safetext.Printer, what string, total int) *progress {
	p := &progress{stop: make(chan struct{}), ended: make(chan struct{})}
	f, ok := w.File()
	if !ok || !term.IsTerminal(int(f.Fd())) {
		close(p.ended)
		return p
	}
	go p.show(f, safetext.Escape(what), total)
	return p
}

func (p *progress) show(w io.Writer, what string, total int) {
	defer close(p.ended)
	select {
	case <-p.stop:
		return
	case <-time.After(progressDelay):
	}
	bar := progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true))
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	for {
		p.mu.Lock()
		done := p.done
		p.mu.Unlock()
		// A bar that cannot be drawn is no reason to fail the work.
		if total < 0 {
			_ = bar.Add(1)
		} else {
			_ = bar.Set(done)
		}
		select {
		case <-p.stop:
			_ = bar.Clear()
			return
		case <-tick.C:
		}
	}
}

func (p *progress) step() {
	p.mu.Lock()
	p.done++
	p.mu.Unlock()
}

// finish takes the bar away and waits until it is gone.
func (p *progress) finish() {
	close(p.stop)
	<-p.ended
}
