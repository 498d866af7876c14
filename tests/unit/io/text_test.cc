// SPDX-License-Identifier: Apache-2.0
#include "engine/io/text.h"

#include "engine/io/base64.h"
#include "engine/io/limits.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

TEST(Utf8, TellsWellFormedFromBroken) {
  EXPECT_EQ(utf8_sequence("a"), 1u);
  EXPECT_EQ(utf8_sequence("\xc3\xa9"), 2u);
  EXPECT_EQ(utf8_sequence("\xed\x9f\xbf"), 3u);
  EXPECT_EQ(utf8_sequence("\xf4\x8f\xbf\xbf"), 4u);
  for (const char* bad : {"\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", ""}) {
    EXPECT_EQ(utf8_sequence(bad), 0u);
  }
}

TEST(Names, FaultsAreNamed) {
  EXPECT_EQ(name_fault("a b/c\n{}\""), nullptr);
  EXPECT_STREQ(name_fault(""), "is empty");
  EXPECT_STREQ(name_fault(std::string_view("a\0", 2)), "holds a NUL byte");
  EXPECT_STREQ(name_fault("\xff"), "is not valid UTF-8");
  EXPECT_NE(name_fault(std::string(kMaxNameBytes + 1, 'x')), nullptr);
  EXPECT_EQ(name_fault(std::string(kMaxNameBytes, 'x')), nullptr);
}

TEST(Names, MessagesStayPrintable) {
  EXPECT_EQ(in_quotes("a\n\xff\x1b"), "'a\\x0a\\xff\\x1b'");
  EXPECT_LT(in_quotes(std::string(10000, 'x')).size(), 120u);
  EXPECT_EQ(in_quotes("a\xe2\x80\xae"), "'a\\u202e'");
}

TEST(Printable, EscapesWhatATerminalObeysOrHides) {
  for (const auto& [text, want] : std::vector<std::pair<std::string, std::string>>{
           {"plain text, 'quotes' \\ and \xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80",
            "plain text, 'quotes' \\ and \xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
           {std::string("\0\x1b]0;x\x07\r\n\t\x7f", 11), "\\x00\\x1b]0;x\\x07\\x0d\\x0a\\x09\\x7f"},
           {"\xc2\x9b\xc2\xa0\xc2\xad", "\\u009b\\u00a0\\u00ad"},  // CSI, a space, a soft hyphen
           {"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c", "\\u202e\\u2066\\u061c"},  // directions
           {"\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf", "\\u2028\\u200b\\ufeff"},
           {"\xe3\x85\xa4\xef\xb8\x8f", "\\u3164\\ufe0f"},  // a filler, a variation selector
           {"\xf3\xa0\x80\x81\xf4\x8f\xbf\xbf", "\\U000e0001\\U0010ffff"},
           {"\x9b\xff\xed\xa0\x80", "\\x9b\\xff\\xed\\xa0\\x80"},
           {"", ""},
       }) {
    EXPECT_EQ(printable(text), want);
    EXPECT_EQ(printable(want), want);
  }
}

TEST(Base64, RoundTripsEveryLength) {
  for (size_t n = 0; n < 100; ++n) {
    std::vector<std::byte> bytes(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 37 + n);
    std::string text;
    append_base64(text, bytes);
    size_t size = 0;
    ASSERT_TRUE(base64_size(text, &size));
    ASSERT_EQ(size, n);
    std::vector<std::byte> back(n);
    EXPECT_EQ(decode_base64(text, back.data()), std::string_view::npos);
    EXPECT_EQ(back, bytes);
  }
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  size_t size = 0;
  EXPECT_FALSE(base64_size("abc", &size));
  std::byte out[16];
  for (const char* bad : {"ab=c", "====", "a===", "ab c", "ab-_", "Zh==", "Zm9=", "Z=9v"}) {
    ASSERT_TRUE(base64_size(bad, &size)) << bad;
    EXPECT_NE(decode_base64(bad, out), std::string_view::npos) << bad;
  }
}

}  // namespace
}  // namespace nef::io
