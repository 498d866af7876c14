// SPDX-License-Identifier: Apache-2.0

// Package registry keeps models in OCI registries.
//
// A model is an artifact with separate layers for its graph, its weights and, when asked for, its
// compiled kernels, so that models which share weights share that layer. The same model gives the
// same digest, whoever pushes it and whenever.
//
// Credentials come from the docker configuration (DOCKER_CONFIG, else ~/.docker/config.json) and
// its credential helpers, as "docker login" leaves them.
//
// What a registry answers is not trusted: manifests are bounded and checked, layers are read up to
// their declared size and compared with their digest, no name in a manifest becomes a file name,
// and the graph is validated like any other file before anything stands at its place. A server that
// falls silent is left, whatever it was asked, and errors are printable text.
package registry

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Types of the artifact and its layers.
const (
	ArtifactType     = "application/vnd.hexa08.nef.model.v1"
	MediaTypeGraph   = "application/vnd.hexa08.nef.graph.v1+json" // a plain .nef file
	MediaTypeWeights = "application/vnd.hexa08.nef.weights.v1.safetensors"
	MediaTypeKernels = "application/vnd.hexa08.nef.kernels.v1.tar" // entries of a kernel cache
)

const (
	maxManifest = 1 << 20
	maxGraph    = 512 << 20 // as in the .nef format
	maxKernels  = 512 << 20 // as the kernel cache itself
	defaultMax  = 64 << 30
)

// Options are the options of [Push] and [Pull].
type Options struct {
	// PlainHTTP talks to the registry without TLS.
	PlainHTTP bool
	// KernelCache is the folder of a kernel cache. Push takes its entries along, Pull adds those of
	// the artifact to it; empty leaves them out. Kernels are code: take them only from whom you
	// would take a program.
	KernelCache string
	// Loose makes Pull keep large weights in a safetensors file beside the graph.
	Loose bool
	// MaxBytes is the most that Pull takes in all layers together; 0 means 64 GiB.
	MaxBytes int64
	// Silence is how long a server may say and take nothing before it is left; 0 means a minute.
	// One request, but for the bytes of a layer, may take twice that in all.
	Silence time.Duration
}

// failure is an error in printable text, whatever a server has written into it.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

func printable(err error) error {
	if err == nil {
		return nil
	}
	return &failure{safetext.Escape(err.Error()), err}
}

// Artifact is what was pushed or pulled.
type Artifact struct {
	Reference string  `json:"reference"`
	Digest    string  `json:"digest"` // of the manifest
	Layers    []Layer `json:"layers"`
}

// Layer is one part of an artifact.
type Layer struct {
	Name   string `json:"name"` // graph, weights or kernels
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
	// Kept says that it was there already: nothing was sent.
	Kept bool `json:"kept,omitempty"`
}

// layerNames says what the layers of a model are, in their order.
var layerNames = []struct{ mediaType, name string }{
	{MediaTypeGraph, "graph"}, {MediaTypeWeights, "weights"}, {MediaTypeKernels, "kernels"},
}

func layerName(mediaType string) string {
	for _, l := range layerNames {
		if l.mediaType == mediaType {
			return l.name
		}
	}
	return ""
}

// Scheme may stand before a reference, where a path could stand too.
const Scheme = "oci://"

// open parses HOST[:PORT]/NAME[:TAG|@DIGEST].
func open(reference string, o Options) (*remote.Repository, error) {
	text := strings.TrimPrefix(reference, Scheme)
	repo, err := remote.NewRepository(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no reference: expected HOST[:PORT]/NAME:TAG, such as registry.example/models/minilm:v1: %w", reference, err)
	}
	if repo.Reference.Reference == "" {
		return nil, fmt.Errorf("%q has no tag: expected %s:TAG", reference, text)
	}
	credential, err := dockerCredentials()
	if err != nil {
		return nil, err
	}
	limits := limitsOf(o)
	transport := watch{http.DefaultTransport.(*http.Transport).Clone(), limits}
	repo.PlainHTTP = o.PlainHTTP
	repo.MaxMetadataBytes = maxManifest
	repo.Client = boundedClient{&auth.Client{
		Client:     &http.Client{Transport: retry.NewTransport(transport)},
		Cache:      auth.NewCache(),
		Credential: credential,
	}, limits}
	return repo, nil
}

// dockerCredentials is nil, which means nobody, where there is no home to hold a configuration: in
// a bare container.
func dockerCredentials() (auth.CredentialFunc, error) {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("DOCKER_CONFIG") == "" {
		return nil, nil
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("the docker configuration, which holds the credentials: %w", err)
	}
	return credentials.Credential(store), nil
}
