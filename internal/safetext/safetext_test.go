// SPDX-License-Identifier: Apache-2.0

package safetext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		`plain 'text' \ é 中 😀 "q"`:            `plain 'text' \ é 中 😀 "q"`,
		"\x00\x1b]0;x\a\r\n\t\x7f":            `\x00\x1b]0;x\x07\x0d\x0a\x09\x7f`,
		"\u009b\u00a0\u00ad":                  `\u009b\u00a0\u00ad`,
		"a\u202eb\u2066c\u061c\u200e":         `a\u202eb\u2066c\u061c\u200e`,
		"\u2028\u2029\u0085\u200b\ufeff":      `\u2028\u2029\u0085\u200b\ufeff`,
		"\u3164\u115f\ufe0f\u034f\u2800":      `\u3164\u115f\ufe0f\u034f\u2800`,
		"\U000e0001\U000e0100\U0010ffff":      `\U000e0001\U000e0100\U0010ffff`,
		"\x9b\xff\xed\xa0\x80\xc3":            `\x9b\xff\xed\xa0\x80\xc3`,
		"a replacement \ufffd is a character": "a replacement \ufffd is a character",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		} else if Escape(got) != got {
			t.Errorf("%q: escaped twice it is %s", text, Escape(got))
		}
	}
}

// Every rune by itself, in and out of Printable's hands.
func TestNoRuneGetsThrough(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		if text := Escape(string(r)); (text == string(r)) != Printable(r) {
			t.Fatalf("%U: %q", r, text)
		}
	}
}

type stranger string

func (s stranger) String() string { return string(s) }

func TestSprintfEscapesArguments(t *testing.T) {
	evil := "x\n\x1b[2J\u202ehydra: ok"
	for _, arg := range []any{evil, stranger(evil), errors.New(evil), []string{evil}, map[string]string{evil: evil}, []byte(evil), struct{ A string }{evil}, &struct{ A string }{evil}} {
		got := Sprintf("begin %v end\n", arg).String()
		if strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\u202e") {
			t.Errorf("%T: %q", arg, got)
		}
	}
	own := Sprintf("a\nb %d\n", 7)
	if got := Sprintf("%s|%5d|%-4s|%.2f|%v|%q", own, 3, "ab", 1.5, true, "\x1b").String(); got != "a\nb 7\n|    3|ab  |1.50|true|\"\\x1b\"" {
		t.Errorf("%q", got)
	}
	if got := Sprintf("%v", 7*1000).Append(Lines("a\x1b\nb\r")).String(); got != "7000a\\x1b\nb\\x0d" {
		t.Errorf("%q", got)
	}
}

func TestTable(t *testing.T) {
	got := Table([][]string{{"a\nhydra: ok", "é", "x"}, {"b", "", ""}, {"c", "longer", "y"}}).String()
	want := "a\\x0ahydra: ok  é       x\nb\nc               longer  y\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPrinter(t *testing.T) {
	var out bytes.Buffer
	p := NewPrinter(&out)
	p.Printf("%s\n", "a\nb")
	p.Print(Lines("c\n"))
	if n, err := p.Write([]byte("d\te\x1b\n")); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := out.String(); got != "a\\x0ab\nc\nd\te\\x1b\n" {
		t.Errorf("%q", got)
	}
	if _, ok := p.File(); ok {
		t.Error("a buffer is no file")
	}
	if f, ok := NewPrinter(os.Stderr).File(); !ok || f != os.Stderr {
		t.Error("a file is one")
	}
}

// JSON means the same as without escapes.
func TestJSON(t *testing.T) {
	in := map[string]string{"k\u202e": "a\n\x1b\x7f\u009b\u2028\U000e0001\u00a0é中😀<&>\"\\"}
	var out bytes.Buffer
	if err := NewPrinter(&out).JSON(in, "  "); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r != '\n' && !Printable(r) {
			t.Errorf("%U in %q", r, out.String())
		}
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || !reflect.DeepEqual(in, back) {
		t.Errorf("%v: %q", err, out.String())
	}
	out.Reset()
	raw := json.RawMessage("{\"a\": \"\u202e\xff\"}")
	if err := NewPrinter(&out).JSON(raw, ""); err != nil || out.String() != "{\"a\":\"\\u202e\\ufffd\"}\n" {
		t.Errorf("%v: %q", err, out.String())
	}
	if err := NewPrinter(&out).JSON(func() {}, ""); err == nil {
		t.Error("a function is no JSON")
	}
}

// Words that would run something, or be something else, if they were not quoted.
var words = []string{
	"", "plain", "-x", "a b", "a=b", "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "\"; touch pwned; \"", "x; touch pwned",
	"x\ntouch pwned\n", "x & touch pwned &", "x | touch pwned", "> pwned", "$HOME", "~", "*", "?", "[a]", "{a,b}", "!!", "a!b'c", "#x", "\\", "\\x41",
	"it's", "'", "''", "$'x'", "\x1b[2J", "\r", "\t", "\u202eabc", "\u009b", "\xff\xfe", "é中😀", "a\u2028b", "x\\\ny", "a\x01f", "\u3164", "$'\\x27; touch pwned #",
}

func TestShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, set := range []string{"+H", "-H"} { // without and with history expansion, as people have it
		dir := t.TempDir()
		script := "set " + set + "\nset -o history\n"
		var want []string
		for _, word := range words {
			quoted := Shell(word)
			if Escape(quoted) != quoted {
				t.Errorf("%q: %q is not printable", word, quoted)
			}
			script += "printf '%s\\0' " + quoted + "\n"
			want = append(want, word)
		}
		// As a person pastes it: line by line from standard input.
		cmd := exec.Command(bash, "--norc", "--noprofile")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "HISTFILE=" + filepath.Join(dir, "h")}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("set %s: got %q\nwant %q", set, got, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Error("a word was run")
		}
	}
	if got := Shell("images.0=@a-b_c.npy"); got != "images.0=@a-b_c.npy" {
		t.Errorf("quoted without need: %s", got)
	}
}

func ExampleShell() {
	fmt.Println(Shell("a b"), Shell("it's"), Shell("x=@x.npy"))
	// Output: 'a b' $'it\x27s' x=@x.npy
}
