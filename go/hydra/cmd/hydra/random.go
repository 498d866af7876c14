// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/npy"
	"github.com/Hexa08/NEF/go/hydra/tensorfile"
)

// maxRandomBytes keeps a mistyped --dim from filling the memory.
const maxRandomBytes = 4 << 30

// randomInt is the bound of made-up integers: small enough to be an index into most tables.
const randomInt = 10

// randomValues adds made-up values for the given inputs.
func randomValues(values nef.Values, ports []port, sizes map[string]int, seed uint64) error {
	source := rand.New(rand.NewPCG(seed, 0))
	for _, p := range ports {
		array, err := randomArray(source, p, sizes)
		if err != nil {
			return err
		}
		if values[p.Name], err = tensorfile.ToValue(array); err != nil {
			return err
		}
	}
	return nil
}

func randomArray(source *rand.Rand, p port, sizes map[string]int) (npy.Array, error) {
	shape := make([]int, len(p.Dims))
	for i, d := range p.Dims {
		switch n, set := sizes[d.Text]; {
		case d.Size >= 0:
			shape[i] = d.Size
		case set:
			shape[i] = n
		case d.isSymbol():
			shape[i] = d.smallSize()
			sizes[d.Text] = shape[i]
		default:
			return npy.Array{}, usagef("input %s has the dim %s, which --random cannot work out: give the input", p.Name, d.Text)
		}
	}
	itemSize := npy.ItemSize(p.DType)
	if itemSize == 0 {
		return npy.Array{}, fmt.Errorf("input %s is %s, which --random cannot make: give the input", p.Name, p.DType)
	}
	count, err := npy.Count(shape, itemSize)
	if err != nil || count*itemSize > maxRandomBytes {
		return npy.Array{}, usagef("input %s of shape %v is too large for --random", p.Name, shape)
	}
	a := npy.Array{DType: p.DType, Shape: shape, Data: make([]byte, 0, count*itemSize)}
	ones := strings.HasSuffix(p.Name, "mask")
	for range count {
		if a.Data, err = tensorfile.AppendElement(a.Data, p.DType, randomText(source, p.DType, ones)); err != nil {
			return npy.Array{}, err
		}
	}
	return a, nil
}

func randomText(source *rand.Rand, dtype string, ones bool) string {
	switch {
	case ones:
		return "1"
	case dtype == "bool":
		return fmt.Sprint(source.IntN(2))
	case strings.Contains(dtype, "float"):
		return fmt.Sprint(2*source.Float64() - 1)
	}
	return fmt.Sprint(source.IntN(randomInt))
}
