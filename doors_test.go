// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Hexa08/NEF"
)

// door makes a tensor of raw bytes.
type door struct {
	name string
	open func(t *testing.T, dtype nef.DType, shape []int, data []byte) *nef.Value
}

var stored = map[nef.DType]string{
	nef.Bool: "BOOL", nef.Float16: "F16", nef.BFloat16: "BF16", nef.Float32: "F32", nef.Float64: "F64",
	nef.Int64: "I64",
}

func safetensorsOf(dtype nef.DType, shape []int, data []byte) []byte {
	dims := ""
	for i, n := range shape {
		if i > 0 {
			dims += ","
		}
		dims += fmt.Sprint(n)
	}
	head := fmt.Sprintf(`{"w":{"dtype":%q,"shape":[%s],"data_offsets":[0,%d]}}`, stored[dtype], dims, len(data))
	for len(head)%8 != 0 {
		head += " "
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(out, head...), data...)
}

var doors = []door{
	{"FromBytes", func(t *testing.T, dtype nef.DType, shape []int, data []byte) *nef.Value {
		return nef.FromBytes(dtype, shape, data)
	}},
	{"Fill", func(t *testing.T, dtype nef.DType, shape []int, data []byte) *nef.Value {
		return nef.Fill(dtype, shape, func(out []byte) error { copy(out, data); return nil })
	}},
	{"FromFile", func(t *testing.T, dtype nef.DType, shape []int, data []byte) *nef.Value {
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, append(make([]byte, 8), data...), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return nef.FromFile(f, 8, dtype, shape, "w")
	}},
	{"FromSafetensors", func(t *testing.T, dtype nef.DType, shape []int, data []byte) *nef.Value {
		path := filepath.Join(t.TempDir(), "w.safetensors")
		if err := os.WriteFile(path, safetensorsOf(dtype, shape, data), 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := nef.FromSafetensors(path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.Tensor("w")
	}},
}

// A bool is true or false whatever byte it came as.
func TestDoorsBools(t *testing.T) {
	odd := []byte{0, 2, 1, 255, 128}
	want := []bool{false, true, true, true, true}
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			v := d.open(t, nef.Bool, []int{5}, odd)
			all := nef.Tensor([]bool{true, true, true, true, true}, []int{5})
			for what, v := range map[string]*nef.Value{
				"itself": v, "identity": nef.Identity(v), "and": nef.And(v, all),
				"equal": nef.Equal(v, all), "where": nef.Where(all, v, all),
				"cast": nef.Cast(nef.Cast(v, nef.Int64), nef.Bool),
			} {
				got, err := nef.Data[bool](v)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %v, %v", what, got, err)
				}
				raw, err := v.Bytes()
				if err != nil || !slices.Equal(raw, []byte{0, 1, 1, 1, 1}) {
					t.Errorf("%s: bytes %v, %v", what, raw, err)
				}
			}
			numbers, err := nef.Data[float32](nef.Cast(v, nef.Float32))
			if err != nil || !slices.Equal(numbers, []float32{0, 1, 1, 1, 1}) {
				t.Errorf("as numbers: %v, %v", numbers, err)
			}
			keys := map[bool]int{}
			got, _ := nef.Data[bool](v)
			for _, b := range got {
				keys[b]++
			}
			if len(keys) != 2 || keys[true] != 4 {
				t.Errorf("as keys: %v", keys)
			}
			// Saved, it loads.
			g, err := nef.NewGraph(nef.Outputs{"y": nef.And(v, nef.Input("q", nef.Bool, 5))})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			path := filepath.Join(t.TempDir(), "m.nef")
			if err := g.Save(path); err != nil {
				t.Fatal(err)
			}
			back, err := nef.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			back.Close()
		})
	}
}

// Payloads of NaN pass unchanged.
func TestDoorsNaN(t *testing.T) {
	data := binary.LittleEndian.AppendUint32(nil, 0x7f800001)
	data = binary.LittleEndian.AppendUint32(data, 0xffc12345)
	for _, d := range doors {
		v := d.open(t, nef.Float32, []int{2}, data)
		for what, v := range map[string]*nef.Value{
			"itself": v, "identity": nef.Identity(v), "reshape": nef.Reshape(v, []int{2, 1}),
			"concat": nef.Slice(nef.Concat([]*nef.Value{v, v}, 0), []int{2}, []int{4}, nil, nil),
		} {
			got, err := v.Bytes()
			if err != nil || !slices.Equal(got, data) {
				t.Errorf("%s, %s: %x, %v", d.name, what, got, err)
			}
		}
	}
}

// Numbers of no dtype and indices of no element.
func TestDoorsOutOfRange(t *testing.T) {
	for _, dtype := range []nef.DType{-1, 0, 16, 99, 1 << 30} {
		fill := func([]byte) error { return nil }
		file, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for what, v := range map[string]*nef.Value{
			"FromBytes": nef.FromBytes(dtype, []int{1}, make([]byte, 8)),
			"Fill":      nef.Fill(dtype, []int{1}, fill),
			"FromFile":  nef.FromFile(file, 0, dtype, []int{1}, ""),
			"Input":     nef.Input("x", dtype, 1),
			"Cast":      nef.Cast(nef.Scalar(float32(1)), dtype),
		} {
			if !errors.Is(v.Err(), nef.ErrInvalidArgument) {
				t.Errorf("%s of dtype %d: %v", what, dtype, v.Err())
			}
		}
	}
	x := nef.Tensor([]float32{1, 2}, []int{2})
	for _, d := range doors {
		for _, index := range []int64{2, -3, 1 << 62, -1 << 63} {
			at := d.open(t, nef.Int64, []int{1}, binary.LittleEndian.AppendUint64(nil, uint64(index)))
			if err := nef.Gather(x, at, 0).Execute(); !errors.Is(err, nef.ErrOutOfRange) {
				t.Errorf("%s: index %d: %v", d.name, index, err)
			}
		}
	}
}
