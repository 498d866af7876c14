// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/internal/safetext"
)

func (a *app) devicesCommand() *cobra.Command {
	var plugins []string
	var measure bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices found, and why others are not",
		Args:  exactly(),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.devices(plugins, measure) },
	}
	cmd.Flags().StringArrayVar(&plugins, "backend", nil, "load a backend plugin from this path first")
	cmd.Flags().BoolVar(&measure, "measure", false, "measure what launches and copies cost where no plan has done so yet")
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
	Costs       *costs `json:"costs,omitempty"`
}

// In seconds and bytes per second.
type costs struct {
	How      string  `json:"how"`
	Launch   float64 `json:"launch"`
	Link     float64 `json:"link,omitempty"`
	LinkRate float64 `json:"link_rate,omitempty"`
}

// costsOf says in a few words what plans count with; nothing for what computes in host memory.
func costsOf(d nef.Device) string {
	if d.LinkRate == 0 {
		return ""
	}
	return fmt.Sprintf("launch %.3g us, link %.3g us and %.3g GB/s, %s", d.Launch*1e6, d.Link*1e6, d.LinkRate/1e9, d.Costs)
}

func (a *app) devices(plugins []string, measure bool) error {
	for _, path := range plugins {
		if err := nef.LoadBackend(path); err != nil {
			return err
		}
	}
	if measure {
		if err := nef.MeasureDevices(); err != nil {
			return err
		}
	}
	devices, err := nef.Devices()
	if err != nil {
		return err
	}
	reports := []deviceReport{}
	var found, details, absent [][]string
	for _, d := range devices {
		report := deviceReport{d.Name, d.Backend, d.Kind.String(), d.Available, d.Description, d.Memory, d.Reason, nil}
		if d.Available {
			report.Costs = &costs{d.Costs, d.Launch, d.Link, d.LinkRate}
		}
		reports = append(reports, report)
		if !d.Available {
			absent = append(absent, []string{" " + d.Name, "not found: " + d.Reason})
			continue
		}
		memory := ""
		if d.Memory > 0 {
			memory = size(float64(d.Memory))
		}
		found = append(found, []string{" " + d.Name, d.Description, memory, "ok"})
		if text := costsOf(d); text != "" {
			details = append(details, []string{" " + d.Name, text})
		}
	}
	if a.json {
		a.printJSON(reports)
		return nil
	}
	a.out.Printf("%s%s%s", safetext.Table(found), safetext.Table(details), safetext.Table(absent))
	return nil
}
