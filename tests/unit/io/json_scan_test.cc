// SPDX-License-Identifier: Apache-2.0
#include "engine/io/json_scan.h"

#include "engine/io/json.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

Error scan_error(const std::string& text, const JsonLimits& limits = {}) {
  return error_of([&] { scan_json(text, "t.json", limits); });
}

TEST(JsonScan, AcceptsTheGrammar) {
  for (const char* text :
       {"{}", "[]", " [ ] ", "null", "true", "-0", "0.5e-3", "1E+2", "\"\"", "[[[]],{}]",
        R"({"a":1,"b":[true,false,null],"c":{"a":1}})", R"("\"\\\/\b\f\n\r\té😀")",
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "9007199254740992", "-9007199254740992",
        "1.7976931348623157e308", "5e-324"}) {
    EXPECT_NO_THROW(scan_json(text, "t")) << text;
  }
}

TEST(JsonScan, RefusesBrokenGrammarWithPlace) {
  for (const char* text :
       {"",           " ",     "{",     "[",   "[1",       "[1,]",      "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{a:1}", "[1 2]", "01",  "-",        "1.",        ".5",      "1e",
        "+1",         "tru",   "nulll", "\"",  "\"\\x\"",  "\"\\u12\"", "\"\t\"",  "{} {}",
        "[}",         "{]",    "'a'",   "NaN", "Infinity", "0x10",      "// c\n1", "[1,,2]"}) {
    const Error e = scan_error(text);
    EXPECT_EQ(e.code(), NEF_PARSE) << text << ": " << e.message();
    EXPECT_TRUE(contains(e.message(), "t.json: ")) << e.message();
    EXPECT_TRUE(contains(e.message(), "at byte ")) << e.message();
  }
  EXPECT_TRUE(
      contains(scan_error("{\n  \"a\": 1,\n  b").message(), "at byte 14 (line 3, column 3)"))
      << scan_error("{\n  \"a\": 1,\n  b").message();
}

TEST(JsonScan, RefusesNulSurrogatesAndBrokenUtf8ByName) {
  const auto expect = [](const std::string& text, const char* what) {
    const Error e = scan_error(text);
    EXPECT_EQ(e.code(), NEF_PARSE);
    EXPECT_TRUE(contains(e.message(), what)) << e.message();
  };
  expect(std::string("[\"a\0b\"]", 7), "NUL byte");
  expect(std::string("{}\0", 3), "NUL byte");
  expect("[\"a\\u0000b\"]", "NUL (\\u0000)");
  expect("[\"\\ud800\"]", "lone surrogate");
  expect("[\"\\udc00\"]", "lone surrogate");
  expect("[\"\\ud800\\u0041\"]", "lone surrogate");
  expect("[\"\\ud800\\ud800\"]", "lone surrogate");
  expect("[\"\xed\xa0\x80\"]", "invalid UTF-8");
  expect("[\"\xff\"]", "invalid UTF-8");
  expect("[\"\xc0\x80\"]", "invalid UTF-8");
  expect("[\"\xe2\x82\"]", "invalid UTF-8");
  expect("[\"\xf4\x90\x80\x80\"]", "invalid UTF-8");
  expect("\xef\xbb\xbf{}", "byte order mark");
  expect("[\xff]", "invalid UTF-8");
}

TEST(JsonScan, ComparesKeysDecoded) {
  for (const char* text : {R"({"a":1,"a":2})", R"({"a":1,"\u0061":2})", R"({"é":1,"\u00e9":2})",
                           R"({"x":{"k":1,"b":2,"k":3}})", R"([{"":1,"":2}])",
                           R"({"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"e":1})"}) {
    const Error e = scan_error(text);
    EXPECT_EQ(e.code(), NEF_DUPLICATE_NAME) << text;
    EXPECT_TRUE(contains(e.message(), "duplicate key")) << e.message();
  }
  EXPECT_NO_THROW(scan_json(R"({"a":{"a":{"a":1}},"b":{"a":1}})", "t"));
  EXPECT_NO_THROW(scan_json(R"([{"a":1},{"a":1}])", "t"));
}

