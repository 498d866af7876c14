// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Hexa08/NEF"
	server "github.com/google/go-containerregistry/pkg/registry"

	"github.com/Hexa08/NEF/go/hydra/registry"
)

// newTestService serves y = x + table[i], with x float32 [batch 2] and i int64 [batch].
func newTestService(t *testing.T) *httptest.Server {
	t.Helper()
	batch := nef.DimRange("batch", 1, 4)
	x, i := nef.Input("x", nef.Float32, batch, 2), nef.Input("i", nef.Int64, batch)
	table := nef.Tensor([]float32{0, 10, 20, 30}, []int{2, 2})
	graph, err := nef.NewGraph(nef.Outputs{"y": nef.Add(x, nef.Gather(table, i, 0))})
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	path := filepath.Join(t.TempDir(), "add.nef")
	if err := graph.Save(path); err != nil {
		t.Fatal(err)
	}
	s, err := newService(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		s.program.Close()
	})
	return server
}

func post(t *testing.T, server *httptest.Server, body string) (int, string) {
	response, err := http.Post(server.URL+"/run", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(text)
}

func TestServiceRunsConcurrently(t *testing.T) {
	server := newTestService(t)
	var group sync.WaitGroup
	for k := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			code, text := post(t, server, fmt.Sprintf(`{"x": {"shape": [1, 2], "data": [%d, 0]}, "i": {"shape": [1], "data": [1]}}`, k))
			if want := fmt.Sprintf(`{"y":{"data":[%d,30],"shape":[1,2]}}`, 20+k); code != http.StatusOK || strings.TrimSpace(text) != want {
				t.Errorf("%d %s, want %s", code, text, want)
			}
		}()
	}
	group.Wait()
}

func TestServiceNamesFaults(t *testing.T) {
	server := newTestService(t)
	for body, want := range map[string]string{
		`{`: "unexpected EOF",
		`{"x": {"shape": [1, 2], "data": [1, 2]}}`:                                                          `"i" is missing`,
		`{"x": {"shape": [2], "data": [1]}, "i": {"shape": [1], "data": [0]}}`:                              "shape",
		`{"x": {"shape": [1, 2], "data": ["a", 1]}, "i": {"shape": [1], "data": [0]}}`:                      "input x",
		`{"x": {"shape": [1, 2], "data": [1, 2]}, "i": {"shape": [2], "data": [0, 1]}}`:                     "batch",
		`{"x": {"shape": [1, 2], "data": [1, 2]}, "i": {"shape": [1], "data": [7]}}`:                        "7",
		`{"x": {"shape": [5, 2], "data": [0,0,0,0,0,0,0,0,0,0]}, "i": {"shape": [5], "data": [0,0,0,0,0]}}`: "batch",
	} {
		code, text := post(t, server, body)
		if code != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want one with %q", body, code, text, want)
		}
	}
}

func TestModelFromARegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	s := httptest.NewServer(server.New(server.Logger(log.New(io.Discard, "", 0))))
	defer s.Close()
	reference := strings.TrimPrefix(s.URL, "http://") + "/models/demo:v1"
	plain := registry.Options{PlainHTTP: true}
	if _, err := publish(t.Context(), reference, plain); err != nil {
		t.Fatal(err)
	}
	pulled, err := openService(t.Context(), registry.Scheme+reference, plain)
	if err != nil {
		t.Fatal(err)
	}
	defer pulled.program.Close()
	running := httptest.NewServer(pulled)
	defer running.Close()
	code, text := post(t, running, `{"x": {"shape": [1, 64], "data": [`+strings.Repeat("0,", 63)+`1]}}`)
	if code != http.StatusOK || !strings.Contains(text, `"shape":[1,32]`) {
		t.Errorf("%d %s", code, text)
	}
	if _, err := openService(t.Context(), registry.Scheme+reference+"x", plain); err == nil {
		t.Error("a tag that is not there was served")
	}
}
