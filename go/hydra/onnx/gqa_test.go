// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

// The attention of GroupQueryAttention in plain loops of float64, from the operator's documentation,
// and models of it over random settings on every backend.

// gqaCase is one setting with its data. Tensors are row-major.
type gqaCase struct {
	batch, sequence, past, heads, kvHeads, size int
	lens                                        []int // tokens of each row, the new ones included
	total                                       int
	hasPast, rotary, interleaved, packed, named bool
	rotated                                     int // elements of a head that turn
	givenPositions                              bool
	totalFrom                                   string // "input", "vector", "constant", "shape"
	half                                        bool   // float16
	lensRank                                    int
	window                                      int
	softcap, scale                              float64
	biasBatch, biasHeads                        int // 0 without a bias

	q, k, v, pastK, pastV, cos, sin, bias []float32
	positions                             []int64
}

func (g *gqaCase) String() string {
	return fmt.Sprintf("half %v batch %d sequence %d past %d/%v heads %d/%d size %d lens %v total %d (%s) rotary %v/%d/%v/%v packed %v window %d softcap %.2f scale %.2f bias %d/%d named %v",
		g.half, g.batch, g.sequence, g.past, g.hasPast, g.heads, g.kvHeads, g.size, g.lens, g.total, g.totalFrom,
		g.rotary, g.rotated, g.interleaved, g.givenPositions, g.packed, g.window, g.softcap, g.scale, g.biasBatch, g.biasHeads, g.named)
}

// start is the position of row r's first new token.
func (g *gqaCase) start(r int) int { return max(0, g.lens[r]-g.sequence) }

// length is that of the present keys and values.
func (g *gqaCase) length() int { return max(g.total, g.past) }

const gqaSettings = 200

// newGQACase draws setting i.
func newGQACase(i int) *gqaCase {
	r := rand.New(rand.NewSource(int64(1000 + i)))
	pick := func(n ...int) int { return n[r.Intn(len(n))] }
	coin := func() bool { return r.Intn(2) == 0 }
	g := &gqaCase{
		batch: pick(1, 2, 3, 4), kvHeads: pick(1, 1, 2, 3), window: -1, lensRank: pick(1, 1, 2),
		totalFrom: []string{"input", "vector", "constant", "shape", "shape"}[r.Intn(5)], packed: r.Intn(3) == 0, named: coin(),
	}
	g.heads = g.kvHeads * pick(1, 2, 3, 4)
	g.half = r.Intn(5) == 0
	g.rotary = r.Intn(3) > 0
	if g.rotary {
		g.size, g.interleaved, g.givenPositions = pick(2, 4, 6, 8, 16, 20, 34, 64), coin(), r.Intn(4) == 0
		if g.rotated = g.size; g.size >= 4 && r.Intn(4) == 0 {
			g.rotated = 2
		}
	} else {
		g.size = pick(1, 3, 5, 8, 16, 33, 64)
	}
	g.lens = make([]int, g.batch)
	switch i % 6 {
	case 0: // a step, caches that grow
		g.hasPast, g.sequence, g.past = true, 1, pick(1, 4, 17, 70)
		g.fill(r, g.past+1, 1)
	case 1: // a step, one buffer
		g.hasPast, g.sequence, g.past = true, 1, pick(2, 9, 40, 130)
		g.fill(r, g.past, 1)
	case 2: // a padded prompt without a past
		g.sequence = pick(1, 3, 8, 19, 67)
		g.fill(r, g.sequence, 1)
	case 3: // a padded prompt into a buffer
		g.hasPast, g.sequence = true, pick(2, 5, 12, 40)
		g.past = g.sequence + pick(0, 1, 30)
		g.fill(r, g.sequence, 1)
	case 4: // several tokens behind pasts, caches that grow
		g.hasPast, g.sequence, g.past = true, pick(2, 3, 9, 33), pick(1, 6, 35)
		g.fill(r, g.past+g.sequence, g.sequence)
	case 5: // the same in a buffer
		g.hasPast, g.sequence = true, pick(2, 3, 10)
		g.past = g.sequence + pick(1, 8, 50)
		g.fill(r, g.past, g.sequence)
	}
	if r.Intn(3) == 0 {
		g.window = 1 + r.Intn(g.total+2)
	}
	if r.Intn(4) == 0 {
		g.softcap = 0.5 + 2*r.Float64()
	}
	if r.Intn(3) == 0 {
		g.scale = 0.1 + r.Float64()
	}
	if r.Intn(4) == 0 {
		g.biasBatch, g.biasHeads = pick(1, g.batch), pick(1, g.heads)
	}
	g.draw(r)
	return g
}

