// SPDX-License-Identifier: Apache-2.0

// Hydra runs, builds and inspects NEF models from the command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Exit codes: 1 the work failed, 2 the command line is wrong or incomplete, 130 interrupted.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError marks what the caller can put right by typing something else.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errShown is an error whose text has been printed already.
var errShown = errors.New("")

// textError is an error whose text has lines of its own.
type textError struct {
	error
	text safetext.Text
}

func (e textError) Unwrap() error { return e.error }

// app is what the commands share. All that a command prints goes through the two printers, which
// escape what is not the program's own text.
type app struct {
	out, err *safetext.Printer
	json     bool
}

func newApp(out, errOut io.Writer) *app {
	return &app{out: safetext.NewPrinter(out), err: safetext.NewPrinter(errOut)}
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		a.report(errInterrupted)
		return exitInterrupted
	}
	a.report(err)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "hydra",
		Short: "Run, build and inspect NEF models",
		Long: `hydra runs, builds and inspects NEF models (.nef files).

  hydra build ./minilm -o minilm.nef    a Hugging Face folder becomes a model
  hydra import model.onnx -o model.nef  so does an ONNX file
  hydra run minilm.nef                  prints the flags this model needs
  hydra plan minilm.nef                 where each part runs, and why`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q; hydra --help lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "machine-readable output")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
	root.AddCommand(a.runCommand(), a.buildCommand(), a.importCommand(), a.inspectCommand(), a.planCommand(),
		a.devicesCommand(), a.benchCommand(), a.traceCommand(), a.pushCommand(), a.pullCommand(),
		a.versionCommand())
	return root
}

// exactly is cobra.ExactArgs with a message that names what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s needs %s: %s", cmd.CommandPath(), names[len(args)], cmd.UseLine())
		}
		if len(args) > len(names) {
			return usagef("%s takes no argument %q: %s", cmd.CommandPath(), args[len(names)], cmd.UseLine())
		}
		return nil
	}
}

// report prints an error, as one JSON object on standard output with --json.
func (a *app) report(err error) {
	if errors.Is(err, errShown) {
		return
	}
	if !a.json {
		var own textError
		if errors.As(err, &own) {
			a.err.Printf("hydra: %s\n", own.text)
			return
		}
		// Messages of the loader begin with the file, which is better than the name of the stage.
		a.err.Printf("hydra: %s\n", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "nef: "), "load: "))
		return
	}
	fault := struct {
		Code    string `json:"code,omitempty"`
		Op      string `json:"op,omitempty"`
		Message string `json:"message"`
	}{Message: err.Error()}
	var e *nef.Error
	if errors.As(err, &e) {
		fault.Code, fault.Op = e.Code.String(), e.Op
	}
	a.printJSON(map[string]any{"error": fault})
}

func (a *app) printJSON(v any) { a.encodeJSON(v, "  ") }

// printLine prints v on one line, for lists of numbers that would take a line each.
func (a *app) printLine(v any) { a.encodeJSON(v, "") }

func (a *app) encodeJSON(v any, indent string) {
	if err := a.out.JSON(v, indent); err != nil {
		a.err.Printf("hydra: %v\n", err)
	}
}
