// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

// small is a model of one node with an initializer.
func small(initializer message) []byte {
	return model(13, graph{
		nodes:        []message{node("Add", list("x", "w"), list("y"))},
		initializers: []message{initializer},
		inputs:       []message{value("x", 1, 2)}, outputs: []message{value("y", 1, 2)},
	})
}

// graphOf imports bytes.
func graphOf(data []byte) error {
	m, err := onnx.Parse(data)
	if err != nil {
		return err
	}
	defer m.Close()
	g, err := m.Graph()
	g.Close()
	return err
}

func TestMalformed(t *testing.T) {
	good := small(floats("w", []int64{2}, 1, 2))
	if err := graphOf(good); err != nil {
		t.Fatal(err)
	}
	one := graph{inputs: []message{value("x", 1, 1)}, outputs: []message{value("x", 1, 1)}}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":           {nil, nef.ErrParse},
		"no protobuf":       {[]byte("GGUF\x03\x00\x00\x00 and more"), nef.ErrParse},
		"group":             {[]byte{0x0b, 0x0c}, nef.ErrParse},
		"no graph":          {message{}.varint(1, 8), nef.ErrParse},
		"two graphs":        {model(13, one).bytes(7, one.message()), nef.ErrParse},
		"old IR":            {message{}.varint(1, 2).bytes(7, one.message()), nef.ErrUnsupported},
		"new IR":            {message{}.varint(1, 99).bytes(7, one.message()), nef.ErrUnsupported},
		"new opset":         {model(999, one), nef.ErrUnsupported},
		"graph is a number": {message{}.varint(1, 8).varint(7, 1), nef.ErrParse},
		"raw too short":     {small(tensor("w", 1, []int64{2}).bytes(9, []byte{1, 2, 3, 4})), nef.ErrParse},
		"raw too long":      {small(floats("w", []int64{2}, 1, 2, 3)), nef.ErrParse},
		"negative dim":      {small(floats("w", []int64{-2}, 1, 2)), nef.ErrParse},
		"huge dims":         {small(floats("w", []int64{math.MaxInt64, 2}, 1, 2)), nef.ErrParse},
		"wrapping dims":     {small(floats("w", []int64{1 << 32, 1 << 32}, 1, 2)), nef.ErrParse},
		"huge and empty":    {small(int64s("w", []int64{1 << 50}, 1)), nef.ErrParse},
		"too many dims":     {small(floats("w", slices.Repeat([]int64{1}, 40), 1)), nef.ErrLimitExceeded},
		"no type":           {small(floats("w", []int64{2}, 1, 2).varint(2, 0)), nef.ErrUnsupported},
		"strings":           {small(tensor("w", 8, []int64{1}).text(6, "a")), nef.ErrUnsupported},
		"wrong field":       {small(tensor("w", 1, []int64{1}).bytes(7, []byte{1})), nef.ErrParse},
		"varint cut short":  {small(tensor("w", 7, []int64{1}).bytes(7, []byte{0x80})), nef.ErrParse},
		"too many elements": {small(int64s("w", []int64{1}, 1, 2)), nef.ErrParse},
		"segments":          {small(floats("w", []int64{2}, 1, 2).bytes(3, nil)), nef.ErrParse},
		"unknown input": {model(13, graph{
			nodes: []message{node("Neg", list("nobody"), list("y"))}, outputs: []message{value("y", 1)},
		}), nef.ErrUnknownName},
		"unknown output": {model(13, graph{outputs: []message{value("y", 1)}}), nef.ErrUnknownName},
		"wrong order": {model(13, graph{
			nodes:  []message{node("Neg", list("a"), list("y")), node("Neg", list("x"), list("a"))},
			inputs: []message{value("x", 1, 1)}, outputs: []message{value("y", 1)},
		}), nef.ErrUnknownName},
		"defined twice": {model(13, graph{
			nodes:  []message{node("Neg", list("x"), list("y")), node("Abs", list("x"), list("y"))},
			inputs: []message{value("x", 1, 1)}, outputs: []message{value("y", 1)},
		}), nef.ErrDuplicateName},
		"no outputs": {model(13, graph{inputs: []message{value("x", 1, 1)}}), nef.ErrInvalidArgument},
		"unknown attribute": {model(13, graph{
			nodes:  []message{node("Relu", list("x"), list("y"), attrInt("beta", 1))},
			inputs: []message{value("x", 1, 1)}, outputs: []message{value("y", 1)},
		}), nef.ErrInvalidArgument},
		"two opsets": {model(13, one).bytes(8, message{}.varint(2, 14)), nef.ErrParse},
		"no rank": {model(13, graph{
			inputs:  []message{message{}.text(1, "x").bytes(2, message{}.bytes(1, message{}.varint(1, 1)))},
			outputs: []message{value("x", 1)},
		}), nef.ErrUnsupported},
	} {
		if err := graphOf(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every file that is cut short, and every byte that is another, gives an error or a graph.
func TestOtherFormatsAreNamed(t *testing.T) {
	for want, data := range map[string]string{
		"Git LFS pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
		"zip archive":     "PK\x03\x04\x14\x00\x00\x00",
		"GGUF":            "GGUF\x03\x00\x00\x00",
		"JSON":            `{"format": "nef"}`,
		"HTML":            "<!DOCTYPE html><html></html>",
		"safetensors":     "\x10\x00\x00\x00\x00\x00\x00\x00{\"w\": {}}      ",
		"TensorFlow Lite": "\x1c\x00\x00\x00TFL3\x14\x00",
		"no graph":        "\x08\x07",
	} {
		err := graphOf([]byte(data))
		if !errors.Is(err, nef.ErrParse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", data, err, want)
		}
	}
}

func TestCutAndChanged(t *testing.T) {
	good := small(floats("w", []int64{2}, 1, 2))
	for i := range good {
		_ = graphOf(good[:i])
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			changed := slices.Clone(good)
			changed[i] = b
			_ = graphOf(changed)
		}
	}
}

// external is a tensor [2] of floats in another file.
func external(pairs ...string) message {
	m := tensor("w", 1, []int64{2}).varint(14, 1)
	for i := 0; i < len(pairs); i += 2 {
		m = m.bytes(13, message{}.text(1, pairs[i]).text(2, pairs[i+1]))
	}
	return m
}

func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "model")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(inside, "sub"), 0o700))
	weights := []byte("\x00\x00\x80\x3f\x00\x00\x00\x40")
	for _, file := range []string{"w", "sub/w"} {
		must(os.WriteFile(filepath.Join(inside, file), weights, 0o600))
	}
	must(os.WriteFile(filepath.Join(dir, "secret"), weights, 0o600))
	must(os.Symlink("w", filepath.Join(inside, "link")))
	must(os.Symlink("../secret", filepath.Join(inside, "out")))
	must(os.Symlink("sub", filepath.Join(inside, "folder")))
	must(os.WriteFile(filepath.Join(dir, "other"), weights, 0o600))
	must(os.Link(filepath.Join(dir, "other"), filepath.Join(inside, "hard")))
	load := func(t message, opts ...onnx.OpenOptions) error {
		path := filepath.Join(inside, "m.onnx")
		if err := os.WriteFile(path, small(t), 0o600); err != nil {
			return err
		}
		m, err := onnx.Open(path, opts...)
		if err != nil {
			return err
		}
		defer m.Close()
		g, err := m.Graph()
		g.Close()
		return err
	}
	must(load(external("location", "w")))
	must(load(external("location", "sub/w", "offset", "0", "length", "8", "checksum", "ab")))
	for _, root := range []string{"link", "folder/w", "hard"} {
		must(load(external("location", root), onnx.OpenOptions{DataRoot: inside}))
	}
	for name, c := range map[string]struct {
		tensor message
		want   error
	}{
		"above":            {external("location", "../secret"), nef.ErrUnsafePath},
		"above within":     {external("location", "sub/../../secret"), nef.ErrUnsafePath},
		"absolute":         {external("location", filepath.Join(dir, "secret")), nef.ErrUnsafePath},
		"link":             {external("location", "link"), nef.ErrUnsafePath},
		"link out":         {external("location", "out"), nef.ErrUnsafePath},
		"link to a folder": {external("location", "folder/w"), nef.ErrUnsafePath},
		"hard link":        {external("location", "hard"), nef.ErrUnsafePath},
		"folder":           {external("location", "sub"), nef.ErrUnsafePath},
		"empty":            {external("location", ""), nef.ErrUnsafePath},
		"backslash":        {external("location", `sub\w`), nef.ErrUnsafePath},
		"no location":      {external("offset", "0"), nef.ErrUnsafePath},
		"missing":          {external("location", "nobody"), os.ErrNotExist},
		"unknown key":      {external("location", "w", "__class__", "x"), nef.ErrParse},
		"twice":            {external("location", "w", "location", "w"), nef.ErrParse},
		"negative offset":  {external("location", "w", "offset", "-1"), nef.ErrParse},
		"negative length":  {external("location", "w", "length", "-1"), nef.ErrParse},
		"no number":        {external("location", "w", "offset", "1e3"), nef.ErrParse},
		"beyond":           {external("location", "w", "offset", "4"), nef.ErrOutOfRange},
		"far beyond":       {external("location", "w", "offset", "9223372036854775807"), nef.ErrOutOfRange},
		"petabyte":         {external("location", "w", "length", "1125899906842624"), nef.ErrParse},
		"both":             {external("location", "w").bytes(9, weights), nef.ErrParse},
	} {
		if err := load(c.tensor); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := graphOf(small(external("location", "w"))); !errors.Is(err, nef.ErrUnsafePath) {
		t.Errorf("from bytes: %v", err)
	}
}
