// SPDX-License-Identifier: Apache-2.0

package nef

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// The library knows every op and attribute of the generated functions by its name.
func TestLibraryKnowsAllOps(t *testing.T) {
	known := 0
	for id, name := range opNames {
		if name == "" {
			continue
		}
		known++
		out := apply(opID(id), nil, nil, 1)
		if err := out[0].Err(); err == nil || errors.Is(err, ErrUnknownOp) {
			t.Errorf("%s without inputs: %v", name, err)
		}
		if len(inputNames[id]) == 0 {
			t.Errorf("%s has no names of inputs", name)
		}
		if id >= len(attrNames) {
			continue
		}
		for slot, attribute := range attrNames[id] {
			out := apply(opID(id), nil, []attr{{slot: slot, kind: attrInt}}, 1)
			if err := out[0].Err(); err == nil || strings.Contains(err.Error(), "there is no attribute") {
				t.Errorf("%s with attribute %s: %v", name, attribute, err)
			}
		}
	}
	if known < 106 {
		t.Errorf("%d ops, fewer than there were", known)
	}
}

// Every op is a method too, passes errors on, and survives arguments that mean nothing.
func TestOpMethods(t *testing.T) {
	bad := Tensor([]float32{1}, []int{2})
	good := Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
	value := reflect.TypeFor[*Value]()
	methods := 0
	for i := range value.NumMethod() {
		m := value.Method(i)
		if m.Type.NumOut() == 0 || m.Type.Out(0) != value {
			continue
		}
		methods++
		call := func(receiver *Value) *Value {
			in := []reflect.Value{reflect.ValueOf(receiver)}
			for a := 1; a < m.Type.NumIn() && !(m.Type.IsVariadic() && a == m.Type.NumIn()-1); a++ {
				in = append(in, reflect.Zero(m.Type.In(a)))
			}
			return m.Func.Call(in)[0].Interface().(*Value)
		}
		if err := call(bad).Err(); err != bad.Err() {
			t.Errorf("%s of a value with an error: %v", m.Name, err)
		}
		call(good).Close()
	}
	if methods < 90 {
		t.Errorf("%d methods", methods)
	}
}

func TestSkew(t *testing.T) {
	if err := abiSkew(2, 1); err != nil {
		t.Errorf("a newer library: %v", err)
	}
	skew = abiSkew(1, 2)
	defer func() { skew = nil }()
	if !strings.Contains(skew.Error(), "1") || !strings.Contains(skew.Error(), "install") {
		t.Errorf("message %q", skew)
	}
	_, graph := NewGraph(Outputs{})
	_, file := Load("x.nef")
	_, bytes := LoadBytes(nil)
	_, weights := FromSafetensors("x.safetensors")
	_, devices := Devices()
	for i, err := range []error{
		Tensor([]float32{1}, nil).Err(), Scalar(1).Err(), FromBytes(Int8, nil, []byte{1}).Err(),
		Input("x", Float32).Err(), Max().Err(), graph, file, bytes, weights, devices, LoadBackend("x.so"),
	} {
		if !errors.Is(err, ErrABIMismatch) {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

// A close beside calls frees once, after the last of them.
func TestHandleFreesOnce(t *testing.T) {
	for range 200 {
		before := ReadCounters().LiveTensors
		v := Tensor([]float32{1}, nil)
		done := make(chan struct{})
		for range 4 {
			go func() {
				for v.begin("test") == nil {
					v.end()
				}
				v.Close()
				done <- struct{}{}
			}()
		}
		v.Close()
		for range 4 {
			<-done
		}
		if live := ReadCounters().LiveTensors; live != before {
			t.Fatalf("%d tensors alive, %d before", live, before)
		}
	}
}
