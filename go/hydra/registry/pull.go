// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	nef "github.com/Hexa08/NEF"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/Hexa08/NEF/go/hydra/internal/temporary"
)

// The files of an artifact are called this on their way, whatever a manifest says. The graph refers
// to the weights by that name.
const (
	graphFile   = "model.nef"
	weightsFile = "model.safetensors"
)

// Pull fetches a model from HOST[:PORT]/NAME:TAG or NAME@DIGEST, verifies and validates it, and
// writes it to the file output, as a bundle unless o.Loose. Nothing is installed, neither the model
// nor a kernel, before all of it has been checked; when it fails, what was there stays.
func Pull(ctx context.Context, reference, output string, o Options) (*Artifact, error) {
	artifact, err := pull(ctx, reference, output, o)
	return artifact, printable(err)
}

func pull(ctx context.Context, reference, output string, o Options) (*Artifact, error) {
	repo, err := open(reference, o)
	if err != nil {
		return nil, err
	}
	manifest, artifact, err := fetchManifest(ctx, repo)
	if err != nil {
		return nil, fmt.Errorf("pull: %s: %w", repo.Reference, err)
	}
	layers, err := checkLayers(manifest.Layers, o.maxBytes())
	if err != nil {
		return nil, fmt.Errorf("pull: %s: %w", repo.Reference, err)
	}
	// Beside the output, so that a small /tmp is no limit.
	temp, remove, err := temporary.Folder(filepath.Dir(output), ".nef-pull-")
	if err != nil {
		return nil, err
	}
	defer remove()
	files := map[string]string{
		MediaTypeGraph:   filepath.Join(temp, graphFile),
		MediaTypeWeights: filepath.Join(temp, weightsFile),
		MediaTypeKernels: filepath.Join(temp, "kernels.tar"),
	}
	for _, l := range layerNames {
		descriptor, ok := layers[l.mediaType]
		if !ok || l.mediaType == MediaTypeKernels && o.KernelCache == "" {
			continue
		}
		if err := fetchFile(ctx, repo, descriptor, files[l.mediaType]); err != nil {
			return nil, fmt.Errorf("pull: %s: the %s layer: %w", repo.Reference, l.name, err)
		}
		artifact.Layers = append(artifact.Layers, Layer{Name: l.name, Size: descriptor.Size, Digest: string(descriptor.Digest)})
	}
	kernels := &stagedKernels{}
	if _, ok := layers[MediaTypeKernels]; ok && o.KernelCache != "" {
		if kernels, err = stageKernels(files[MediaTypeKernels], o.KernelCache); err != nil {
			return nil, fmt.Errorf("pull: %s: the kernels layer: %w", repo.Reference, err)
		}
	}
	defer kernels.discard()
	if err := install(ctx, files[MediaTypeGraph], output, o.Loose, kernels); err != nil {
		return nil, err
	}
	return artifact, nil
}

func (o Options) maxBytes() int64 {
	if o.MaxBytes <= 0 {
		return defaultMax
	}
	return o.MaxBytes
}

// install validates the graph, then puts kernels and graph in their places: all or nothing.
func install(ctx context.Context, graph, output string, loose bool, kernels *stagedKernels) error {
	g, err := nef.Load(graph)
	if err != nil {
		return err
	}
	defer g.Close()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := kernels.install(); err != nil {
		return fmt.Errorf("the kernel cache: %w", err)
	}
	if err := g.Save(output, nef.SaveOptions{Bundle: !loose}); err != nil {
		return err
	}
	kernels.keep()
	return nil
}

func fetchManifest(ctx context.Context, repo *remote.Repository) (*ocispec.Manifest, *Artifact, error) {
	descriptor, body, err := repo.Manifests().FetchReference(ctx, repo.Reference.Reference)
	if err != nil {
		return nil, nil, err
	}
	defer body.Close()
	if descriptor.MediaType != ocispec.MediaTypeImageManifest {
		return nil, nil, fmt.Errorf("expected a manifest of type %s, got %q: no model was pushed there", ocispec.MediaTypeImageManifest, descriptor.MediaType)
	}
	if descriptor.Size > maxManifest {
		return nil, nil, fmt.Errorf("the manifest has %d bytes, over the limit of %d", descriptor.Size, maxManifest)
	}
	text, err := content.ReadAll(body, descriptor)
	if err != nil {
		return nil, nil, fmt.Errorf("the manifest does not have the digest %s: %w", descriptor.Digest, err)
	}
	if want, err := repo.Reference.Digest(); err == nil && want != descriptor.Digest {
		return nil, nil, fmt.Errorf("asked for %s, got a manifest with the digest %s", want, descriptor.Digest)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, nil, fmt.Errorf("the manifest is no JSON of that kind: %w", err)
	}
	if manifest.ArtifactType != ArtifactType {
		return nil, nil, fmt.Errorf("expected an artifact of type %s, got %q: no NEF model", ArtifactType, manifest.ArtifactType)
	}
	return &manifest, &Artifact{Reference: repo.Reference.String(), Digest: string(descriptor.Digest)}, nil
}

// checkLayers sorts layers by what they are: a graph, at most one of each other kind, each within
// its own limit and all of them within most bytes.
func checkLayers(layers []ocispec.Descriptor, most int64) (map[string]ocispec.Descriptor, error) {
	limits := map[string]int64{MediaTypeGraph: maxGraph, MediaTypeWeights: most, MediaTypeKernels: maxKernels}
	sorted := map[string]ocispec.Descriptor{}
	left := most
	for i, layer := range layers {
		name := layerName(layer.MediaType)
		if name == "" {
			return nil, fmt.Errorf("layer %d has the type %q, which this version does not know", i, layer.MediaType)
		}
		if _, twice := sorted[layer.MediaType]; twice {
			return nil, fmt.Errorf("there are two %s layers, expected one", name)
		}
		if err := layer.Digest.Validate(); err != nil {
			return nil, fmt.Errorf("the digest %q of the %s layer: %w", layer.Digest, name, err)
		}
		if layer.Size < 0 || layer.Size > limits[layer.MediaType] {
			return nil, fmt.Errorf("the %s layer has %d bytes, expected 0 to %d", name, layer.Size, limits[layer.MediaType])
		}
		if left -= layer.Size; left < 0 {
			return nil, fmt.Errorf("the layers have more than %d bytes together; raise the limit if that is right", most)
		}
		sorted[layer.MediaType] = layer
	}
	if _, ok := sorted[MediaTypeGraph]; !ok {
		return nil, errors.New("there is no graph layer")
	}
	return sorted, nil
}

// fetchFile reads a layer up to its declared size and keeps it when it has its digest.
func fetchFile(ctx context.Context, repo *remote.Repository, d ocispec.Descriptor, path string) error {
	body, err := repo.Blobs().Fetch(ofLayer(ctx, d.Size), d)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	verified := content.NewVerifyReader(body, d)
	if _, err := io.Copy(f, verified); err != nil {
		return err
	}
	if err := verified.Verify(); err != nil {
		return fmt.Errorf("expected %d bytes with the digest %s: %w", d.Size, d.Digest, err)
	}
	return f.Close()
}
