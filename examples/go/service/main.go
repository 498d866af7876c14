// SPDX-License-Identifier: Apache-2.0

// Service answers HTTP requests with a model: POST /run with {"input name": {"shape": [...],
// "data": [...]}} gives {"output name": {"shape": [...], "data": [...]}}. It serves any model whose
// inputs are int64 or float32.
//
//	service --model minilm.nef --listen 127.0.0.1:8080
//
// One program is planned and compiled at the start; all requests share it. A client that goes away
// cancels its run.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/Hexa08/NEF"
)

const maxRequest = 16 << 20

func main() {
	model := flag.String("model", "minilm.nef", "the model to serve")
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	flag.Parse()
	s, err := newService(*model)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("serving %s on http://%s", *model, *listen)
	server := http.Server{Addr: *listen, Handler: s, ReadTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
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
