// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"math"
	"slices"
	"testing"

	"github.com/Hexa08/NEF"
)

func isNaN(x float32) bool { return x != x }

// Every half and every number between two neighbours.
func TestHalf(t *testing.T) {
	for bits := range 1 << 16 {
		h := nef.Half(bits)
		f := h.Float32()
		switch back := nef.ToHalf(f); {
		case isNaN(f) != (bits&0x7fff > 0x7c00):
			t.Fatalf("%#04x is %v", bits, f)
		case isNaN(f) && !isNaN(back.Float32()):
			t.Fatalf("NaN %#04x became %v", bits, back)
		case !isNaN(f) && back != h:
			t.Fatalf("%#04x is %v, which became %#04x", bits, f, uint16(back))
		}
		if bits&0x7fff >= 0x7c00 {
			continue
		}
		next := nef.Half(bits + 1).Float32() // away from zero
		if bits&0x7fff == 0x7bff {
			next = float32(math.Copysign(65536, float64(f)))
		}
		middle := (f + next) / 2
		even := h + h&1
		for _, c := range []struct {
			x    float32
			want nef.Half
		}{{middle, even}, {math.Nextafter32(middle, f), h}, {math.Nextafter32(middle, next), h + 1}} {
			if got := nef.ToHalf(c.x); got != c.want {
				t.Fatalf("%v became %#04x, want %#04x", c.x, uint16(got), uint16(c.want))
			}
		}
	}
	if got := nef.ToHalf(1e-10); got != 0 {
		t.Errorf("1e-10 became %#04x", uint16(got))
	}
	if got := nef.ToHalf(float32(math.Inf(-1))); got != 0xfc00 {
		t.Errorf("-Inf became %#04x", uint16(got))
	}
}

func TestBF16(t *testing.T) {
	for _, c := range []struct {
		bits uint32
		want nef.BF16
	}{
		{0x3F808000, 0x3F80}, // tie, to even
		{0x3F818000, 0x3F82},
		{0x3F808001, 0x3F81},
		{0x7F7FFFFF, 0x7F80}, // rounds to infinity
		{0x7F800001, 0x7FC0}, // signalling NaN stays a NaN
		{0xFFFFFFFF, 0xFFFF},
		{0x80000000, 0x8000},
	} {
		if got := nef.ToBF16(math.Float32frombits(c.bits)); got != c.want {
			t.Errorf("%#08x became %#04x, want %#04x", c.bits, uint16(got), uint16(c.want))
		}
	}
	if got := nef.ToBF16(1.5).Float32(); got != 1.5 {
		t.Errorf("1.5 became %v", got)
	}
}

// The engine rounds as this package does.
func TestHalvesAsTheEngineRounds(t *testing.T) {
	numbers := []float32{1.0 / 3, 65519.996, 65520, 6e-8, 2.98e-8, 2.99e-8, -1e-3, 3.3895314e38, 1e-40}
	v := nef.Tensor(numbers, []int{len(numbers)})
	halves, err := nef.Data[nef.Half](v.Cast(nef.Float16))
	if err != nil {
		t.Fatal(err)
	}
	bfloats, err := nef.Data[nef.BF16](v.Cast(nef.BFloat16))
	if err != nil {
		t.Fatal(err)
	}
	var wantHalves []nef.Half
	var wantBF16 []nef.BF16
	for _, x := range numbers {
		wantHalves = append(wantHalves, nef.ToHalf(x))
		wantBF16 = append(wantBF16, nef.ToBF16(x))
	}
	if !slices.Equal(halves, wantHalves) {
		t.Errorf("float16 %v, want %v", halves, wantHalves)
	}
	if !slices.Equal(bfloats, wantBF16) {
		t.Errorf("bfloat16 %v, want %v", bfloats, wantBF16)
	}
}