// fill draws the rows' lengths: one in three settings has equal ones.
func (g *gqaCase) fill(r *rand.Rand, most, least int) {
	same := r.Intn(3) == 0
	first := least + r.Intn(most-least+1)
	for i := range g.lens {
		if g.lens[i] = first; !same {
			g.lens[i] = least + r.Intn(most-least+1)
		}
	}
	g.total = max(slices.Max(g.lens), g.sequence)
}

func (g *gqaCase) draw(r *rand.Rand) {
	numbers := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64())
		}
		return out
	}
	g.q = numbers(g.batch * g.sequence * g.heads * g.size)
	g.k = numbers(g.batch * g.sequence * g.kvHeads * g.size)
	g.v = numbers(g.batch * g.sequence * g.kvHeads * g.size)
	if g.hasPast {
		g.pastK = numbers(g.batch * g.kvHeads * g.past * g.size)
		g.pastV = numbers(g.batch * g.kvHeads * g.past * g.size)
		// What lies behind a row's own past may be anything.
		nan := float32(math.NaN())
		for i := range g.pastK {
			if row := i / (g.kvHeads * g.past * g.size); i/g.size%g.past >= g.start(row) {
				g.pastK[i], g.pastV[i] = nan, nan
			}
		}
	}
	if g.rotary {
		for p := range g.total + 3 {
			for i := range g.rotated / 2 {
				angle := float64(p) * math.Pow(100, -float64(2*i)/float64(g.rotated))
				g.cos, g.sin = append(g.cos, float32(math.Cos(angle))), append(g.sin, float32(math.Sin(angle)))
			}
		}
	}
	if g.givenPositions {
		for range g.batch * g.sequence {
			g.positions = append(g.positions, int64(r.Intn(g.total+3)))
		}
	}
	g.bias = numbers(g.biasBatch * g.biasHeads * g.sequence * g.total)
	if !g.half {
		return
	}
	for _, list := range [][]float32{g.q, g.k, g.v, g.pastK, g.pastV, g.cos, g.sin, g.bias} {
		for i, x := range list {
			list[i] = nef.ToHalf(x).Float32()
		}
	}
}

// tensor has the setting's dtype.
func (g *gqaCase) tensor(x []float32, shape ...int) *nef.Value {
	v := nef.Tensor(x, shape)
	if g.half {
		v = nef.Cast(v, nef.Float16)
	}
	return v
}

// float is that dtype as ONNX has it.
func (g *gqaCase) float() int64 {
	if g.half {
		return halfType
	}
	return floatType
}

// constant is an initializer of it.
func (g *gqaCase) constant(name string, dims []int64, xs []float32) message {
	if !g.half {
		return floats(name, dims, xs...)
	}
	var raw []byte
	for _, x := range xs {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(nef.ToHalf(x)))
	}
	return tensor(name, halfType, dims).bytes(9, raw)
}

// ---- the reference

// head is one head of new keys or queries, turned where that is asked for.
func (g *gqaCase) head(x []float32, heads, r, i, h int) []float64 {
	out := make([]float64, g.size)
	for d := range out {
		out[d] = float64(x[((r*g.sequence+i)*heads+h)*g.size+d])
	}
	return out
}

func (g *gqaCase) turn(x []float64, r, i int) []float64 {
	if !g.rotary {
		return x
	}
	position := g.start(r) + i
	if g.givenPositions {
		position = int(g.positions[r*g.sequence+i])
	}
	half := g.rotated / 2
	out := slices.Clone(x)
	for p := range half {
		a, b := p, p+half
		if g.interleaved {
			a, b = 2*p, 2*p+1
		}
		c, s := float64(g.cos[position*half+p]), float64(g.sin[position*half+p])
		out[a], out[b] = x[a]*c-x[b]*s, x[b]*c+x[a]*s
	}
	return out
}

