// SPDX-License-Identifier: Apache-2.0

package main

import (
	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"
)

func (a *app) devicesCommand() *cobra.Command {
	var plugins []string
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices found, and why others are not",
		Args:  exactly(),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.devices(plugins) },
	}
	cmd.Flags().StringArrayVar(&plugins, "backend", nil, "load a backend plugin from this path first")
	return cmd
}

type deviceReport struct {
	Name        string `json:"name"`
	Backend     string `json:"backend"`
	Kind        string `json:"kind"`
	Available   bool   `json:"available"`
	Description string `json:"description,omitempty"`
	Memory      uint64 `json:"memory,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

func (a *app) devices(plugins []string) error {
	for _, path := range plugins {
		if err := nef.LoadBackend(path); err != nil {
			return err
		}
	}
	devices, err := nef.Devices()
	if err != nil {
		return err
	}
	reports := []deviceReport{}
	var found, absent [][]string
	for _, d := range devices {
		reports = append(reports, deviceReport{d.Name, d.Backend, d.Kind.String(), d.Available, d.Description, d.Memory, d.Reason})
		if !d.Available {
			absent = append(absent, []string{" " + d.Name, "not found: " + d.Reason})
			continue
		}
		memory := ""
		if d.Memory > 0 {
			memory = size(float64(d.Memory))
		}
		found = append(found, []string{" " + d.Name, d.Description, memory, "ok"})
	}
	if a.json {
		a.printJSON(reports)
		return nil
	}
	a.printf("%s%s", table(found), table(absent))
	return nil
}
