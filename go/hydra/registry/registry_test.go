// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"
	server "github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// start runs a registry, seen through wrap, and returns its host. The tests know no credentials
// but those they make.
func start(t *testing.T, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	handler := server.New(server.Logger(log.New(io.Discard, "", 0)))
	if wrap != nil {
		handler = wrap(handler)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

var plain = Options{PlainHTTP: true}

// saveModel saves y = x w + bias, with weights too large to stand in the graph.
func saveModel(t *testing.T, bias float32, bundle bool) string {
	t.Helper()
	const n = 64
	w := make([]float32, n*n)
	for i := range n {
		w[i*n+i] = 2
	}
	x := nef.Input("x", nef.Float32, nef.DimRange("batch", 1, 4), n)
	g, err := nef.NewGraph(nef.Outputs{"y": nef.Add(nef.MatMul(x, nef.Tensor(w, []int{n, n})), nef.Scalar(bias))})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "m.nef")
	if err := g.Save(path, nef.SaveOptions{Bundle: bundle}); err != nil {
		t.Fatal(err)
	}
	return path
}

// runModel is y[0] for x = 1.
func runModel(t *testing.T, path string) float32 {
	t.Helper()
	g, err := nef.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ones := make([]float32, 64)
	for i := range ones {
		ones[i] = 1
	}
	out, err := p.Run(t.Context(), nef.Values{"x": nef.Tensor(ones, []int{1, 64})})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	y, err := nef.Data[float32](out["y"])
	if err != nil {
		t.Fatal(err)
	}
	return y[0]
}

func mustPush(t *testing.T, path, reference string, o Options) *Artifact {
	t.Helper()
	a, err := Push(t.Context(), path, reference, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPushAndPull(t *testing.T) {
	host := start(t, nil)
	pushed := mustPush(t, saveModel(t, 1, true), host+"/models/m:v1", plain)
	if len(pushed.Layers) != 2 || pushed.Layers[0].Name != "graph" || pushed.Layers[1].Name != "weights" {
		t.Fatalf("layers %+v, want graph and weights", pushed.Layers)
	}
	for _, reference := range []string{host + "/models/m:v1", Scheme + host + "/models/m@" + pushed.Digest} {
		for _, loose := range []bool{false, true} {
			output := filepath.Join(t.TempDir(), "got.nef")
			got, err := Pull(t.Context(), reference, output, Options{PlainHTTP: true, Loose: loose})
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != pushed.Digest || runModel(t, output) != 3 {
				t.Errorf("%s: digest %s, want %s, and y = 3", reference, got.Digest, pushed.Digest)
			}
			names, _ := filepath.Glob(filepath.Join(filepath.Dir(output), "*"))
			hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(output), ".*"))
			if want := map[bool]int{false: 1, true: 2}[loose]; len(names) != want || len(hidden) != 0 {
				t.Errorf("files %v %v, want %d", names, hidden, want)
			}
		}
	}
}

func TestSameModelSameDigest(t *testing.T) {
	host := start(t, nil)
	first := mustPush(t, saveModel(t, 1, true), host+"/m:a", plain)
	second := mustPush(t, saveModel(t, 1, false), host+"/m:b", plain)
	if first.Digest != second.Digest {
		t.Errorf("bundle %s, plain %s", first.Digest, second.Digest)
	}
	other := mustPush(t, saveModel(t, 2, true), host+"/m:c", plain)
	if other.Digest == first.Digest || other.Layers[0].Kept || !other.Layers[1].Kept {
		t.Errorf("a model with the same weights: %+v", other)
	}
}

func TestKernelsAreALayer(t *testing.T) {
	host, from, to := start(t, nil), t.TempDir(), t.TempDir()
	entry := strings.Repeat("0a", 16)
	for name, text := range map[string]string{entry: "kernel", entry + ".tmp1.1": "half", "notes.txt": "x"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pushed := mustPush(t, saveModel(t, 1, true), host+"/m:v1", Options{PlainHTTP: true, KernelCache: from})
	if len(pushed.Layers) != 3 || pushed.Layers[2].Name != "kernels" {
		t.Fatalf("layers %+v", pushed.Layers)
	}
	output := filepath.Join(t.TempDir(), "m.nef")
	if got, err := Pull(t.Context(), host+"/m:v1", output, plain); err != nil || len(got.Layers) != 2 {
		t.Errorf("kernels that were not asked for: %+v, %v", got, err)
	}
	if _, err := Pull(t.Context(), host+"/m:v1", output, Options{PlainHTTP: true, KernelCache: to}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, entry)); err != nil || string(text) != "kernel" {
		t.Errorf("%q, %v", text, err)
	}
	if files, _ := os.ReadDir(to); len(files) != 1 {
		t.Errorf("%v, want one entry", files)
	}
}

func TestHostileKernelNames(t *testing.T) {
	good := strings.Repeat("0", 32)
	for _, header := range []tar.Header{
		{Name: "../" + good[3:], Typeflag: tar.TypeReg},
		{Name: "/tmp/" + good, Typeflag: tar.TypeReg},
		{Name: good, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: good, Typeflag: tar.TypeLink, Linkname: "x"},
		{Name: good + "/", Typeflag: tar.TypeDir},
		{Name: "evil.so", Typeflag: tar.TypeReg},
	} {
		var text bytes.Buffer
		w := tar.NewWriter(&text)
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		w.Close()
		path, folder := filepath.Join(t.TempDir(), "k.tar"), t.TempDir()
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := stageKernels(path, folder)
		if files, _ := os.ReadDir(folder); err == nil || len(files) != 0 {
			t.Errorf("%+v: %v, files %v", header, err, files)
		}
	}
}

func TestKernelsDoNotFollowLinks(t *testing.T) {
	from, folder := t.TempDir(), t.TempDir()
	name, victim := strings.Repeat("1", 32), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(filepath.Join(from, name), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(folder, name)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "k.tar")
	if err := packKernels(from, path); err != nil {
		t.Fatal(err)
	}
	kernels, err := stageKernels(path, folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := kernels.install(); err != nil {
		t.Fatal(err)
	}
	kernels.keep()
	kernels.discard()
	if files, _ := os.ReadDir(folder); len(files) != 1 || files[0].Type() != os.ModeSymlink {
		t.Errorf("%v are there, want the link", files)
	}
	if _, err := os.Stat(victim); err == nil {
		t.Error("something was written through a link")
	}
}

// put stores a manifest and the blobs it speaks of, as they are.
func put(t *testing.T, host string, manifest any, blobs ...[]byte) {
	t.Helper()
	send := func(method, url string, contentType string, body []byte) {
		request, err := http.NewRequest(method, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", contentType)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Fatalf("%s %s: %s", method, url, response.Status)
		}
	}
	for _, blob := range blobs {
		send("POST", fmt.Sprintf("http://%s/v2/m/blobs/uploads/?digest=%s", host, digest.FromBytes(blob)), "application/octet-stream", blob)
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	send("PUT", fmt.Sprintf("http://%s/v2/m/manifests/v1", host), ocispec.MediaTypeImageManifest, text)
}

func descriptor(mediaType string, blob []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(blob), Size: int64(len(blob))}
}

func manifestOf(layers ...ocispec.Descriptor) ocispec.Manifest {
	return ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		ArtifactType: ArtifactType, Config: ocispec.DescriptorEmptyJSON, Layers: layers,
	}
}

// refused pulls and wants an error with that text, and nothing written.
func refused(t *testing.T, reference, want string, o Options) {
	t.Helper()
	folder := t.TempDir()
	_, err := Pull(t.Context(), reference, filepath.Join(folder, "m.nef"), o)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want an error with %q", err, want)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("files %v are left", files)
	}
}

