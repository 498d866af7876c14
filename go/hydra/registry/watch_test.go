// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/Hexa08/NEF/internal/safetext"
)

const silence = 150 * time.Millisecond

// hurried leaves a server soon.
var hurried = Options{PlainHTTP: true, Silence: silence}

// soon fails a test whose work does not end long before the limits of a hurried command, added up
// over all it asks, could be over by mistake.
func soon(t *testing.T, work func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting after 20 s")
		return nil
	}
}

func isManifest(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }
func isBlob(r *http.Request) bool     { return strings.Contains(r.URL.Path, "/blobs/") }
func is(method string, about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && about(r) }
}

// quiet is an answer that begins and never ends.
type quiet struct {
	status int
	header map[string]string
	text   string
	pause  time.Duration // between bytes of text without an end; 0 sends it at once, then nothing
}

func (q quiet) serve(w http.ResponseWriter, gone, over <-chan struct{}) {
	for name, value := range q.header {
		w.Header().Set(name, value)
	}
	if q.status != 0 {
		w.WriteHeader(q.status)
		w.Write([]byte(q.text))
		w.(http.Flusher).Flush()
	}
	for {
		pause := q.pause
		if pause == 0 {
			pause = time.Hour
		}
		select {
		case <-gone:
			return
		case <-over:
			return
		case <-time.After(pause):
		}
		w.Write([]byte(" "))
		w.(http.Flusher).Flush()
	}
}

// stubborn is a registry that answers honestly until it is told to be quiet about something.
type stubborn struct {
	about  func(*http.Request) bool
	answer quiet
	on     bool
	over   chan struct{}
}

func (s *stubborn) wrap(honest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.on && s.about(r):
			s.answer.serve(w, r.Context().Done(), s.over)
		case r.URL.Path == "/token" || r.URL.Path == "/elsewhere":
			http.NotFound(w, r)
		default:
			honest.ServeHTTP(w, r)
		}
	})
}

func startStubborn(t *testing.T, about func(*http.Request) bool, answer quiet) (*stubborn, string) {
	t.Helper()
	s := &stubborn{about: about, answer: answer, over: make(chan struct{})}
	host := start(t, s.wrap)
	t.Cleanup(func() { close(s.over) })
	return s, host
}

// Whatever a registry stops in the middle of, or never begins, a pull ends and says what it was.
func TestPullLeavesAServerThatFallsSilent(t *testing.T) {
	manifest := map[string]string{"Content-Type": ocispec.MediaTypeImageManifest, "Content-Length": "5000"}
	for _, c := range []struct {
		name   string
		about  func(*http.Request) bool
		answer quiet
		want   string
	}{
		{"no header of a manifest", is("GET", isManifest), quiet{}, "/m/manifests/v1: the registry was silent for 150ms"},
		{"20 bytes of a manifest", is("GET", isManifest), quiet{200, manifest, "{\"schemaVersion\": 2,\n", 0}, "/m/manifests/v1: the registry was silent"},
		{"a manifest, byte by byte", is("GET", isManifest), quiet{200, manifest, "{", silence / 4}, "/m/manifests/v1: the registry took longer than 300ms"},
		{"an error without an end", is("GET", isManifest), quiet{403, nil, "{", 0}, "403"},
		{"an error, byte by byte", is("GET", isManifest), quiet{500, nil, "{", silence / 4}, "/m/manifests/v1: the registry"},
		{"no header of a layer", is("GET", isBlob), quiet{}, "graph layer: GET http://"},
		{"a part of a layer", is("GET", isBlob), quiet{200, nil, "{", 0}, "the registry was silent"},
		{"a small layer, byte by byte", is("GET", isBlob), quiet{200, nil, "{", silence / 2}, "took longer than"},
		{"too many requests", is("GET", isManifest), quiet{429, map[string]string{"Retry-After": "3600", "Content-Length": "0"}, "", 0}, "took longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, host := startStubborn(t, c.about, c.answer)
			mustPush(t, saveModel(t, 1, true), host+"/m:v1", plain)
			s.on = true
			soon(t, func() error { refused(t, host+"/m:v1", c.want, hurried); return nil })
		})
	}
}

