// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"math"
	"slices"
	"testing"

	"github.com/Hexa08/NEF"
)

// Every code of both formats by their definition, and what lies between two neighbours.
func TestFloat8(t *testing.T) {
	t.Run("E4M3", func(t *testing.T) {
		checkFloat8(t, 3, 7, 0x7e, func(c uint8) float32 { return nef.E4M3(c).Float32() },
			func(f float32) uint8 { return uint8(nef.ToE4M3(f)) })
	})
	t.Run("E5M2", func(t *testing.T) {
		checkFloat8(t, 2, 15, 0x7b, func(c uint8) float32 { return nef.E5M2(c).Float32() },
			func(f float32) uint8 { return uint8(nef.ToE5M2(f)) })
	})
}

func checkFloat8(t *testing.T, mantissa, bias int, largest uint8, widen func(uint8) float32, narrow func(float32) uint8) {
	for code := range 128 {
		for _, sign := range []uint8{0, 0x80} {
			c := uint8(code) | sign
			f := widen(c)
			if uint8(code) > largest {
				infinite := mantissa == 2 && code == 0x7c
				if infinite != math.IsInf(float64(f), 0) || infinite == isNaN(f) {
					t.Errorf("%#02x is %v", c, f)
				}
				continue
			}
			exponent, fraction := code>>mantissa, float64(code&(1<<mantissa-1))
			want := math.Ldexp(fraction, 1-bias-mantissa)
			if exponent > 0 {
				want = math.Ldexp(fraction+float64(int(1)<<mantissa), exponent-bias-mantissa)
			}
			if sign != 0 {
				want = -want
			}
			if float64(f) != want || math.Signbit(float64(f)) != (sign != 0) {
				t.Fatalf("%#02x is %v, want %v", c, f, want)
			}
			if got := narrow(f); got != c {
				t.Fatalf("%v became %#02x, want %#02x", f, got, c)
			}
			if uint8(code) == largest {
				continue
			}
			middle := (f + widen(c+1)) / 2
			away := float32(math.Copysign(1e9, float64(f)))
			even := c + c&1
			for _, x := range []struct {
				x    float32
				want uint8
			}{{middle, even}, {math.Nextafter32(middle, 0), c}, {math.Nextafter32(middle, away), c + 1}} {
				if got := narrow(x.x); got != x.want {
					t.Fatalf("%v became %#02x, want %#02x", x.x, got, x.want)
				}
			}
		}
	}
	inf := float32(math.Inf(1))
	for _, x := range []float32{inf, math.MaxFloat32, 61440} {
		if got := narrow(x); got != largest {
			t.Errorf("%v became %#02x, want %#02x", x, got, largest)
		}
		if got := narrow(-x); got != largest|0x80 {
			t.Errorf("%v became %#02x", -x, got)
		}
	}
	if got := narrow(float32(math.NaN())); !isNaN(widen(got)) {
		t.Errorf("NaN became %#02x", got)
	}
}

// The engine rounds as this package does, and keeps what it stores.
func TestFloat8InTheEngine(t *testing.T) {
	numbers := []float32{1.0 / 3, 464, 465, 1e9, -1e9, 0.0009765625, 0.002, 61440, -2.98e-8, 17, 1e-5}
	v := nef.Tensor(numbers, []int{len(numbers)})
	e4m3, err := nef.Data[nef.E4M3](v.Cast(nef.Float8E4M3FN))
	if err != nil {
		t.Fatal(err)
	}
	e5m2, err := nef.Data[nef.E5M2](v.Cast(nef.Float8E5M2))
	if err != nil {
		t.Fatal(err)
	}
	var wantE4M3 []nef.E4M3
	var wantE5M2 []nef.E5M2
	for _, x := range numbers {
		wantE4M3 = append(wantE4M3, nef.ToE4M3(x))
		wantE5M2 = append(wantE5M2, nef.ToE5M2(x))
	}
	if !slices.Equal(e4m3, wantE4M3) {
		t.Errorf("float8_e4m3fn %v, want %v", e4m3, wantE4M3)
	}
	if !slices.Equal(e5m2, wantE5M2) {
		t.Errorf("float8_e5m2 %v, want %v", e5m2, wantE5M2)
	}
	back := nef.Tensor(e4m3, []int{len(e4m3)})
	if got := back.DType(); got != nef.Float8E4M3FN {
		t.Errorf("dtype %v", got)
	}
	wide, err := nef.Data[float32](back.Cast(nef.Float32))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range wide {
		if x != e4m3[i].Float32() {
			t.Errorf("%v became %v", e4m3[i], x)
		}
	}
	if text := nef.Tensor([]nef.E5M2{nef.ToE5M2(1.5), nef.ToE5M2(-2)}, []int{2}).String(); text == "" {
		t.Error("no text")
	}
}

func TestFloat8IsNotComputedWith(t *testing.T) {
	v := nef.Tensor([]nef.E4M3{0x38}, []int{1})
	if err := v.Add(v).Err(); err == nil {
		t.Error("Add took float8")
	}
}
