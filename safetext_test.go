// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/internal/safetext"
)

// What this package prints of a model does nothing to a terminal, and is one line where it is to
// be one.
func TestNamesArePrintedSafely(t *testing.T) {
	evil := "x\x1b]0;pwned\a\nhydra: verified\r\u202e\u009b2J\u2028"
	x := nef.Input(evil, nef.Float32, nef.DimRange(evil, 1, 8), 2)
	g, err := nef.NewGraph(nef.Outputs{evil + "y": nef.Relu(x)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, missing := p.Run(t.Context(), nef.Values{})
	_, unknown := p.Run(t.Context(), nef.Values{evil + "q": nef.Scalar(float32(1))})
	_, broken := nef.LoadBytes([]byte(`{"version": "1.0", "nef_format": "graph-v1", "graph": {"inputs": ["x"], "nodes": [], "outputs": ["x"]},
		"tensors": {"x": {"shape": ["b\u001b[2J\n\u202e"], "dtype": "float32"}}}`))
	var e *nef.Error
	if !errors.As(broken, &e) || safetext.Escape(e.Msg) != e.Msg || !strings.Contains(e.Msg, `b\x1b[2J`) {
		t.Errorf("the library's own message is %q", broken)
	}
	for what, text := range map[string]string{
		"a missing input": fmt.Sprint(missing), "an unknown input": fmt.Sprint(unknown), "a graph": g.String(), "an input": g.Inputs()[0].String(),
		"a dim": nef.Dim(evil).String(), "a bounded dim": nef.DimRange(evil, 1, 2).String(), "a value": x.String(), "a value of it": nef.Relu(x).String(),
		"an event": nef.Event{What: evil, Why: evil, From: evil, To: evil}.String(), "a short event": nef.Event{What: evil, Why: evil}.String(),
		"a device": nef.Device{Name: evil, Description: evil, Available: true, Memory: 1 << 30}.String(), "an absent device": nef.Device{Name: evil, Reason: evil}.String(),
		"an error": (&nef.Error{Op: evil, Msg: evil}).Error(), "an error without an op": (&nef.Error{Msg: evil}).Error(),
	} {
		if safetext.Escape(text) != text || text == "<nil>" {
			t.Errorf("%s: %q", what, text)
		}
	}
	plan := nef.Plan{Regions: []nef.Region{{Ops: evil, Node: evil, Device: evil, Why: evil, Kernel: evil}}}
	text := plan.String()
	if strings.Count(text, "\n") != 2 || safetext.Lines(text).String() != text || strings.Contains(text, "\nhydra") {
		t.Errorf("a plan: %q", text)
	}
}
