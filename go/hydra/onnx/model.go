// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/internal/regular"
)

// Model is an opened ONNX file. Its file stays mapped until Close; graphs made from it remain
// valid afterwards. Methods may be called by one goroutine at a time.
type Model struct {
	path  string
	file  *os.File // nil for bytes
	data  []byte   // the file, mapped
	proto *modelProto

	external *externalFiles
	unmap    sync.Once
}

// OpenOptions are the options of [Open].
type OpenOptions struct {
	// DataRoot is a folder in which external weight files may lie, also behind symbolic links: a
	// Hugging Face cache is made of such links. Empty means the folder of the model, and no links.
	DataRoot string
}

// Open maps an ONNX file and reads its structure, but no weights. At most one options struct is
// meant; the last one counts.
func Open(path string, opts ...OpenOptions) (*Model, error) {
	var o OpenOptions
	if len(opts) > 0 {
		o = opts[len(opts)-1]
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	m := &Model{path: path, file: f}
	if err := m.mapFile(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.external = newExternalFiles(filepath.Dir(path), o.DataRoot)
	err = guardFaults(func() (err error) {
		m.proto, err = parseModel(m.data)
		return err
	})
	if err == nil {
		err = m.checkVersions()
	}
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Parse is [Open] for the bytes of a file, which must not change while the model is open. It has no
// folder, so that weights in other files are refused.
func Parse(data []byte) (*Model, error) {
	proto, err := parseModel(data)
	if err != nil {
		return nil, err
	}
	m := &Model{path: "model", data: data, proto: proto}
	return m, m.checkVersions()
}

func (m *Model) mapFile() error {
	info, err := m.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return parseError("the file is empty")
	}
	m.data, err = syscall.Mmap(int(m.file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("cannot map: %w", err)
	}
	return nil
}

// Close gives the mapping back. It may be called more than once.
func (m *Model) Close() {
	if m == nil {
		return
	}
	m.unmap.Do(func() {
		m.external.close()
		if m.file == nil {
			return
		}
		// Nothing can be done about either failing.
		_ = syscall.Munmap(m.data)
		_ = m.file.Close()
		m.data, m.proto = nil, &modelProto{graph: &graphProto{}}
	})
}

// offsetOf is where in the model's file a window of it lies.
func (m *Model) offsetOf(window []byte) (int64, bool) {
	if m.file == nil || len(window) == 0 {
		return 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(window))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))
	return int64(at), at < uintptr(len(m.data))
}

const (
	minIR    = 3
	maxIR    = 14
	maxOpset = 28
)

func (m *Model) checkVersions() error {
	if v := m.proto.irVersion; v < minIR || v > maxIR {
		return &nef.Error{Code: nef.CodeUnsupported, Op: "onnx", Msg: fmt.Sprintf("the file has IR version %d; versions %d to %d are supported", v, minIR, maxIR)}
	}
	if v := m.proto.opsets[""]; v > maxOpset {
		return &nef.Error{Code: nef.CodeUnsupported, Op: "onnx", Msg: fmt.Sprintf("the model uses opset %d; opsets up to %d are supported: export it with an older one", v, maxOpset)}
	}
	return nil
}

// Info is what an ONNX file says of itself.
type Info struct {
	IRVersion int              `json:"ir_version"`
	Producer  string           `json:"producer,omitempty"`
	Opsets    map[string]int64 `json:"opsets"`
	Nodes     int              `json:"nodes"`
	Functions int              `json:"functions,omitempty"`
}

// Info describes the file.
func (m *Model) Info() Info {
	producer := m.proto.producer
	if v := m.proto.producerVersion; v != "" {
		producer += " " + v
	}
	opsets := map[string]int64{}
	for domain, version := range m.proto.opsets {
		if domain == "" {
			domain = "ai.onnx"
		}
		opsets[domain] = version
	}
	return Info{int(m.proto.irVersion), producer, opsets, len(m.proto.graph.nodes), len(m.proto.functions)}
}

// guardFaults runs f; a fault in a mapped file, which happens when somebody cuts it short
// meanwhile, becomes an error.
func guardFaults(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = &nef.Error{Code: nef.CodeIO, Op: "onnx", Msg: "the file was cut short while it was read"}
		default:
			panic(fault)
		}
	}()
	return f()
}
