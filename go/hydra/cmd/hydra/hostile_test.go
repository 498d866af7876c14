// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/internal/safetext"
)

// forged is what a stranger would like to begin a line with.
const forged = "FORGED: verified, digest ok"

// evil is a name that does all a name could: it obeys no line, moves the cursor, turns the
// direction, hides, and would run something in a shell.
func evil(tag string) string {
	return tag + "\x1b]0;pwned\a\x1b[2J\n" + forged + "\r" + forged + "\u2028" + forged + "\u0085" + forged +
		"\u202e\u2066\u200b\u009b2J\ufe0f\x7f\t$(touch pwned)`touch pwned`'; touch pwned; '\"; touch pwned; \"!! & touch pwned #"
}

// evilModel saves a model with such names for input, dim and outputs.
func evilModel(t *testing.T) string {
	t.Helper()
	x := nef.Input(evil("x"), nef.Float32, nef.DimRange(evil("n"), 1, 8), 2)
	z := nef.Input(evil("z"), nef.Float32, nef.Dim("k"), nef.Dim(evil("m")))
	w := nef.Tensor([]float32{1, 2, 3, 4, 5, 6}, []int{2, 3})
	g, err := nef.NewGraph(nef.Outputs{evil("y"): nef.Relu(nef.MatMul(x, w)), evil("s"): nef.Neg(z)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "evil.nef")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// wire writes a message of protocol buffers: even arguments are field numbers, odd ones texts or
// numbers.
func wire(fields ...any) string {
	var out []byte
	for i := 0; i < len(fields); i += 2 {
		num := uint64(fields[i].(int))
		switch x := fields[i+1].(type) {
		case int:
			out = binary.AppendUvarint(binary.AppendUvarint(out, num<<3), uint64(x))
		case string:
			out = append(binary.AppendUvarint(binary.AppendUvarint(out, num<<3|2), uint64(len(x))), x...)
		}
	}
	return string(out)
}

// evilONNX is a model of one node with such names.
func evilONNX(t *testing.T, domain, op string, attributes ...string) string {
	t.Helper()
	node := wire(1, evil("x"), 1, "w", 2, evil("y"), 3, evil("node"), 4, op, 7, domain)
	for _, a := range attributes {
		node += wire(5, a)
	}
	port := func(name string) string {
		shape := wire(1, wire(2, evil("n")), 1, wire(1, 2))
		return wire(1, name, 2, wire(1, wire(1, 1, 2, shape)))
	}
	weight := wire(1, 2, 2, 1, 8, "w", 9, "\x00\x00\x80\x3f\x00\x00\x00\x40")
	graph := wire(1, node, 2, evil("graph"), 5, weight, 11, port(evil("x")), 12, port(evil("y")))
	return write(t, "evil.onnx", wire(1, 8, 2, evil("producer"), 8, wire(2, 13), 8, wire(1, domain, 2, 1), 7, graph))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// clean fails the test when what was printed could do something to a terminal, or a stranger's
// text begins a line.
func clean(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && !safetext.Printable(r) || r == '\ufffd' && !strings.HasPrefix(text[i:], "\ufffd") {
			t.Errorf("%s: printed %U: %q", what, r, text)
			return
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), forged[:6]) {
			t.Errorf("%s: a line is forged: %q", what, text)
			return
		}
	}
}

// Every command, on all that a stranger may have written.
func TestHostileTextIsEscaped(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	model, good, dir := evilModel(t), linearModel(t), t.TempDir()
	target := func() string { return filepath.Join(t.TempDir(), "m.nef") }
	nefText := func(text string) string { return write(t, "broken.nef", text) }
	head := `{"version": "1.0", "nef_format": "graph-v1", `
	tensors := `"tensors": {"x": {"shape": [2], "dtype": "float32"}, "y": {"shape": [2], "dtype": "float32"}}}`
	e := quoted(evil("e"))

	bertDir := t.TempDir()
	for name, text := range map[string]string{"config.json": `{"model_type": ` + e + `}`} {
		if err := os.WriteFile(filepath.Join(bertDir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	evilDir := filepath.Join(t.TempDir(), evil("dir")[:40])
	if err := os.MkdirAll(evilDir, 0o700); err != nil {
		t.Fatal(err)
	}
	header := `{` + quoted(evil("a")) + `: {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}, ` + quoted(evil("b")) + `: {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}`
	tensorsFile := write(t, "evil.safetensors", string(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))+header)

	denied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"errors": [{"code": %s, "message": %s, "detail": %s}]}`, e, e, e)
	}))
	defer denied.Close()
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := fmt.Sprintf(`{"schemaVersion": 2, "mediaType": %s, "artifactType": %s, "config": {}, "layers": [{"mediaType": %s, "digest": %s, "size": 1}]}`, e, e, e, e)
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		if r.Method == http.MethodGet {
			w.Write([]byte(text))
		}
	}))
	defer odd.Close()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+strings.TrimPrefix(denied.URL, "http://")+`/`+"\u202e\u009b"+`",service="`+"\u202e"+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer tokens.Close()
	at := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") + "/m:v1" }

	commands := [][]string{
		{"inspect", model}, {"inspect", model, "--nodes"}, {"inspect", model, "--svg", filepath.Join(dir, "x.svg")},
		{"run", model}, {"run", model, "--random"}, {"run", model, "--random", "--runs", "2", "--output", evil("y") + "=@" + filepath.Join(dir, "y.npy")},
		{"run", model, "--input", "nobody=[1]"}, {"run", model, "--random", "--output", "nobody=@x.npy"}, {"run", model, "--input", evil("x") + "=[[1, 2]]"},
		{"run", model, "--random", "--input", evil("x") + "=[[1, 2, 3]]"}, {"run", model, "--input", evil("x") + "=[[1"}, {"run", model, "--random", "--dim", evil("q") + "=1"},
		{"run", model, "--random", "--dim", evil("n")}, {"run", model, "--random", "--device", evil("d")},
		{"run", good, "--input", "x=@" + tensorsFile}, {"run", good, "--input", "x=@" + tensorsFile + "#" + evil("c")},
		{"run", good, "--input", `x={"dtype": ` + e + `, "shape": [1, 2], "data": [1, 2]}`}, {"run", good, "--input", `x=[[` + e + `, 2]]`},
		{"run", good, "--input", "x=@" + write(t, "x.npy", "\x93NUMPY\x01\x00\x76\x00"+fmt.Sprintf("%-117s\n", `{'descr': '`+"\x1b[2J\u202e"+`', 'fortran_order': False, 'shape': (1, 2)}`))},
		{"plan", model}, {"plan", model, "--no-run"}, {"plan", model, "--dim", "k=0"}, {"plan", model, "--device", evil("d")}, {"plan", model, "--strict", "--device", "cpu"},
		{"bench", model, "--runs", "1", "--time", "1ms"}, {"trace", model, "-o", filepath.Join(dir, "t.json")}, {"trace", model, "-o", filepath.Join(dir, "none", "t.json")},
		{"devices"}, {"devices", "--backend", evil("plugin")}, {"version"}, {evil("command")}, {"run", model, evil("extra")}, {"run", "--" + evil("flag")}, {"run", model, "-" + evil("f")},
		{"inspect", evil("missing")}, {"inspect", filepath.Join(evilDir, "x.nef")}, {"run", evil("missing")}, {"build", evil("missing"), "-o", target()},
		{"build", bertDir, "-o", target()}, {"build", evilDir, "-o", target()}, {"build", evil("x")}, {"build", bertDir, "-o", evil("x")},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [{"id": ` + e + `, "op": ` + e + `, "inputs": ["x"], "output": "y"}], "outputs": ["y"]}, ` + tensors)},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [{"id": "a", "op": "relu", "inputs": [` + e + `], "output": "y"}], "outputs": [` + e + `]}, ` + tensors)},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [{"id": ` + e + `, "op": "relu", "inputs": ["x"], "output": "y"}, {"id": ` + e + `, "op": "relu", "inputs": ["x"], "output": "y"}], "outputs": ["y"]}, ` + tensors)},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [{"id": ` + e + `, "op": "softmax", "inputs": ["x"], "output": "y", "attrs": {` + e + `: ` + e + `}}], "outputs": ["y"]}, ` + tensors)},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [], "outputs": ["x"]}, "tensors": {"x": {"shape": ["b\u001b[2J"], "dtype": "float32"}}}`)},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [], "outputs": ["x"]}, "tensors": {"x": {"shape": [` + e + `], "dtype": ` + e + `}}}`)},
		{"inspect", nefText(head + `"graph": {"inputs": ["x"], "nodes": [], "outputs": ["x"]}, "tensors": {"x": {"shape": [2], "dtype": ` + e + `}}}`)},
		{"inspect", nefText(head + `"graph": {"inputs": [], "nodes": [], "outputs": [` + e + `]}, "tensors": {` + e + `: {"shape": [2], "dtype": "float32", "data": {"file": ` + e + `, "name": ` + e + `}}}}`)},
		{"inspect", nefText(head + e + `: 1, ` + e + `: 2}`)}, {"inspect", nefText("{\"\xff\xfe\x1b[2J\": 1}")}, {"inspect", nefText("\x1b[2J\n" + forged)},
		{"inspect", nefText(`{"version": ` + e + `, "nef_format": ` + e + `}`)},
		{"import", evilONNX(t, "", "Add"), "-o", target()}, {"import", evilONNX(t, evil("domain"), evil("Op")), "-o", target()}, {"import", evilONNX(t, "", "Softmax"), "-o", target()},
		{"import", evilONNX(t, "", "Cast", wire(1, "to", 3, 99, 20, 2)), "-o", target()}, {"import", evilONNX(t, "", "Add", wire(1, evil("a"), 3, 1, 20, 2)), "-o", target()},
		{"import", evilONNX(t, "", "Constant", wire(1, "value", 5, wire(1, 2, 2, 77, 8, evil("t")), 20, 4)), "-o", target()},
		{"import", evilONNX(t, "", "If", wire(1, "then_branch", 6, evil("no graph"), 20, 5)), "-o", target()},
		{"import", evilONNX(t, "", "Add"), "-o", target(), "--dim", "nobody=1"}, {"import", evilONNX(t, "", "Add"), "-o", target(), "--fix", "nobody=1"},
		{"import", evilONNX(t, "", "Add"), "-o", target(), "--dim", evil("n")}, {"import", evilONNX(t, "", "Add"), "-o", target(), "--fix", evil("x") + "=[" + e + "]"},
		{"import", write(t, "x.onnx", evil("text")), "-o", target()}, {"import", evil("missing"), "-o", target()}, {"import", evil("x")}, {"import", evil("x"), "-o", evil("y")},
		{"pull", at(denied), "-o", target(), "--plain-http"}, {"pull", at(odd), "-o", target(), "--plain-http"}, {"pull", at(tokens), "-o", target(), "--plain-http"},
		{"pull", evil("reference"), "-o", target()}, {"pull", evil("reference")}, {"push", model, at(denied), "--plain-http"}, {"push", model, at(tokens), "--plain-http"}, {"push", model, at(odd), "--plain-http"},
		{"push", model, evil("reference")}, {"help", evil("topic")}, {"run", "--help"},
	}
	for _, args := range commands {
		for _, args := range [][]string{args, append([]string{"--json"}, args...)} {
			what := fmt.Sprintf("%.200q", args)
			out, errOut, _ := hydra(t, args...)
			clean(t, what+" on standard output", out)
			clean(t, what+" on standard error", errOut)
			if out+errOut == "" {
				t.Errorf("%s: nothing was printed", what)
			}
			// A message is one line; only the program's own lists have more.
			if args[0] != "--json" && strings.Count(errOut, "\n") > 1 && !strings.Contains(errOut, "are not supported:") && !strings.Contains(errOut, "or --random to make them up") {
				t.Errorf("%s: a message of several lines: %q", what, errOut)
			}
			if args[0] == "--json" && out != "" && args[1] != "help" && args[len(args)-1] != "--help" && !json.Valid([]byte(out)) {
				t.Errorf("%s: no JSON: %s", what, out)
			}
		}
	}
}

// hintsOf are the commands that a text shows, with the lines that continue them.
func hintsOf(text string) []string {
	var hints []string
	open := false
	for line := range strings.Lines(text) {
		switch {
		case open:
			hints[len(hints)-1] += line
		case strings.HasPrefix(line, "  hydra "):
			hints = append(hints, line)
		default:
			continue
		}
		open = strings.HasSuffix(line, "\\\n")
	}
	return hints
}

// A hint that is pasted gives the very words, and runs nothing else.
func TestHintsCanBePasted(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	model := evilModel(t)
	odd := filepath.Join(t.TempDir(), "a b'$(touch pwned);!.nef")
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{model, odd} {
		needs, _, _ := hydra(t, "run", model)
		_, misses, _ := hydra(t, "run", model, "--input", evil("x")+"=[[1, 2]]")
		hints := append(hintsOf(needs), hintsOf(misses)...)
		if len(hints) != 3 {
			t.Fatalf("%d hints: %q", len(hints), hints)
		}
		for i, hint := range hints {
			dir := t.TempDir()
			cmd := exec.Command(bash, "--norc", "--noprofile")
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8"}
			cmd.Stdin = strings.NewReader("set -H -o history\nhydra() { printf '%s\\0' \"$@\"; }\n" + hint)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("the hint left %v: %s", left, hint)
			}
			words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if words[0] != "run" || words[1] != model {
				t.Errorf("%q, want a run of %s", words, model)
			}
			for k, word := range words[2:] {
				switch {
				case word == "--input" && !strings.HasPrefix(words[2+k+1], evil("x")+"=@") && !strings.HasPrefix(words[2+k+1], evil("z")+"=@"):
					t.Errorf("an input that the model has not: %q", words[2+k+1])
				case word == "--dim" && words[2+k+1] != evil("n")+"=8" && words[2+k+1] != evil("m")+"=16" && words[2+k+1] != "k=16":
					t.Errorf("a dim that the model has not: %q", words[2+k+1])
				}
			}
			if i == 1 {
				// Made-up values: the hint is a whole command, which works as it stands.
				if _, errOut, code := hydra(t, words...); code != 0 {
					t.Errorf("exit %d: %s", code, errOut)
				}
			}
		}
	}
	// The flags in JSON are the words themselves.
	out, _, _ := hydra(t, "run", model, "--json")
	var needs struct{ Flags []string }
	if err := json.Unmarshal([]byte(out), &needs); err != nil || len(needs.Flags) != 4 || !strings.HasPrefix(needs.Flags[1], evil("x")+"=@") && !strings.HasPrefix(needs.Flags[1], evil("z")+"=@") {
		t.Errorf("%v: %q", err, needs.Flags)
	}
}

// No print goes past the printers: they are made in one place, and nothing else writes to a
// terminal.
func TestEveryPrintGoesThroughThePrinters(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v, %v", files, err)
	}
	found := map[string]int{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					full := x.Name + "." + n.Sel.Name
					banned := full == "os.Stdout" || full == "os.Stderr" || strings.HasPrefix(full, "fmt.Print") || strings.HasPrefix(full, "log.")
					if banned {
						found[name+" "+full]++
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					found[name+" "+f.Name]++
				}
			}
			return true
		})
	}
	if want := map[string]int{"interrupt.go os.Stdout": 1, "interrupt.go os.Stderr": 1}; !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
	// What libraries print, such as help, is escaped too.
	var out bytes.Buffer
	root := newApp(&out, &out).command()
	root.Printf("a%sb\n", evil("x"))
	root.PrintErrf("a%sb\n", evil("x"))
	if strings.ContainsAny(out.String(), "\x1b\u202e\u2028") {
		t.Errorf("%q", out.String())
	}
}
