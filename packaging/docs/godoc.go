// SPDX-License-Identifier: Apache-2.0

//go:build ignore

// Godoc prints the documentation of a package as Markdown: go run godoc.go FOLDER IMPORT_PATH
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	folder, path := os.Args[1], os.Args[2]
	found, err := build.ImportDir(folder, 0)
	if err != nil {
		log.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	names := append(append(found.GoFiles, found.CgoFiles...), found.XTestGoFiles...)
	for _, name := range names {
		file, err := parser.ParseFile(set, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			log.Fatal(err)
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(set, files, path)
	if err != nil {
		log.Fatal(err)
	}
	p := printer{set, pkg}
	p.page()
}

type printer struct {
	set *token.FileSet
	pkg *doc.Package
}

func (p printer) page() {
	fmt.Printf("# package %s\n\n`import \"%s\"`\n\n", p.pkg.Name, p.pkg.ImportPath)
	p.text(p.pkg.Doc)
	p.examples(p.pkg.Examples)
	p.index()
	p.values("Constants", p.pkg.Consts)
	p.values("Variables", p.pkg.Vars)
	if len(p.pkg.Funcs) > 0 {
		fmt.Print("## Functions\n\n")
		p.funcs(p.pkg.Funcs, "###")
	}
	for _, t := range p.pkg.Types {
		fmt.Printf("## type %s { id=\"%s\" }\n\n", t.Name, t.Name)
		p.code(t.Decl)
		p.text(t.Doc)
		p.values("", t.Consts)
		p.values("", t.Vars)
		p.examples(t.Examples)
		p.funcs(t.Funcs, "###")
		p.funcs(t.Methods, "###")
	}
}

func (p printer) index() {
	var names []string
	add := func(text, anchor string) { names = append(names, fmt.Sprintf("[%s](#%s)", text, anchor)) }
	for _, f := range p.pkg.Funcs {
		add(f.Name, f.Name)
	}
	for _, t := range p.pkg.Types {
		add(t.Name, t.Name)
		for _, f := range t.Funcs {
			add(f.Name, f.Name)
		}
		for _, m := range t.Methods {
			add(t.Name+"."+m.Name, t.Name+"."+m.Name)
		}
	}
	fmt.Printf("<div class=\"index\" markdown=\"1\">\n%s\n</div>\n\n", strings.Join(names, " "))
}

func (p printer) values(title string, values []*doc.Value) {
	if len(values) > 0 && title != "" {
		fmt.Printf("## %s\n\n", title)
	}
	for _, v := range values {
		for _, name := range v.Names {
			fmt.Printf("<a id=\"%s\"></a>", name)
		}
		fmt.Print("\n\n")
		p.text(v.Doc)
		p.code(v.Decl)
	}
}

func (p printer) funcs(funcs []*doc.Func, level string) {
	for _, f := range funcs {
		name := f.Name
		if f.Recv != "" {
			receiver, _, _ := strings.Cut(strings.TrimPrefix(f.Recv, "*"), "[")
			name = receiver + "." + f.Name
		}
		fmt.Printf("%s func %s { id=\"%s\" }\n\n", level, name, name)
		f.Decl.Body = nil
		p.code(f.Decl)
		p.text(f.Doc)
		p.examples(f.Examples)
	}
}

func (p printer) text(text string) {
	printer := p.pkg.Printer()
	printer.HeadingLevel = 3
	printer.HeadingID = func(*comment.Heading) string { return "" }
	printer.DocLinkURL = func(link *comment.DocLink) string {
		if link.ImportPath != "" {
			return link.DefaultURL("https://pkg.go.dev")
		}
		name := link.Name
		if link.Recv != "" {
			name = link.Recv + "." + link.Name
		}
		return "#" + name
	}
	fmt.Printf("%s\n", printer.Markdown(p.pkg.Parser().Parse(text)))
}

func (p printer) code(node any) {
	var b bytes.Buffer
	if err := format.Node(&b, p.set, node); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("```go\n%s\n```\n\n", b.String())
}

func (p printer) examples(examples []*doc.Example) {
	for _, e := range examples {
		var b bytes.Buffer
		if err := format.Node(&b, p.set, e.Code); err != nil {
			log.Fatal(err)
		}
		body := strings.TrimSuffix(strings.TrimPrefix(b.String(), "{\n"), "\n}")
		body = strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:]
		fmt.Printf("Example:\n\n```go\n%s\n```\n\n", body)
		if e.Output != "" {
			fmt.Printf("Prints:\n\n```text\n%s\n```\n\n", strings.TrimSpace(e.Output))
		}
	}
}
