// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	nef "github.com/Hexa08/NEF"
)

// The test program is the command itself when this is set.
const asCommand = "NEF_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process is a hydra that runs by itself.
type process struct {
	*exec.Cmd
	out, err bytes.Buffer
	ended    chan error
}

// startHydra starts it; out is where its output goes, a buffer when nil.
func startHydra(t *testing.T, out *os.File, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...), ended: make(chan error, 1)}
	p.Env = append(os.Environ(), asCommand+"=1")
	p.Stdout, p.Stderr = &p.out, &p.err
	if out != nil {
		p.Stdout = out
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	go func() { p.ended <- p.Wait() }()
	return p
}

// end waits for the end and gives its status.
func (p *process) end(t *testing.T, limit time.Duration) syscall.WaitStatus {
	t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return p.ProcessState.Sys().(syscall.WaitStatus)
	case <-time.After(limit):
		t.Fatalf("hydra %q did not end in %v: %s%s", p.Args[1:], limit, &p.out, &p.err)
		return 0
	}
}

const (
	// settle is long enough for a process to begin what it then waits in.
	settle = 2 * time.Second
	// slack is what a busy machine may take on top.
	slack = 10 * time.Second
)

func fifo(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// silentServer takes requests and answers none; asked tells of the first.
func silentServer(t *testing.T) (host string, asked <-chan struct{}) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	first := make(chan struct{}, 100)
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first <- struct{}{}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(over) })
	return strings.TrimPrefix(s.URL, "http://"), first
}

// Each waits for something that nothing but a signal ends: a server, many runs, one call of the
// library that takes minutes, a reader of its output.
func TestASignalEndsHydraAtAnyTime(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		interrupted := func(t *testing.T, p *process) {
			t.Helper()
			if err := p.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if status := p.end(t, graceTime+slack); status.ExitStatus() != exitInterrupted || p.err.String() != "hydra: interrupted\n" {
				t.Errorf("exit %d, %q", status.ExitStatus(), p.err.String())
			}
		}
		t.Run("a server, "+sig.String(), func(t *testing.T) {
			host, asked := silentServer(t)
			folder := t.TempDir()
			p := startHydra(t, nil, "pull", host+"/m:v1", "-o", filepath.Join(folder, "m.nef"), "--plain-http")
			<-asked
			interrupted(t, p)
			if left, _ := os.ReadDir(folder); len(left) != 0 {
				t.Errorf("%v are left", left)
			}
		})
		t.Run("a run, "+sig.String(), func(t *testing.T) {
			t.Parallel()
			p := startHydra(t, nil, "run", linearModel(t), "--random", "--runs", "2000000000")
			time.Sleep(settle)
			interrupted(t, p)
		})
		t.Run("a call of the library, "+sig.String(), func(t *testing.T) {
			t.Parallel()
			p := startHydra(t, nil, "run", slowModel(t), "--random", "--device", "reference")
			time.Sleep(settle)
			interrupted(t, p)
		})
		t.Run("nobody reads, "+sig.String(), func(t *testing.T) {
			t.Parallel()
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			defer write.Close()
			p := startHydra(t, write, "inspect", longModel(t), "--nodes")
			time.Sleep(settle)
			interrupted(t, p)
		})
	}
}

// slowModel is one product that takes the reference minutes.
func slowModel(t *testing.T) string {
	t.Helper()
	x := nef.Expand(nef.Input("x", nef.Float32, 1, 1), []int{4096, 4096})
	g, err := nef.NewGraph(nef.Outputs{"y": nef.MatMul(x, x)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "slow.nef")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// longModel has more nodes than fit in a pipe when they are listed.
func longModel(t *testing.T) string {
	t.Helper()
	v := nef.Input("x", nef.Float32, 1)
	for range 3000 {
		v = nef.Relu(v)
	}
	g, err := nef.NewGraph(nef.Outputs{"y": v})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "long.nef")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The second signal does not wait for the end of the grace time. (It is SIGTERM: a shell may have
// started the tests with SIGINT ignored, which is then the default to go back to.)
func TestASecondSignalEndsHydraAtOnce(t *testing.T) {
	t.Parallel()
	p := startHydra(t, nil, "run", slowModel(t), "--random", "--device", "reference")
	time.Sleep(settle)
	begin := time.Now()
	for time.Since(begin) < graceTime/2 {
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			break // it has ended
		}
		time.Sleep(50 * time.Millisecond)
	}
	status := p.end(t, slack)
	if !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("exit %d, want an end by the signal itself", status.ExitStatus())
	}
	if took := time.Since(begin); took >= graceTime {
		t.Errorf("it took %v", took)
	}
}

// A file that is none is refused, not waited for.
func TestPipesAreRefused(t *testing.T) {
	target := filepath.Join(t.TempDir(), "m.nef")
	build := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(build, "config.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	weights := t.TempDir()
	config := `{"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute", "num_hidden_layers": 1, "hidden_size": 4, "num_attention_heads": 2,
		"intermediate_size": 4, "vocab_size": 8, "max_position_embeddings": 8, "type_vocab_size": 2}`
	if err := os.WriteFile(filepath.Join(weights, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(weights, "model.safetensors"), 0o600); err != nil {
		t.Fatal(err)
	}
	modules := t.TempDir()
	if err := os.WriteFile(filepath.Join(modules, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(modules, "modules.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	linear := linearModel(t)
	for _, args := range [][]string{
		{"build", build, "-o", target}, {"build", weights, "-o", target}, {"build", modules, "-o", target}, {"build", fifo(t, "dir"), "-o", target},
		{"inspect", fifo(t, "m.nef")}, {"run", fifo(t, "m.nef")}, {"import", fifo(t, "m.onnx"), "-o", target}, {"push", fifo(t, "m.nef"), "localhost:1/m:v1"},
		{"run", linear, "--input", "x=@" + fifo(t, "x.npy")}, {"run", linear, "--input", "x=@" + fifo(t, "x.json")}, {"run", linear, "--input", "x=@" + fifo(t, "x.safetensors")},
		{"import", onnxModel(t, "Add"), "-o", target, "--fix", "x=@" + fifo(t, "x.npy")},
		{"devices", "--backend", fifo(t, "plugin.so")}, {"inspect", "/dev/zero"}, {"import", "/dev/zero", "-o", target}, {"inspect", t.TempDir()}, {"import", t.TempDir(), "-o", target}, {"run", linear, "--input", "x=@" + mkdir(t, "x.npy")},
	} {
		p := startHydra(t, nil, args...)
		if status := p.end(t, slack); status.ExitStatus() != exitFailed && status.ExitStatus() != exitUsage || !strings.HasPrefix(p.err.String(), "hydra: ") {
			t.Errorf("hydra %q: exit %d, %q", args, status.ExitStatus(), p.err.String())
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a model was written")
	}
}

func mkdir(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
