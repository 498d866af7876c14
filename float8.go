// SPDX-License-Identifier: Apache-2.0

package nef

import "math"

// E4M3 is an element of a [Float8E4M3FN] tensor: a sign, 4 bits of exponent, 3 of mantissa. It has no
// infinity.
type E4M3 uint8

// E5M2 is an element of a [Float8E5M2] tensor: the upper half of a [Half].
type E5M2 uint8

// ToE4M3 rounds to the nearest, ties to even. What is too large becomes 448 with its sign; NaN stays
// NaN.
func ToE4M3(f float32) E4M3 { return E4M3(toFloat8(f, 3, -6, 0x7e)) }

// ToE5M2 rounds to the nearest, ties to even. What is too large becomes 57344 with its sign; NaN stays
// NaN.
func ToE5M2(f float32) E5M2 { return E5M2(toFloat8(f, 2, -14, 0x7b)) }

// toFloat8 makes the code of a format of so many bits of mantissa, whose least normal number is
// 2^minExponent.
func toFloat8(f float32, mantissa, minExponent int, largest uint8) uint8 {
	bits := math.Float32bits(f)
	sign, magnitude := uint8(bits>>24&0x80), bits&0x7fffffff
	least := uint32(127 + minExponent)
	if magnitude > 0x7f800000 {
		return sign | 0x7f
	}
	if magnitude < least<<23 {
		// The last bit of a float32 of this size weighs as much as that of a subnormal number, so that
		// the addition rounds.
		align := math.Float32frombits((least + 23 - uint32(mantissa)) << 23)
		return sign | uint8(math.Float32bits(math.Float32frombits(magnitude)+align)-math.Float32bits(align))
	}
	shift := 23 - mantissa
	rounded := magnitude + 1<<(shift-1) - 1 + magnitude>>shift&1
	return sign | uint8(min(rounded>>shift-(least-1)<<mantissa, uint32(largest)))
}

// Float32 is the exact value.
func (e E4M3) Float32() float32 {
	sign := uint32(e&0x80) << 24
	exponent, fraction := uint32(e>>3&0xf), uint32(e&7)
	switch {
	case e&0x7f == 0x7f:
		return math.Float32frombits(sign | 0x7fc00000)
	case exponent == 0: // zero or subnormal: fraction * 2^-9
		return math.Float32frombits(math.Float32bits(float32(fraction)/(1<<9)) | sign)
	}
	return math.Float32frombits(sign | (exponent+120)<<23 | fraction<<20)
}

// Float32 is the exact value.
func (e E5M2) Float32() float32 { return (Half(e) << 8).Float32() }

// String is the number, not the bits.
func (e E4M3) String() string { return shortFloat(e.Float32()) }

// String is the number, not the bits.
func (e E5M2) String() string { return shortFloat(e.Float32()) }