func TestHostileManifests(t *testing.T) {
	graph := []byte(`{"version": "1.0", "nef_format": "graph-v1"}`)
	escape := []byte(`{"version":"1.0","nef_format":"graph-v1","graph":{"nodes":[{"id":"a","op":"relu","inputs":["w"],"output":"y"}],"outputs":["y"]},
		"tensors":{"w":{"shape":[2],"dtype":"float32","data":{"file":"../../secret.safetensors","name":"w"}},"y":{"shape":[2],"dtype":"float32"}}}`)
	good := descriptor(MediaTypeGraph, graph)
	with := func(change func(*ocispec.Descriptor)) ocispec.Descriptor {
		d := good
		change(&d)
		return d
	}
	image := manifestOf(good)
	image.ArtifactType = "application/vnd.example.image"
	titled := with(func(d *ocispec.Descriptor) {
		d.Annotations = map[string]string{ocispec.AnnotationTitle: "../../../../tmp/nef-pull-escape"}
	})
	for _, c := range []struct {
		name     string
		manifest any
		want     string
	}{
		{"another artifact", image, "no NEF model"},
		{"no layer", manifestOf(), "no graph layer"},
		{"two graphs", manifestOf(good, good), "two graph layers"},
		{"unknown layer", manifestOf(with(func(d *ocispec.Descriptor) { d.MediaType = "text/x-shellscript" })), "does not know"},
		{"negative size", manifestOf(with(func(d *ocispec.Descriptor) { d.Size = -1 })), "-1 bytes"},
		{"huge size", manifestOf(with(func(d *ocispec.Descriptor) { d.Size = 1 << 62 })), "bytes, expected"},
		{"a size that is too large", manifestOf(with(func(d *ocispec.Descriptor) { d.Size += 7 })), "graph layer"},
		{"a size that is too small", manifestOf(with(func(d *ocispec.Descriptor) { d.Size -= 7 })), "graph layer"},
		{"digest that is a path", manifestOf(with(func(d *ocispec.Descriptor) { d.Digest = "sha256:../../../etc/passwd" })), "digest"},
		{"weak digest", manifestOf(with(func(d *ocispec.Descriptor) { d.Digest = "md5:d41d8cd98f00b204e9800998ecf8427e" })), "digest"},
		{"weights over the limit", manifestOf(good, ocispec.Descriptor{MediaType: MediaTypeWeights, Digest: good.Digest, Size: 1 << 40}), "weights layer has"},
		{"a broken graph", manifestOf(good), "graph"},
		{"a title that is a path", manifestOf(titled), "graph"},
		{"weights outside", manifestOf(descriptor(MediaTypeGraph, escape)), "secret.safetensors"},
		{"another kind of JSON", []string{"a"}, "no JSON of that kind"},
		{"too long", map[string]string{"a": strings.Repeat("a", maxManifest)}, "limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := start(t, nil)
			put(t, host, c.manifest, graph, escape)
			refused(t, host+"/m:v1", c.want, plain)
		})
	}
	if _, err := os.Stat("/tmp/nef-pull-escape"); err == nil {
		t.Error("a title became a file")
	}
}

