// SPDX-License-Identifier: Apache-2.0

// Package nef holds C headers only. As a Go package it survives "go mod vendor".
package nef
