// SPDX-License-Identifier: Apache-2.0

package tensorfile

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Hexa08/NEF/go/hydra/npy"
)

// safetensorsNames spells element types as the format does.
var safetensorsNames = map[string]string{
	"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
	"uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
	"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
	"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}

// What the engine reads at most, as docs/nef-format.md says.
const (
	maxName    = 4096
	maxHeader  = 100_000_000 - 8 // with what fills it up
	maxTensors = 1 << 20
)

// nameFault says why no reader takes a name; "" when one does.
func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "__metadata__":
		return "belongs to the format"
	case len(name) > maxName:
		return "is longer than 4096 bytes"
	case strings.ContainsRune(name, 0):
		return "holds a NUL byte"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	}
	return ""
}

type safetensorsEntry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encodeSafetensors lays tensors out by falling element size, then name, so that each is aligned
// and the same tensors give the same file.
func encodeSafetensors(tensors []named) ([]byte, error) {
	tensors = slices.Clone(tensors)
	slices.SortFunc(tensors, func(a, b named) int {
		if d := npy.ItemSize(b.array.DType) - npy.ItemSize(a.array.DType); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	header := map[string]safetensorsEntry{}
	offset := 0
	for _, t := range tensors {
		kind, ok := safetensorsNames[t.array.DType]
		if !ok {
			return nil, fmt.Errorf("tensors of type %q cannot be written", t.array.DType)
		}
		if fault := nameFault(t.name); fault != "" {
			return nil, fmt.Errorf("%q cannot be the name of a tensor: it %s", t.name, fault)
		}
		end := offset + len(t.array.Data)
		header[t.name] = safetensorsEntry{kind, append([]int{}, t.array.Shape...), [2]int{offset, end}}
		offset = end
	}
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	if len(tensors) > maxTensors {
		return nil, fmt.Errorf("%d tensors; a safetensors file holds at most %d", len(tensors), maxTensors)
	}
	if len(head) > maxHeader {
		return nil, fmt.Errorf("the header needs %d bytes; a safetensors file has at most %d", len(head), maxHeader)
	}
	head = append(head, strings.Repeat(" ", (8-len(head)%8)%8)...)
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(head)+offset), uint64(len(head)))
	out = append(out, head...)
	for _, t := range tensors {
		out = append(out, t.array.Data...)
	}
	return out, nil
}
