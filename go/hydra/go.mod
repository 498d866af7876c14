module github.com/Hexa08/NEF/go/hydra

go 1.24.0

require (
	github.com/Hexa08/NEF v0.0.0
	github.com/google/go-containerregistry v0.20.6
	github.com/opencontainers/go-digest v1.0.0
	github.com/opencontainers/image-spec v1.1.1
	github.com/schollz/progressbar/v3 v3.18.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/sugarme/tokenizer v0.3.0
	golang.org/x/term v0.37.0
	golang.org/x/text v0.32.0
	google.golang.org/protobuf v1.36.10
	oras.land/oras-go/v2 v2.6.0
)

require (
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/schollz/progressbar/v2 v2.15.0 // indirect
	github.com/sugarme/regexpset v0.0.0-20200920021344-4d4ec8eaf93c // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/sys v0.38.0 // indirect
)

replace github.com/Hexa08/NEF => ../..
