// SPDX-License-Identifier: Apache-2.0

// Package onnx makes NEF graphs of ONNX models, as PyTorch, Keras, scikit-learn and model zoos export
// them.
//
// # Basics
//
// [Import] opens a file and makes a graph of it, which is compiled or saved like any other:
//
//	g, err := onnx.Import("model.onnx")
//	p, err := g.Compile()
//	err = g.Save("model.nef", nef.SaveOptions{Bundle: true})
//
// [Open] and [Model.Graph] do it in two steps, with a look at the file between: [Model.Info],
// [Model.InputNames]. [Options] fix or bound sizes and give inputs a value.
//
// # What is not supported
//
// [Model.Check], which Graph calls first, finds everything that cannot be imported and returns it at
// once as an [*UnsupportedError]. A node that makes no sense in its place, such as one with wrong
// shapes, is a [*NodeError]. Both, and errors of malformed files, match the sentinels of package
// nef with [errors.Is]; files that cannot be opened give errors of package fs.
//
// # Files that nobody vouches for
//
// Malformed files give errors: nothing is read outside of a file, and memory follows the size of
// the file. Weights in other files are read only from the model's own folder, without links; see
// [OpenOptions]. A file that is cut short while it is read gives an error, but one that is cut short
// while a graph made from it is in use ends the process, as with every mapped file.
//
// # Memory
//
// Files are mapped. Large weights stay in them: a graph refers to the mapping, also after
// [Model.Close], and [nef.Graph.Save] streams them from file to file.
package onnx
