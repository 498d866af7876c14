// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/Hexa08/NEF/internal/safetext"
)

// DeviceKind is what a device is.
type DeviceKind int32

// The kinds of devices.
const (
	CPU DeviceKind = C.NEF_DEVICE_CPU
	GPU DeviceKind = C.NEF_DEVICE_GPU
	NPU DeviceKind = C.NEF_DEVICE_NPU
)

// String is "cpu", "gpu" or "npu".
func (k DeviceKind) String() string {
	switch k {
	case CPU:
		return "cpu"
	case GPU:
		return "gpu"
	case NPU:
		return "npu"
	}
	return fmt.Sprintf("kind %d", int32(k))
}

// Device is a device that was found, or a backend that is absent.
type Device struct {
	Name        string // "cpu:0"
	Backend     string // "cpu"
	Description string // "Intel Xeon ..., AVX-512, AMX"; empty when absent
	Kind        DeviceKind
	Available   bool
	Memory      uint64 // bytes, 0 = unknown
	Reason      string // why it is absent
	// What plans count with, in seconds and bytes per second; the link's are 0 for what computes in
	// host memory.
	Launch, Link, LinkRate float64
	Costs                  string // "measured", or "stated: " and why
}

// String is one line: the description, or why the device is absent.
func (d Device) String() string {
	text := d.Name + " " + d.Description
	switch {
	case !d.Available:
		text = d.Name + " not found: " + d.Reason
	case d.Memory != 0:
		text += fmt.Sprintf(", %.1f GiB", float64(d.Memory)/(1<<30))
	}
	return safetext.Escape(text)
}

// Devices are the devices that were found and the backends that are absent.
func Devices() ([]Device, error) {
	if skew != nil {
		return nil, skew
	}
	devices := make([]Device, int(C.nef_device_count()))
	for i := range devices {
		info := C.nef_device_info{struct_size: C.sizeof_nef_device_info}
		if err := fromStatus(C.nef_device(C.size_t(i), &info)); err != nil {
			return nil, err
		}
		devices[i] = Device{
			Name:        C.GoString(info.name),
			Backend:     C.GoString(info.backend),
			Description: C.GoString(info.description),
			Kind:        DeviceKind(info.kind),
			Available:   info.available != 0,
			Memory:      uint64(info.memory_bytes),
			Reason:      C.GoString(info.reason),
			Launch:      float64(info.launch_seconds),
			Link:        float64(info.link_seconds),
			LinkRate:    float64(info.link_bytes_per_second),
			Costs:       C.GoString(info.costs),
		}
	}
	return devices, nil
}

// MeasureDevices measures what launches and copies cost on the devices that were found, where that
// has not been done: some milliseconds each, once their drivers are up. The first plan that weighs a
// device does the same. What cannot be measured costs what its backend states; Device.Costs says
// why.
func MeasureDevices() error {
	if skew != nil {
		return skew
	}
	for i := 0; i < int(C.nef_device_count()); i++ {
		if err := fromStatus(C.nef_device_measure(C.size_t(i))); err != nil {
			return err
		}
	}
	return nil
}

// LoadBackend loads a backend plugin from an explicit path. A plugin of another ABI version is
// refused with [ErrABIMismatch] before anything of it runs. One that finds no device stays listed
// by [Devices] with the reason, and the error is [ErrBackendUnavailable].
func LoadBackend(path string) error {
	if skew != nil {
		return skew
	}
	file, err := cText("load backend", path)
	if err != nil {
		return err
	}
	return asError(fromStatus(C.nef_backend_load((*C.char)(unsafe.Pointer(file)))))
}
