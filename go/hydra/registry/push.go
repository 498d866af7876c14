// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	nef "github.com/Hexa08/NEF"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/Hexa08/NEF/go/hydra/internal/temporary"
)

// created is the date of every artifact, so that its digest tells the content only.
const created = "1970-01-01T00:00:00Z"

// Push sends the model in the file at path, plain or bundle, to HOST[:PORT]/NAME:TAG. Layers that
// the registry has are not sent again.
func Push(ctx context.Context, path, reference string, o Options) (*Artifact, error) {
	artifact, err := push(ctx, path, reference, o)
	return artifact, printable(err)
}

func push(ctx context.Context, path, reference string, o Options) (*Artifact, error) {
	repo, err := open(reference, o)
	if err != nil {
		return nil, err
	}
	if repo.Reference.ValidateReferenceAsTag() != nil {
		return nil, fmt.Errorf("%q: a push needs a tag, a digest follows from the content", reference)
	}
	temp, remove, err := temporary.Folder("", "nef-push-")
	if err != nil {
		return nil, err
	}
	defer remove()
	files, err := layerFiles(path, temp, o.KernelCache)
	if err != nil {
		return nil, err
	}
	artifact := &Artifact{Reference: repo.Reference.String()}
	var descriptors []ocispec.Descriptor
	for _, l := range layerNames {
		file, ok := files[l.mediaType]
		if !ok {
			continue
		}
		descriptor, kept, err := pushFile(ctx, repo, l.mediaType, file)
		if err != nil {
			return nil, fmt.Errorf("push: the %s layer: %w", l.name, err)
		}
		descriptors = append(descriptors, descriptor)
		artifact.Layers = append(artifact.Layers, Layer{l.name, descriptor.Size, string(descriptor.Digest), kept})
	}
	manifest, err := oras.PackManifest(ctx, repo, oras.PackManifestVersion1_1, ArtifactType, oras.PackManifestOptions{
		Layers:              descriptors,
		ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: created},
	})
	if err != nil {
		return nil, fmt.Errorf("push: the manifest: %w", err)
	}
	if err := repo.Tag(ctx, manifest, repo.Reference.Reference); err != nil {
		return nil, fmt.Errorf("push: the tag: %w", err)
	}
	artifact.Digest = string(manifest.Digest)
	return artifact, nil
}

// layerFiles writes the model as a plain file with its weights beside it: what bundle and plain
// have in common, and the same bytes for the same graph.
func layerFiles(path, temp, kernels string) (map[string]string, error) {
	graph, err := nef.Load(path)
	if err != nil {
		return nil, err
	}
	defer graph.Close()
	files := map[string]string{MediaTypeGraph: filepath.Join(temp, graphFile)}
	if err := graph.Save(files[MediaTypeGraph]); err != nil {
		return nil, err
	}
	weights := filepath.Join(temp, weightsFile)
	if _, err := os.Stat(weights); err == nil {
		files[MediaTypeWeights] = weights
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if kernels != "" {
		files[MediaTypeKernels] = filepath.Join(temp, "kernels.tar")
		if err := packKernels(kernels, files[MediaTypeKernels]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func pushFile(ctx context.Context, repo *remote.Repository, mediaType, path string) (d ocispec.Descriptor, kept bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, false, err
	}
	defer f.Close()
	digester := digest.Canonical.Digester()
	size, err := io.Copy(digester.Hash(), f)
	if err != nil {
		return d, false, err
	}
	d = ocispec.Descriptor{MediaType: mediaType, Digest: digester.Digest(), Size: size}
	if kept, err = repo.Blobs().Exists(ctx, d); err != nil || kept {
		return d, kept, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return d, false, err
	}
	return d, false, repo.Blobs().Push(ofLayer(ctx, size), d, f)
}
