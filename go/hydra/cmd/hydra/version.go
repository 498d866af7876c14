// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"
)

// release is the version of a released command, set when it is linked.
var release string

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of hydra and the engine",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, args []string) error {
			command := "(devel)"
			if release != "" {
				command = release
			} else if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				command = info.Main.Version
			}
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if a.json {
				a.printJSON(map[string]string{"hydra": command, "engine": nef.Version(), "go": runtime.Version(), "platform": platform})
				return nil
			}
			a.out.Printf("hydra %s, engine %s, %s %s\n", command, nef.Version(), runtime.Version(), platform)
			return nil
		},
	}
}
