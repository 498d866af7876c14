// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output: [[19 22] [43 50]]
}