// cached are key and value t of head h of row r, in positions of that row.
func (g *gqaCase) cached(r, h, t int) (key, value []float64) {
	if t >= g.start(r) {
		i := t - g.start(r)
		return g.turn(g.head(g.k, g.kvHeads, r, i, h), r, i), g.head(g.v, g.kvHeads, r, i, h)
	}
	for d := range g.size {
		at := ((r*g.kvHeads+h)*g.past+t)*g.size + d
		key, value = append(key, float64(g.pastK[at])), append(value, float64(g.pastV[at]))
	}
	return key, value
}

// attend is head h of the result for new token i of row r.
func (g *gqaCase) attend(r, i, h int) []float64 {
	query, kv := g.turn(g.head(g.q, g.heads, r, i, h), r, i), h/(g.heads/g.kvHeads)
	last := g.start(r) + i
	first := 0
	if g.window > 0 {
		first = max(0, last-g.window+1)
	}
	scale := g.scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(g.size))
	}
	out, sum := make([]float64, g.size), 0.0
	for t := first; t <= last; t++ {
		key, value := g.cached(r, kv, t)
		score := 0.0
		for d := range key {
			score += query[d] * key[d]
		}
		score *= scale
		if g.softcap > 0 {
			score = g.softcap * math.Tanh(score/g.softcap)
		}
		if g.biasBatch > 0 {
			b, n := r%g.biasBatch, h%g.biasHeads
			score += float64(g.bias[((b*g.biasHeads+n)*g.sequence+i)*g.total+t])
		}
		weight := math.Exp(score)
		sum += weight
		for d := range value {
			out[d] += weight * value[d]
		}
	}
	for d := range out {
		out[d] /= sum
	}
	return out
}

// ---- the model

