// SPDX-License-Identifier: Apache-2.0

package onnx

// microsoftOps are the ops that ONNX Runtime's tools put into models.
func microsoftOps() map[string][]variant {
	return map[string][]variant{
		"Gelu": always(direct),
	}
}