TEST(JsonScan, NumbersStayExact) {
  for (const char* text : {"9007199254740993", "-9007199254740993", "123456789012345678901234"}) {
    const Error e = scan_error(text);
    EXPECT_EQ(e.code(), NEF_OUT_OF_RANGE) << text;
    EXPECT_TRUE(contains(e.message(), "as a string")) << e.message();
  }
  EXPECT_EQ(scan_error("1e999").code(), NEF_OUT_OF_RANGE);
}

TEST(JsonScan, StopsBombs) {
  EXPECT_EQ(scan_error(std::string(200, '[') + std::string(200, ']')).code(), NEF_LIMIT_EXCEEDED);
  EXPECT_NO_THROW(scan_json(std::string(128, '[') + std::string(128, ']'), "t"));
  std::string open;
  for (int i = 0; i < 100000; ++i) open += "{\"a\":";
  EXPECT_EQ(scan_error(open).code(), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(scan_error("[1,2,3]", {.values = 3}).code(), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(scan_error("[1,2,3]", {.bytes = 6}).code(), NEF_LIMIT_EXCEEDED);
}

TEST(JsonWalkTest, StepsThroughEverything) {
  const std::string text = R"( { "a" : [1, {"x":"]}"} , "q\"," ] , "b":{} , "\u00e9":-1.5 } )";
  scan_json(text, "t");
  const JsonSpan root{std::string_view(text).substr(1)};
  std::string key;
  JsonSpan value;
  JsonWalk members(root);
  ASSERT_TRUE(members.next_member(&key, &value));
  EXPECT_EQ(key, "a");
  std::vector<std::string> elements;
  for (JsonWalk walk(value); walk.next_element(&value);) elements.emplace_back(value.text);
  EXPECT_EQ(elements, (std::vector<std::string>{"1", R"({"x":"]}"})", R"("q\",")"}));
  ASSERT_TRUE(members.next_member(&key, &value));
  EXPECT_EQ(value.text, "{}");
  EXPECT_FALSE(JsonWalk(value).next_member(&key, &value));
  ASSERT_TRUE(members.next_member(&key, &value));
  EXPECT_EQ(key, "\xc3\xa9");
  EXPECT_EQ(value.text, "-1.5");
  EXPECT_FALSE(members.next_member(&key, &value));
}

TEST(JsonText, IsAFixedPoint) {
  const std::string text =
      R"([1, -0, 100000, 0.1, 1e+300, 9007199254740992, "\"\\/\n\u0001é", null, true, {"b": [], "a": {}}])";
  scan_json(text, "t");
  const std::string once = json_text(*parse_json({text}));
  scan_json(once, "t");
  EXPECT_EQ(json_text(*parse_json({once})), once);
  EXPECT_EQ(once, text);
}

TEST(JsonNumbers, IntegersAndFloatsAsText) {
  int64_t i = 0;
  const auto int_of = [&](const char* text) { return json_int(*parse_json({text}), &i); };
  EXPECT_TRUE(int_of("\"9223372036854775807\"") && i == INT64_MAX);
  EXPECT_TRUE(int_of("\"-9223372036854775808\"") && i == INT64_MIN);
  EXPECT_TRUE(int_of("-3") && i == -3);
  for (const char* bad :
       {"\"9223372036854775808\"", "1.5", "\"\"", "\"1x\"", "\" 1\"", "true", "1e300"}) {
    EXPECT_FALSE(int_of(bad)) << bad;
  }
  double f = 0;
  EXPECT_TRUE(json_float(*parse_json({"\"NaN\""}), &f) && f != f);
  EXPECT_TRUE(json_float(*parse_json({"\"-Infinity\""}), &f) && f < 0 && f * 0 != 0);
  EXPECT_FALSE(json_float(*parse_json({"\"nan\""}), &f));
}

// cJSON reads numbers through strtod, which a comma locale would break.
TEST(JsonNumbers, DoNotFollowTheLocale) {
  const locale_t comma = newlocale(LC_ALL_MASK, "de_DE.UTF-8", nullptr);
  if (comma == nullptr) GTEST_SKIP() << "no locale with a decimal comma on this system";
  const locale_t before = uselocale(comma);
  double f = 0;
  {
    const CLocale c;
    EXPECT_TRUE(json_float(*parse_json({"1.5"}), &f));
  }
  uselocale(before);
  freelocale(comma);
  EXPECT_EQ(f, 1.5);
}

}  // namespace
}  // namespace nef::io
