// SPDX-License-Identifier: Apache-2.0

package nef

import (
	"math"
	"strconv"
)

// Half is an element of a [Float16] tensor: the bits of an IEEE 754 binary16.
type Half uint16

// BF16 is an element of a [BFloat16] tensor: the upper 16 bits of a float32.
type BF16 uint16

// ToHalf rounds to the nearest, ties to even. What is too large becomes infinite; NaN stays NaN.
func ToHalf(f float32) Half {
	bits := math.Float32bits(f)
	sign := Half(bits >> 16 & 0x8000)
	magnitude := bits & 0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN: keep its upper bits, and keep it quiet
		return sign | 0x7e00 | Half(magnitude>>13&0x3ff)
	case magnitude >= 0x477ff000: // 65520 and more round to infinity
		return sign | 0x7c00
	case magnitude < 0x38800000: // below 2^-14: a subnormal
		// At the scale of 0.5 the last bit of a float32 weighs as much as that of a subnormal
		// half, so that the addition rounds.
		scaled := math.Float32frombits(magnitude) + 0.5
		return sign | Half(math.Float32bits(scaled)-math.Float32bits(0.5))
	}
	rounded := magnitude + 0xfff + magnitude>>13&1
	return sign | Half((rounded-0x38000000)>>13)
}

// Float32 is the exact value.
func (h Half) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero or subnormal: fraction * 2^-24, exact in float32
		return math.Float32frombits(math.Float32bits(float32(fraction)*(1.0/(1<<24))) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// String is the number, not the bits.
func (h Half) String() string { return shortFloat(h.Float32()) }

// ToBF16 rounds to the nearest, ties to even; NaN stays NaN.
func ToBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > 0x7f800000 {
		return BF16(bits>>16 | 0x40)
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 is the exact value.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// String is the number, not the bits.
func (b BF16) String() string { return shortFloat(b.Float32()) }

func shortFloat(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }
