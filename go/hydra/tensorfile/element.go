// SPDX-License-Identifier: Apache-2.0

package tensorfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/npy"
)

// AppendElement adds the bytes of one number, given as text, to out.
func AppendElement(out []byte, dtype, text string) ([]byte, error) {
	bits := 8 * npy.ItemSize(dtype)
	switch {
	case dtype == "bool":
		switch text {
		case "true", "1":
			return append(out, 1), nil
		case "false", "0":
			return append(out, 0), nil
		}
		return out, fmt.Errorf("%q is no bool", text)
	case strings.HasPrefix(dtype, "int"):
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return out, fmt.Errorf("%q is no %s", text, dtype)
		}
		return appendBits(out, bits, uint64(n)), nil
	case strings.HasPrefix(dtype, "uint"):
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			return out, fmt.Errorf("%q is no %s", text, dtype)
		}
		return appendBits(out, bits, n), nil
	}
	return appendFloat(out, dtype, text)
}

func appendFloat(out []byte, dtype, text string) ([]byte, error) {
	parse := 64
	if dtype == "float32" {
		parse = 32
	}
	x, err := strconv.ParseFloat(text, parse)
	if err != nil {
		return out, fmt.Errorf("%q is no %s", text, dtype)
	}
	switch dtype {
	case "float64":
		return appendBits(out, 64, math.Float64bits(x)), nil
	case "float32":
		return appendBits(out, 32, uint64(math.Float32bits(float32(x)))), nil
	case "float16":
		return appendBits(out, 16, uint64(nef.ToHalf(float32(x)))), nil
	case "bfloat16":
		return appendBits(out, 16, uint64(nef.ToBF16(float32(x)))), nil
	case "float8_e4m3fn":
		return appendBits(out, 8, uint64(nef.ToE4M3(float32(x)))), nil
	case "float8_e5m2":
		return appendBits(out, 8, uint64(nef.ToE5M2(float32(x)))), nil
	}
	return out, fmt.Errorf("tensors of type %q cannot be read", dtype)
}

func appendBits(out []byte, bits int, value uint64) []byte {
	for ; bits > 0; bits -= 8 {
		out = append(out, byte(value))
		value >>= 8
	}
	return out
}

// elementText spells the number in data, in the fewest digits that read back as the same value.
func elementText(dtype string, data []byte) string {
	var raw [8]byte
	copy(raw[:], data)
	bits := binary.LittleEndian.Uint64(raw[:])
	switch dtype {
	case "bool":
		return strconv.FormatBool(bits != 0)
	case "float64":
		return floatText(math.Float64frombits(bits), 64)
	case "float32":
		return floatText(float64(math.Float32frombits(uint32(bits))), 32)
	case "float16":
		return floatText(float64(nef.Half(bits).Float32()), 32)
	case "bfloat16":
		return floatText(float64(nef.BF16(bits).Float32()), 32)
	case "float8_e4m3fn":
		return floatText(float64(nef.E4M3(bits).Float32()), 32)
	case "float8_e5m2":
		return floatText(float64(nef.E5M2(bits).Float32()), 32)
	}
	if strings.HasPrefix(dtype, "uint") {
		return strconv.FormatUint(bits, 10)
	}
	shift := 64 - 8*len(data)
	return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
}

func floatText(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}