func attrFloat(name string, x float32) message {
	m := message{}.text(1, name).varint(20, 1)
	m = append(m, 2<<3|5)
	bits := math.Float32bits(x)
	return append(m, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
}

// dims are those of an input: names where sizes are to stay open.
func (g *gqaCase) dims(numbers []int, names ...any) []any {
	out := make([]any, len(numbers))
	for i, n := range numbers {
		if out[i] = names[i]; !g.named || names[i] == nil {
			out[i] = n
		}
	}
	return out
}

const floatType, int32Type, int64Type, halfType = 1, 6, 7, 10

func (g *gqaCase) model() ([]byte, nef.Values) {
	b, s, p := g.batch, g.sequence, g.past
	values := nef.Values{}
	var gr graph
	add := func(name string, v *nef.Value, elem int64, names ...any) {
		values[name] = v
		gr.inputs = append(gr.inputs, value(name, elem, g.dims(v.Shape(), names...)...))
	}
	in := make([]string, 11)
	if g.packed {
		var all []float32
		for t := range b * s {
			for _, part := range []struct {
				x     []float32
				heads int
			}{{g.q, g.heads}, {g.k, g.kvHeads}, {g.v, g.kvHeads}} {
				all = append(all, part.x[t*part.heads*g.size:(t+1)*part.heads*g.size]...)
			}
		}
		in[0] = "qkv"
		add("qkv", g.tensor(all, b, s, (g.heads+2*g.kvHeads)*g.size), g.float(), "batch", "sequence", nil)
	} else {
		in[0], in[1], in[2] = "q", "k", "v"
		add("q", g.tensor(g.q, b, s, g.heads*g.size), g.float(), "batch", "sequence", nil)
		add("k", g.tensor(g.k, b, s, g.kvHeads*g.size), g.float(), "batch", "sequence", nil)
		add("v", g.tensor(g.v, b, s, g.kvHeads*g.size), g.float(), "batch", "sequence", nil)
	}
	if g.hasPast {
		in[3], in[4] = "pk", "pv"
		add("pk", g.tensor(g.pastK, b, g.kvHeads, p, g.size), g.float(), "batch", nil, "past", nil)
		add("pv", g.tensor(g.pastV, b, g.kvHeads, p, g.size), g.float(), "batch", nil, "past", nil)
	}
	last := make([]int32, b)
	for r, n := range g.lens {
		last[r] = int32(n - 1)
	}
	in[5], in[6] = "sl", "tl"
	if g.lensRank == 2 {
		add("sl", nef.Tensor(last, []int{b, 1}), int32Type, "batch", nil)
	} else {
		add("sl", nef.Tensor(last, []int{b}), int32Type, "batch")
	}
	switch g.totalFrom {
	case "input":
		add("tl", nef.Scalar(int32(g.total)), int32Type)
	case "vector":
		add("tl", nef.Tensor([]int32{int32(g.total)}, []int{1}), int32Type, any(nil))
	case "constant":
		gr.initializers = append(gr.initializers, int64s("tl64", nil, int64(g.total)))
		gr.nodes = append(gr.nodes, node("Cast", list("tl64"), list("tl"), attrInt("to", int32Type)))
	case "shape": // as exporters have it: a dim of the attention mask
		add("mask", nef.Tensor(make([]int64, b*g.total), []int{b, g.total}), int64Type, "batch", "total")
		gr.initializers = append(gr.initializers, int64s("one", nil, 1))
		gr.nodes = append(gr.nodes, node("Shape", list("mask"), list("mask_shape")),
			node("Gather", list("mask_shape", "one"), list("tl64")), node("Cast", list("tl64"), list("tl"), attrInt("to", int32Type)))
	}
	if g.rotary {
		in[7], in[8] = "cos", "sin"
		rows := int64(g.total + 3)
		gr.initializers = append(gr.initializers, g.constant("cos", []int64{rows, int64(g.rotated / 2)}, g.cos),
			g.constant("sin", []int64{rows, int64(g.rotated / 2)}, g.sin))
	}
	if g.givenPositions {
		in[9] = "positions"
		add("positions", nef.Tensor(g.positions, []int{b, s}), int64Type, "batch", "sequence")
	}
	if g.biasBatch > 0 {
		in[10] = "bias"
		add("bias", g.tensor(g.bias, g.biasBatch, g.biasHeads, s, g.total), g.float(), nil, nil, "sequence", "total")
	}
	attrs := []message{attrInt("num_heads", int64(g.heads)), attrInt("kv_num_heads", int64(g.kvHeads))}
	for name, on := range map[string]bool{"do_rotary": g.rotary, "rotary_interleaved": g.interleaved} {
		if on {
			attrs = append(attrs, attrInt(name, 1))
		}
	}
	if g.window > 0 {
		attrs = append(attrs, attrInt("local_window_size", int64(g.window)))
	}
	if g.softcap > 0 {
		attrs = append(attrs, attrFloat("softcap", float32(g.softcap)))
	}
	if g.scale > 0 {
		attrs = append(attrs, attrFloat("scale", float32(g.scale)))
	}
	gr.nodes = append(gr.nodes, domainNode("com.microsoft", "GroupQueryAttention", in, list("y", "ok", "ov"), attrs...))
	gr.outputs = []message{value("y", g.float(), nil, nil, nil), value("ok", g.float(), nil, nil, nil, nil), value("ov", g.float(), nil, nil, nil, nil)}
	return model(17, gr), values
}

// ---- the comparison

// check compares a run's outputs with the reference and returns the largest difference of float32.
func (g *gqaCase) check(t *testing.T, out nef.Values) float64 {
	t.Helper()
	worst, tolerance := 0.0, 2e-5
	if g.half {
		tolerance = 1e-2
	}
	near := func(what string, got float32, want float64, at ...int) bool {
		diff := math.Abs(float64(got) - want)
		if !g.half {
			worst = max(worst, diff)
		}
		if diff <= tolerance*max(1, math.Abs(want)) {
			return true
		}
		t.Errorf("%s%v is %v, want %v: %v", what, at, got, want, g)
		return false
	}
	if got, want := out["y"].Shape(), []int{g.batch, g.sequence, g.heads * g.size}; !slices.Equal(got, want) {
		t.Fatalf("y has shape %v, want %v: %v", got, want, g)
	}
	for _, name := range []string{"ok", "ov"} {
		if got, want := out[name].Shape(), []int{g.batch, g.kvHeads, g.length(), g.size}; !slices.Equal(got, want) {
			t.Fatalf("%s has shape %v, want %v: %v", name, got, want, g)
		}
	}
	y, presentK, presentV := data(t, out["y"]), data(t, out["ok"]), data(t, out["ov"])
	for r := range g.batch {
		for i := range min(g.sequence, g.lens[r]) { // what lies behind is padding
			for h := range g.heads {
				for d, want := range g.attend(r, i, h) {
					if !near("y", y[((r*g.sequence+i)*g.heads+h)*g.size+d], want, r, i, h, d) {
						return worst
					}
				}
			}
		}
		for h := range g.kvHeads {
			for at := range g.length() {
				base := ((r*g.kvHeads+h)*g.length() + at) * g.size
				if at < g.start(r)+g.sequence {
					key, value := g.cached(r, h, at)
					for d := range g.size {
						if !near("ok", presentK[base+d], key[d], r, h, at, d) || !near("ov", presentV[base+d], value[d], r, h, at, d) {
							return worst
						}
					}
					continue
				}
				// Behind a row the past is as it was, and 0 where that had no more.
				for d := range g.size {
					if untouched := presentK[base+d] != presentK[base+d]; untouched != (at < g.past) {
						t.Errorf("ok[%d %d %d] is %v behind the row: %v", r, h, at, presentK[base+d], g)
						return worst
					}
				}
			}
		}
	}
	return worst
}

func data(t *testing.T, v *nef.Value) []float32 {
	t.Helper()
	out, err := nef.Data[float32](nef.Cast(v, nef.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gqaDevices are the CPU's backends, and the device that NEF_GQA_DEVICE names.
func gqaDevices() []string {
	devices := []string{"cpu", "reference"}
	if name := os.Getenv("NEF_GQA_DEVICE"); name != "" {
		devices = []string{name}
	}
	return devices
}

// needDevice skips a test where there is no such device.
func needDevice(t *testing.T, name string) {
	t.Helper()
	devices, err := nef.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.Backend == name && d.Available {
			return
		}
		if d.Backend == name {
			t.Skip(d.String())
		}
	}
	t.Skipf("there is no device %q here", name)
}

// Each setting on each device, twice.
func TestGroupQueryAttention(t *testing.T) {
	for _, device := range gqaDevices() {
		t.Run(device, func(t *testing.T) {
			needDevice(t, device)
			worst, ragged := 0.0, 0
			for i := range gqaSettings {
				g := newGQACase(i)
				if slices.Max(g.lens) != slices.Min(g.lens) {
					ragged++
				}
				m, values := g.model()
				graph, err := onnx.Import(write(t, m))
				if err != nil {
					t.Fatalf("setting %d: %v: %v", i, err, g)
				}
				p, err := graph.Compile(nef.Options{Device: device})
				if err != nil {
					t.Fatalf("setting %d: %v: %v", i, err, g)
				}
				for range 2 { // the second one may be a replay
					out, err := p.Run(context.Background(), values)
					if err != nil {
						t.Fatalf("setting %d: %v: %v", i, err, g)
					}
					worst = max(worst, g.check(t, out))
				}
				if t.Failed() {
					t.Fatalf("that was setting %d", i)
				}
			}
			t.Logf("GroupQueryAttention on %s: %d settings, %d of them with rows of different lengths, worst difference %.2g", device, gqaSettings, ragged, worst)
		})
	}
}

// Rows of one step that have 3 and 5 tokens: what each attends to, and where its new token lies.
func TestStepOfRowsOfDifferentLengths(t *testing.T) {
	m := model(17, graph{
		nodes: []message{domainNode("com.microsoft", "GroupQueryAttention", list("q", "k", "v", "pk", "pv", "sl", "tl"), list("y", "ok", "ov"),
			attrInt("num_heads", 2), attrInt("kv_num_heads", 1))},
		inputs: []message{
			value("q", floatType, "b", "s", 16), value("k", floatType, "b", "s", 8), value("v", floatType, "b", "s", 8),
			value("pk", floatType, "b", 1, "p", 8), value("pv", floatType, "b", 1, "p", 8),
			value("sl", int32Type, "b"), value("tl", int32Type),
		},
		outputs: []message{value("y", floatType), value("ok", floatType), value("ov", floatType)},
	})
	filled := func(x float32, shape ...int) *nef.Value {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return nef.Tensor(slices.Repeat([]float32{x}, n), shape)
	}
	for past := 4; past <= 7; past += 3 { // a cache that grows, and a buffer with room
		var old []float32
		for range 2 {
			for i := range past {
				old = append(old, slices.Repeat([]float32{float32(i + 1)}, 8)...)
			}
		}
		out := run(t, m, nef.Values{
			"q": filled(0, 2, 1, 16), "k": filled(0, 2, 1, 8), "v": filled(100, 2, 1, 8), "pk": filled(0, 2, 1, past, 8),
			"pv": nef.Tensor(old, []int{2, 1, past, 8}), "sl": nef.Tensor([]int32{2, 4}, []int{2}), "tl": nef.Scalar(int32(5)),
		})
		y := data(t, out["y"])
		for i, got := range y {
			if want := []float64{103.0 / 3, 22}[i/16]; math.Abs(float64(got)-want) > 1e-4 {
				t.Fatalf("past %d: y[%d] is %v, want %v", past, i, got, want)
			}
		}
		present := data(t, out["ov"])
		length := max(5, past)
		want := [][]float32{{1, 2, 100}, {1, 2, 3, 4, 100}}
		for r, row := range want {
			for i, x := range row {
				if got := present[(r*length+i)*8]; got != x {
					t.Errorf("past %d: row %d holds %v at %d, want %v", past, r, got, i, x)
				}
			}
		}
	}
}

// A step of a decoder with one row: a cache that grows, one buffer that is mostly empty.
func BenchmarkGroupQueryAttentionStep(b *testing.B) {
	const heads, kvHeads, size, tokens = 32, 8, 128, 1024
	for _, past := range []int{tokens, 4 * tokens} {
		m := model(17, graph{
			nodes: []message{
				node("Shape", list("mask"), list("shape")), node("Gather", list("shape", "one"), list("total")), node("Cast", list("total"), list("tl"), attrInt("to", int32Type)),
				domainNode("com.microsoft", "GroupQueryAttention", list("q", "k", "v", "pk", "pv", "sl", "tl"), list("y", "ok", "ov"),
					attrInt("num_heads", heads), attrInt("kv_num_heads", kvHeads)),
			},
			initializers: []message{int64s("one", nil, 1)},
			inputs: []message{
				value("mask", int64Type, "b", "total"), value("q", floatType, "b", "s", heads*size), value("k", floatType, "b", "s", kvHeads*size), value("v", floatType, "b", "s", kvHeads*size),
				value("pk", floatType, "b", kvHeads, "p", size), value("pv", floatType, "b", kvHeads, "p", size), value("sl", int32Type, "b"),
			},
			outputs: []message{value("y", floatType), value("ok", floatType), value("ov", floatType)},
		})
		floats := func(shape ...int) *nef.Value {
			n := 1
			for _, d := range shape {
				n *= d
			}
			return nef.Tensor(slices.Repeat([]float32{0.5}, n), shape)
		}
		values := nef.Values{
			"mask": nef.Tensor(make([]int64, tokens+1), []int{1, tokens + 1}), "q": floats(1, 1, heads*size), "k": floats(1, 1, kvHeads*size), "v": floats(1, 1, kvHeads*size),
			"pk": floats(1, kvHeads, past, size), "pv": floats(1, kvHeads, past, size), "sl": nef.Tensor([]int32{tokens}, []int{1}),
		}
		path := b.TempDir() + "/model.onnx"
		if err := os.WriteFile(path, m, 0o600); err != nil {
			b.Fatal(err)
		}
		graph, err := onnx.Import(path)
		if err != nil {
			b.Fatal(err)
		}
		p, err := graph.Compile(nef.Options{Device: os.Getenv("NEF_GQA_DEVICE")})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("past=%d", past), func(b *testing.B) {
			for range b.N {
				out, err := p.Run(context.Background(), values)
				if err != nil {
					b.Fatal(err)
				}
				out.Close()
			}
		})
	}
}