func TestSumOfLayersIsLimited(t *testing.T) {
	host := start(t, nil)
	mustPush(t, saveModel(t, 1, true), host+"/m:v1", plain)
	refused(t, host+"/m:v1", "together", Options{PlainHTTP: true, MaxBytes: 16800})
}

// TestLyingRegistry is about answers that do not fit what was pushed.
func TestLyingRegistry(t *testing.T) {
	weights := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
	}
	manifest := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/")
	}
	for _, c := range []struct {
		name   string
		about  func(*http.Request) bool
		answer func(w http.ResponseWriter, body []byte)
		want   string
	}{
		{"another content", weights, func(w http.ResponseWriter, body []byte) {
			body[len(body)-1] ^= 1
			w.Write(body)
		}, "digest"},
		{"cut short", weights, func(w http.ResponseWriter, body []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.Write(body[:len(body)/2])
		}, "EOF"},
		{"endless", weights, func(w http.ResponseWriter, body []byte) {
			w.Write(body)
			for range 1 << 10 {
				w.Write(make([]byte, 1<<20))
			}
		}, ""},
		{"another manifest", manifest, func(w http.ResponseWriter, body []byte) {
			body = bytes.Replace(body, []byte("schemaVersion"), []byte("SchemaVersion"), 1)
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", digest.FromString("x").String())
			w.Write(body)
		}, "digest"},
		{"endless manifest", manifest, func(w http.ResponseWriter, body []byte) {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			for range 1 << 10 {
				w.Write(bytes.Repeat([]byte(" "), 1<<20))
			}
		}, ""},
		{"an index", manifest, func(w http.ResponseWriter, body []byte) {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
			w.Write([]byte(`{}`))
		}, "no model was pushed there"},
		{"denied", manifest, func(w http.ResponseWriter, body []byte) { w.WriteHeader(http.StatusForbidden) }, "403"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lying := false
			host := start(t, func(honest http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !lying || !c.about(r) {
						honest.ServeHTTP(w, r)
						return
					}
					recorded := httptest.NewRecorder()
					honest.ServeHTTP(recorded, r)
					c.answer(w, recorded.Body.Bytes())
				})
			})
			pushed := mustPush(t, saveModel(t, 1, true), host+"/m:v1", plain)
			lying = true
			refused(t, host+"/m:v1", c.want, plain)
			refused(t, host+"/m@"+pushed.Digest, "", plain)
		})
	}
}

func TestCredentialsOfDocker(t *testing.T) {
	host := start(t, func(honest http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, ok := r.BasicAuth(); !ok || user != "ada" || password != "secret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			honest.ServeHTTP(w, r)
		})
	})
	model := saveModel(t, 1, true)
	if _, err := Push(t.Context(), model, host+"/m:v1", plain); err == nil {
		t.Fatal("a push without credentials was taken")
	}
	config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte("ada:secret")))
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	mustPush(t, model, host+"/m:v1", plain)
	if _, err := Pull(t.Context(), host+"/m:v1", filepath.Join(t.TempDir(), "m.nef"), plain); err != nil {
		t.Error(err)
	}
}

func TestWithoutAHome(t *testing.T) {
	host := start(t, nil)
	t.Setenv("HOME", "")
	os.Unsetenv("DOCKER_CONFIG") // start has set it, and its end puts it back
	mustPush(t, saveModel(t, 1, true), host+"/m:v1", plain)
}

func TestReferences(t *testing.T) {
	host := start(t, nil)
	model := saveModel(t, 1, true)
	for reference, want := range map[string]string{
		"":                   "no reference",
		"m":                  "no reference",
		host + "/m":          "has no tag",
		host + "/M:v1":       "no reference",
		host + "/../m:v1":    "no reference",
		host + "/m:a b":      "no reference",
		host + "/absent:v1x": "not found",
		host + "/m@sha256:" + strings.Repeat("0", 64): "",
	} {
		_, err := Pull(t.Context(), reference, filepath.Join(t.TempDir(), "m.nef"), plain)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pull %q: %v, want %q", reference, err, want)
		}
	}
	if _, err := Push(t.Context(), model, host+"/m@sha256:"+strings.Repeat("0", 64), plain); err == nil || !strings.Contains(err.Error(), "needs a tag") {
		t.Errorf("push to a digest: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Push(ctx, model, host+"/m:v1", plain); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
