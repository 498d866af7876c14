// SPDX-License-Identifier: Apache-2.0

package tensorfile

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Hexa08/NEF/go/hydra/npy"
)

// safetensorsNames spells element types as the format does.
var safetensorsNames = map[string]string{
	"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
	"uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
	"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
	"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
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
		if t.name == "" || t.name == "__metadata__" {
			return nil, fmt.Errorf("%q cannot be the name of a tensor", t.name)
		}
		end := offset + len(t.array.Data)
		header[t.name] = safetensorsEntry{kind, append([]int{}, t.array.Shape...), [2]int{offset, end}}
		offset = end
	}
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	head = append(head, strings.Repeat(" ", (8-len(head)%8)%8)...)
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(head)+offset), uint64(len(head)))
	out = append(out, head...)
	for _, t := range tensors {
		out = append(out, t.array.Data...)
	}
	return out, nil
}
