// SPDX-License-Identifier: Apache-2.0

// Service answers HTTP requests with a model: POST /run with {"input name": {"shape": [...],
// "data": [...]}} gives {"output name": {"shape": [...], "data": [...]}}. It serves any model whose
// inputs are int64 or float32.
//
//	service --model minilm.nef --listen 127.0.0.1:8080
//	service --model oci://registry.example/models/demo:v1
//
// A model in an OCI registry is pulled, verified and validated at the start. Such a model is made
// and pushed by
//
//	service --publish registry.example/models/demo:v1
//
// One program is planned and compiled at the start; all requests share it. A client that goes away
// cancels its run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/registry"
)

const maxRequest = 16 << 20

func main() {
	model := flag.String("model", "minilm.nef", "the model to serve, a file or oci://HOST/NAME:TAG")
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	reference := flag.String("publish", "", "push the demo model to this reference, and end")
	var o registry.Options
	flag.BoolVar(&o.PlainHTTP, "plain-http", false, "talk to the registry without TLS")
	flag.Parse()
	if *reference != "" {
		digest, err := publish(context.Background(), *reference, o)
		if err != nil {
			log.Fatal(err)
		}
		log.Printf("pushed %s with digest %s", *reference, digest)
		return
	}
	s, err := openService(context.Background(), *model, o)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("serving %s on http://%s", *model, *listen)
	server := http.Server{Addr: *listen, Handler: s, ReadTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}

// publish builds the demo model, y = gelu(x w), and pushes it.
func publish(ctx context.Context, reference string, o registry.Options) (digest string, err error) {
	const in, out = 64, 32
	weights := make([]float32, in*out)
	for i := range weights {
		weights[i] = float32(i%out) / out
	}
	x := nef.Input("x", nef.Float32, nef.DimRange("batch", 1, 64), in)
	graph, err := nef.NewGraph(nef.Outputs{"y": nef.Gelu(nef.MatMul(x, nef.Tensor(weights, []int{in, out})))})
	if err != nil {
		return "", err
	}
	defer graph.Close()
	folder, err := os.MkdirTemp("", "publish-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "demo.nef")
	if err := graph.Save(path, nef.SaveOptions{Bundle: true}); err != nil {
		return "", err
	}
	artifact, err := registry.Push(ctx, path, reference, o)
	if err != nil {
		return "", err
	}
	return artifact.Digest, nil
}

// openService serves a model from a file or, when it begins with oci://, from a registry.
func openService(ctx context.Context, model string, o registry.Options) (*service, error) {
	if !strings.HasPrefix(model, registry.Scheme) {
		return newService(model)
	}
	folder, err := os.MkdirTemp("", "service-")
	if err != nil {
		return nil, err
	}
	// The program keeps the weights mapped; their file need not stay.
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.nef")
	artifact, err := registry.Pull(ctx, model, path, o)
	if err != nil {
		return nil, err
	}
	log.Printf("pulled %s with digest %s", artifact.Reference, artifact.Digest)
	return newService(path)
}

type service struct {
	http.ServeMux
	inputs  []nef.TensorInfo
	program *nef.Program
}

func newService(model string) (*service, error) {
	graph, err := nef.Load(model)
	if err != nil {
		return nil, err
	}
	defer graph.Close()
	program, err := graph.Compile(nef.Options{})
	if err != nil {
		return nil, err
	}
	s := &service{inputs: graph.Inputs(), program: program}
	s.HandleFunc("POST /run", s.run)
	return s, nil
}

type tensor struct {
	Shape []int           `json:"shape"`
	Data  json.RawMessage `json:"data"`
}

func (s *service) run(w http.ResponseWriter, r *http.Request) {
	var request map[string]tensor
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	inputs, err := s.values(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer inputs.Close()
	outputs, err := s.program.Run(r.Context(), inputs)
	if err != nil {
		http.Error(w, err.Error(), status(err))
		return
	}
	defer outputs.Close()
	response := map[string]any{}
	for name, value := range outputs {
		data, err := nef.Data[float32](value)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		response[name] = map[string]any{"shape": value.Shape(), "data": data}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(response); err != nil {
		log.Print(err)
	}
}

// values turns a request into inputs of the types that the model asks for.
func (s *service) values(request map[string]tensor) (nef.Values, error) {
	values := nef.Values{}
	for _, input := range s.inputs {
		given, ok := request[input.Name]
		if !ok {
			continue // Run names what is missing
		}
		value, err := decode(input.DType, given)
		if err != nil {
			values.Close()
			return nil, fmt.Errorf("input %s: %w", input.Name, err)
		}
		values[input.Name] = value
	}
	return values, nil
}

func decode(dtype nef.DType, t tensor) (*nef.Value, error) {
	switch dtype {
	case nef.Int64:
		return decodeAs[int64](t)
	case nef.Float32:
		return decodeAs[float32](t)
	}
	return nil, fmt.Errorf("%v is not served", dtype)
}

func decodeAs[T nef.Element](t tensor) (*nef.Value, error) {
	var data []T
	if err := json.Unmarshal(t.Data, &data); err != nil {
		return nil, err
	}
	value := nef.Tensor(data, t.Shape)
	return value, value.Err()
}

// status tells the client whose fault an error is.
func status(err error) int {
	switch {
	case errors.Is(err, nef.ErrShapeMismatch), errors.Is(err, nef.ErrUnknownName), errors.Is(err, nef.ErrOutOfRange):
		return http.StatusBadRequest
	case errors.Is(err, nef.ErrOutOfMemory), errors.Is(err, nef.ErrDeviceOutOfMemory):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
