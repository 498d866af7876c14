// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"
)

// limits are how long a server may keep a command waiting, and with how much.
type limits struct {
	silence time.Duration // between two signs of life
	answer  time.Duration // for one request, with the tokens, redirects and tries that it takes
	bytes   int64         // of an answer that is no layer
}

const (
	defaultSilence = time.Minute
	maxAnswer      = 4 << 20 // the limits of what is read from it are lower
	leastRate      = 1 << 10 // bytes in a second; a layer may take the longer for its size
)

func limitsOf(o Options) limits {
	silence := o.Silence
	if silence <= 0 {
		silence = defaultSilence
	}
	return limits{silence: silence, answer: 2 * silence, bytes: maxAnswer}
}

// stall is why a server was left.
type stall struct {
	request string
	why     string
}

func (s *stall) Error() string { return s.request + ": " + s.why }

// describeRequest leaves the query out: it may hold a secret.
func describeRequest(method string, u *url.URL) string {
	return fmt.Sprintf("%s %s://%s%s", method, u.Scheme, u.Host, u.EscapedPath())
}

// reason is the stall that ended a request, else the error itself.
func reason(ctx context.Context, err error) error {
	if s, ok := context.Cause(ctx).(*stall); ok && err != nil && err != io.EOF {
		return s
	}
	return err
}

// layerKey is under which a context holds the size of the layer that a request is about; layerURL,
// the address of the request that gets it.
type (
	layerKey struct{}
	layerURL struct{}
)

// ofLayer marks requests that send or get so many bytes. All others are small.
func ofLayer(ctx context.Context, size int64) context.Context {
	return context.WithValue(ctx, layerKey{}, size)
}

// boundedClient gives each request a time in which all of it must be over.
type boundedClient struct {
	auth   *auth.Client
	limits limits
}

// Do is one request as a caller sees it: authentication, redirects and retries are within.
func (c boundedClient) Do(req *http.Request) (*http.Response, error) {
	ctx, limit := req.Context(), c.limits.answer
	if size, ok := ctx.Value(layerKey{}).(int64); ok && (req.Method == http.MethodGet || req.Body != nil) {
		limit += time.Duration(size/leastRate) * time.Second
		ctx = context.WithValue(ctx, layerURL{}, req.URL.String())
	} else if err := rewindable(req); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	alarm := time.AfterFunc(limit, func() {
		cancel(&stall{describeRequest(req.Method, req.URL), fmt.Sprintf("the registry took longer than %v", limit)})
	})
	end := func() {
		alarm.Stop()
		cancel(nil)
	}
	resp, err := c.auth.Do(req.WithContext(ctx))
	if err != nil {
		err = reason(ctx, err)
		end()
		if s := (*stall)(nil); errors.As(err, &s) {
			return nil, s // it says all that those around it do
		}
		return nil, err
	}
	resp.Body = &answer{ReadCloser: resp.Body, ctx: ctx, end: end}
	return resp, nil
}

// rewindable keeps what a small request sends, so that it can be sent again with credentials.
func rewindable(req *http.Request) error {
	if req.Body == nil || req.Body == http.NoBody || req.GetBody != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(req.Body, maxAnswer))
	req.Body.Close()
	if err != nil {
		return err
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Body, err = req.GetBody()
	return err
}

// answer is a body that is read under the limits of its request.
type answer struct {
	io.ReadCloser
	ctx   context.Context
	alarm *time.Timer // of silence; nil when nobody listens for it
	limit time.Duration
	left  int64 // bytes that may still come; less than 0 is no limit
	what  string
	end   func()
}

func (a *answer) Read(p []byte) (int, error) {
	if a.alarm != nil {
		a.alarm.Reset(a.limit) // only waiting counts, not what the reader does in between
		defer a.alarm.Stop()
	}
	n, err := a.ReadCloser.Read(p)
	if a.what != "" && a.left >= 0 {
		if a.left -= int64(n); a.left < 0 {
			return 0, &stall{a.what, fmt.Sprintf("the answer has more than %d bytes", maxAnswer)}
		}
	}
	return n, reason(a.ctx, err)
}

func (a *answer) Close() error {
	err := a.ReadCloser.Close()
	a.end()
	return err
}

// watch is a transport that leaves a server which falls silent, whatever it was about to answer.
// Everything that hydra asks of a server goes through it: there is one for each client.
type watch struct {
	base   http.RoundTripper
	limits limits
}

func (w watch) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	what := describeRequest(req.Method, req.URL)
	alarm := time.AfterFunc(w.limits.silence, func() {
		cancel(&stall{what, fmt.Sprintf("the registry was silent for %v", w.limits.silence)})
	})
	end := func() {
		alarm.Stop()
		cancel(nil)
	}
	var sent atomic.Bool
	watched := req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		alive := func() {
			if !sent.Load() {
				alarm.Reset(w.limits.silence)
			}
		}
		watched.Body = &sending{req.Body, alive}
		if req.GetBody != nil {
			watched.GetBody = func() (io.ReadCloser, error) {
				body, err := req.GetBody()
				return &sending{body, alive}, err
			}
		}
	}
	resp, err := w.base.RoundTrip(watched)
	sent.Store(true)
	alarm.Stop()
	if err != nil {
		err = reason(ctx, err)
		end()
		return nil, err
	}
	body := &answer{ReadCloser: resp.Body, ctx: ctx, alarm: alarm, limit: w.limits.silence, left: w.limits.bytes, what: what, end: end}
	if req.Method == http.MethodGet && req.Context().Value(layerURL{}) == first(req).URL.String() && resp.StatusCode == http.StatusOK {
		body.left = -1 // its reader knows how long it is
	}
	resp.Body = body
	return resp, nil
}

// first is the request that redirects have led from to this one.
func first(req *http.Request) *http.Request {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req
}

// sending tells when a piece of a body is on its way.
type sending struct {
	io.ReadCloser
	alive func()
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.alive()
	return n, err
}
