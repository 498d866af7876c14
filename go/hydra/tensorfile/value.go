// SPDX-License-Identifier: Apache-2.0

package tensorfile

import (
	"fmt"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/npy"
	"github.com/Hexa08/NEF/internal/safetext"
)

// ToValue makes a value with a's elements.
func ToValue(a npy.Array) (*nef.Value, error) {
	dtype, ok := nef.ParseDType(a.DType)
	if !ok {
		return nil, fmt.Errorf("%q is no element type of NEF", a.DType)
	}
	v := nef.FromBytes(dtype, a.Shape, a.Data)
	return v, v.Err()
}

// FromValue executes v if need be and copies its elements.
func FromValue(v *nef.Value) (npy.Array, error) {
	data, err := v.Bytes()
	if err != nil {
		return npy.Array{}, err
	}
	return npy.Array{DType: v.DType().String(), Shape: v.Shape(), Data: data}, nil
}

func readSafetensors(r Reference) (npy.Array, error) {
	weights, err := nef.FromSafetensors(r.File)
	if err != nil {
		return npy.Array{}, err
	}
	defer weights.Close()
	names := weights.Names()
	entry := r.Entry
	if entry == "" {
		if len(names) == 0 {
			return npy.Array{}, fmt.Errorf("%s holds no tensor", r.File)
		}
		if len(names) > 1 {
			return npy.Array{}, fmt.Errorf("%s holds %d tensors: name one, such as %s", r.File, len(names), safetext.Shell("@"+r.File+"#"+names[0]))
		}
		entry = names[0]
	}
	v := weights.Tensor(entry)
	defer v.Close()
	return FromValue(v)
}