// The server that gives tokens, and that which a registry leads to, are waited for no longer.
func TestPullLeavesOtherServersToo(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer quiet
		want   string
	}{
		{"no token", quiet{}, "the registry was silent"},
		{"a byte of a token", quiet{200, nil, "{", 0}, "the registry was silent"},
		{"a token, byte by byte", quiet{200, nil, "{", silence / 4}, "took longer than"},
		{"no end of tokens", quiet{200, nil, "{\"token\": \"" + strings.Repeat("x", 5<<20), 0}, "token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			token := func(r *http.Request) bool { return r.URL.Path == "/token" }
			s, host := startStubborn(t, token, c.answer)
			s.on = true
			guarded := start(t, func(honest http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="x"`, host))
					w.WriteHeader(http.StatusUnauthorized)
				})
			})
			soon(t, func() error { refused(t, guarded+"/m:v1", c.want, hurried); return nil })
		})
		t.Run("redirected: "+c.name, func(t *testing.T) {
			elsewhere := func(r *http.Request) bool { return r.URL.Path == "/elsewhere" }
			s, host := startStubborn(t, elsewhere, c.answer)
			s.on = true
			leading := start(t, func(honest http.Handler) http.Handler {
				return http.RedirectHandler("http://"+host+"/elsewhere", http.StatusTemporaryRedirect)
			})
			soon(t, func() error { refused(t, leading+"/m:v1", "", hurried); return nil })
		})
	}
	t.Run("round and round", func(t *testing.T) {
		round := start(t, func(honest http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
			})
		})
		soon(t, func() error { refused(t, round+"/m:v1", "redirects", hurried); return nil })
	})
}

func TestPushLeavesAServerThatFallsSilent(t *testing.T) {
	for _, c := range []struct {
		name   string
		about  func(*http.Request) bool
		answer quiet
		want   string
	}{
		{"is a layer there", is("HEAD", isBlob), quiet{}, "the graph layer: HEAD http://"},
		{"where to upload", is("POST", isBlob), quiet{}, "the graph layer: POST http://"},
		{"an error without an end", is("POST", isBlob), quiet{403, nil, "{", 0}, "403"},
		{"an upload", is("PUT", isBlob), quiet{}, "the graph layer: PUT http://"},
		{"a manifest", is("PUT", isManifest), quiet{}, "the registry was silent"},
		{"an error about a manifest", is("PUT", isManifest), quiet{400, nil, "{", silence / 4}, "400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, host := startStubborn(t, c.about, c.answer)
			s.on = true
			model := saveModel(t, 1, true)
			err := soon(t, func() error {
				_, err := Push(t.Context(), model, host+"/m:v1", hurried)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A layer may take longer than a small answer, as long as something comes.
func TestSlowIsNotSilent(t *testing.T) {
	slow := false
	host := start(t, func(honest http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !slow || r.Method != http.MethodGet || !isBlob(r) {
				honest.ServeHTTP(w, r)
				return
			}
			recorded := httptest.NewRecorder()
			honest.ServeHTTP(recorded, r)
			body := recorded.Body.Bytes()
			for len(body) > 0 {
				n := min(len(body), 2048)
				w.Write(body[:n])
				w.(http.Flusher).Flush()
				body = body[n:]
				time.Sleep(silence / 3)
			}
		})
	})
	mustPush(t, saveModel(t, 1, true), host+"/m:v1", plain)
	slow = true
	output := filepath.Join(t.TempDir(), "m.nef")
	if _, err := Pull(t.Context(), host+"/m:v1", output, hurried); err != nil || runModel(t, output) != 3 {
		t.Error(err)
	}
}

func TestCancelWhileAServerIsSilent(t *testing.T) {
	s, host := startStubborn(t, is("GET", isBlob), quiet{200, nil, "{", 0})
	mustPush(t, saveModel(t, 1, true), host+"/m:v1", plain)
	s.on = true
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	folder := t.TempDir()
	err := soon(t, func() error {
		_, err := Pull(ctx, host+"/m:v1", filepath.Join(folder, "m.nef"), plain)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("files %v are left", files)
	}
}

// An answer that is no layer is bounded, whoever reads it.
func TestSmallAnswersAreBounded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 64 {
			w.Write(make([]byte, 1<<20))
		}
	}))
	defer s.Close()
	client := http.Client{Transport: watch{http.DefaultTransport, limitsOf(Options{})}}
	resp, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got bytes.Buffer
	if _, err := got.ReadFrom(resp.Body); err == nil || !strings.Contains(err.Error(), "more than") || got.Len() > maxAnswer {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
}

// What a server writes is printable in every error.
func TestErrorsOfServersArePrintable(t *testing.T) {
	evil := "x\x1b]0;pwned\a\nhydra: verified, digest ok\r\u202e"
	text, err := json.Marshal(map[string]any{"errors": []any{map[string]any{"code": "DENIED", "message": evil, "detail": evil}}})
	if err != nil {
		t.Fatal(err)
	}
	host := start(t, func(honest http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			w.Write(text)
		})
	})
	_, err = Pull(t.Context(), host+"/m:v1", filepath.Join(t.TempDir(), "m.nef"), plain)
	if err == nil || safetext.Escape(err.Error()) != err.Error() || !strings.Contains(err.Error(), `\x0ahydra: verified, digest ok\x0d\u202e`) {
		t.Errorf("%q", err)
	}
}
