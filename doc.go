// SPDX-License-Identifier: Apache-2.0

// Package nef runs AI models as computation graphs: define, then run.
//
// # Basics
//
// Functions on values make graph nodes and compute nothing. Reading a value optimises, plans and
// compiles the graph behind it, and runs it:
//
//	a := nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
//	b := nef.Tensor([]float32{5, 6, 7, 8}, []int{2, 2})
//	c := nef.Softmax(nef.MatMul(a, b).Add(nef.Scalar(float32(1))), -1) // nothing ran
//	fmt.Println(c)                                                     // runs
//
// A service loads a graph, compiles it once and lets all its goroutines run the program:
//
//	g, err := nef.Load("minilm.nef")
//	p, err := g.Compile()
//	out, err := p.Run(ctx, nef.Values{"input_ids": ids, "attention_mask": mask})
//
// Graphs are captured from placeholders with [Input] and [NewGraph], and saved with [Graph.Save].
//
// # Errors
//
// Every error is an [*Error] and matches the sentinel of its code with [errors.Is], such as
// [ErrShapeMismatch]. A value that could not be made carries its error, and what is computed from
// it carries the same one, so that a chain needs one check, of [Value.Err] or of whatever reads
// the value. With NEF_TRACE_SITES=1 in the environment errors also name the lines of the calls.
//
// # Memory
//
// Values, graphs, programs and weights hold memory that Go's collector does not see. It is given
// back some time after the last reference is gone, or at once by Close, which may be called in any
// order and more than once: what was made from a closed object stays valid. Slices passed to this
// package are copied, and so are elements that it returns.
//
// # Goroutines
//
// All functions and methods may be called by many goroutines at the same time, also on the same
// object, as long as nobody changes a slice or map that is being passed.
//
// # Linking
//
// Linking needs cgo and the static archive in go/native/lib, which "./dev build" makes in a
// checkout and release tags contain, or an installed library and the build tag nef_system.
package nef
