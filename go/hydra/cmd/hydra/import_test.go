// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/Hexa08/NEF/go/hydra/tensorfile"
)

// onnxModel is y = x + w for x of [n 2], written by hand: IR version 8, opset 13.
func onnxModel(t *testing.T, op string) string {
	t.Helper()
	field := func(num byte, payload string) string { return string([]byte{num<<3 | 2, byte(len(payload))}) + payload }
	number := func(num, x byte) string { return string([]byte{num << 3, x}) }
	node := field(1, "x") + field(1, "w") + field(2, "y") + field(3, "the node") + field(4, op)
	weight := number(1, 2) + number(2, 1) + field(8, "w") + field(9, "\x00\x00\x80\x3f\x00\x00\x00\x40")
	port := func(name string) string {
		shape := field(1, field(2, "n")) + field(1, number(1, 2))
		return field(1, name) + field(2, field(1, number(1, 1)+field(2, shape)))
	}
	graph := field(1, node) + field(5, weight) + field(11, port("x")) + field(12, port("y"))
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, []byte(number(1, 8)+field(8, number(2, 13))+field(7, graph)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImport(t *testing.T) {
	source := onnxModel(t, "Add")
	target := filepath.Join(t.TempDir(), "m.nef")
	out := mustHydra(t, "import", source, "-o", target, "--dim", "n=1..4")
	wantText(t, out, "1 node", "x", "float32", "[n 2], n 1 to 4")
	wantText(t, mustHydra(t, "inspect", target), "add")
	wantText(t, mustHydra(t, "run", target, "-i", "x=[[1,1]]"), "2", "3")
	wantText(t, mustHydra(t, "plan", target), "add")
	var report struct {
		Model  string
		Source struct{ Nodes int }
		Inputs []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(mustHydra(t, "import", source, "-o", target, "--json")), &report); err != nil {
		t.Fatal(err)
	}
	if report.Model != target || report.Source.Nodes != 1 || len(report.Inputs) != 1 {
		t.Errorf("got %+v", report)
	}
	fixed := mustHydra(t, "import", source, "-o", target, "--fix", "x=[[5,6]]", "--no-bundle")
	wantText(t, fixed, "output", "y")
}

// Bools of other bytes than 0 and 1 come out right from the file that import writes.
func TestImportBoolBytes(t *testing.T) {
	source := filepath.Join("..", "..", "onnx", "testdata", "bool_bytes.onnx")
	target := filepath.Join(t.TempDir(), "m.nef")
	for _, kind := range []string{"--no-bundle", "--json"} {
		mustHydra(t, "import", source, "-o", target, kind)
		y, z := filepath.Join(t.TempDir(), "y.json"), filepath.Join(t.TempDir(), "z.json")
		mustHydra(t, "run", target, "-i", "x=[0,0,0,0]", "-i", "q=[true,true,true,true]", "-o", "y=@"+y, "-o", "z=@"+z)
		for _, file := range []string{y, z} {
			a, err := tensorfile.Read(tensorfile.Reference{File: file}, "float32")
			if err != nil || !bytes.Equal(a.Data, []byte{0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 128, 63}) {
				t.Errorf("%s: % x, %v", file, a.Data, err)
			}
		}
	}
}

// What cannot be saved leaves the model that stood there.
func TestImportKeepsTheOldModel(t *testing.T) {
	target := filepath.Join(t.TempDir(), "m.nef")
	mustHydra(t, "import", onnxModel(t, "Add"), "-o", target)
	old, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, code := hydra(t, "import", onnxModel(t, "Magic"), "-o", target); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if now, err := os.ReadFile(target); err != nil || !bytes.Equal(now, old) {
		t.Errorf("the old model is gone: %v", err)
	}
}

// What is not supported is one report, and no file is left.
func TestImportUnsupported(t *testing.T) {
	source := onnxModel(t, "Magic")
	target := filepath.Join(t.TempDir(), "m.nef")
	_, errOut, code := hydra(t, "import", source, "-o", target)
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	wantText(t, errOut, source, "ai.onnx Magic, opset 13, 1 times", "the node")
	out, _, code := hydra(t, "import", source, "-o", target, "--json")
	var report struct {
		Error struct {
			Code        string
			Unsupported []struct {
				Op    string
				Count int
				Nodes []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	list := report.Error.Unsupported
	if code != exitFailed || report.Error.Code != "unsupported" || len(list) != 1 || list[0].Op != "Magic" || list[0].Count != 1 {
		t.Errorf("exit %d, got %+v", code, report)
	}
	entries, err := os.ReadDir(filepath.Dir(target))
	if err != nil || len(entries) != 0 {
		t.Errorf("files are left: %v, %v", entries, err)
	}
}

func TestImportUsage(t *testing.T) {
	source := onnxModel(t, "Add")
	for _, args := range [][]string{
		{}, {source}, {source, "-o", "m.txt"}, {source, "-o", "m.nef", "--dim", "n"}, {source, "-o", "m.nef", "--dim", "n=4..1"},
		{source, "-o", "m.nef", "--dim", "n=-1"}, {source, "-o", "m.nef", "--fix", "x"}, {source, "-o", "m.nef", "--fix", "nobody=1"},
		{source, "-o", "m.nef", "--fix", "x=[1,"},
	} {
		if _, errOut, code := hydra(t, append([]string{"import"}, args...)...); code != exitUsage || errOut == "" {
			t.Errorf("import %v: exit %d, %s", args, code, errOut)
		}
	}
	for _, args := range [][]string{
		{filepath.Join(t.TempDir(), "nobody.onnx"), "-o", "m.nef"}, {source, "-o", "m.nef", "--dim", "nobody=1"},
	} {
		if _, errOut, code := hydra(t, append([]string{"import"}, args...)...); code != exitFailed || errOut == "" {
			t.Errorf("import %v: exit %d, %s", args, code, errOut)
		}
	}
}
