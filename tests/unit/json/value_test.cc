#include "json/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "json/read.h"
#include "json/write.h"

namespace muster::json {
namespace {

TEST(Value, WhatIsAbsentIsEmpty) {
  const Value value = read(R"({"a":{"b":[1]}})").value();
  EXPECT_EQ(value["a"]["b"][0].as_int(), 1);
  EXPECT_TRUE(value["a"]["b"][1].is_null());
  EXPECT_TRUE(value["x"]["y"][7]["z"].is_null());
  EXPECT_EQ(value["x"].as_string(), "");
  EXPECT_EQ(value["x"].as_int(5), 5);
  EXPECT_EQ(value.at_path("a.b"), value["a"]["b"]);
  EXPECT_TRUE(value.at_path("a.b.c").is_null());
}

TEST(Value, ChangesInPlaceAndKeepsTheOrder) {
  Value value = read(R"({"z":1,"a":2})").value();
  value["m"] = 3;
  value["z"] = "new";
  value.make_path("x.y") = true;
  EXPECT_TRUE(value.object().erase("a"));
  EXPECT_FALSE(value.object().erase("a"));
  EXPECT_EQ(write(value), R"({"z":"new","m":3,"x":{"y":true}})");
}

TEST(Value, ACopyIsAnother) {
  const Value original = read(R"({"a":{"b":[1,{"c":2}]},"d":[]})").value();
  const std::string text = write(original);
  Value copy = original;
  EXPECT_EQ(copy, original);
  copy["a"]["b"].array()[1]["c"] = 3;
  copy["d"].array().emplace_back("new");
  EXPECT_EQ(write(original), text);
  Value second = copy;
  second["a"].object().erase("b");
  copy["a"]["e"] = true;
  EXPECT_EQ(write(copy), R"({"a":{"b":[1,{"c":3}],"e":true},"d":["new"]})");
  EXPECT_EQ(write(second), R"({"a":{},"d":["new"]})");
  EXPECT_EQ(write(original), text);
}

TEST(Value, APartTakesThePlaceOfTheWhole) {
  Value value = read(R"({"a":{"b":[1,2]}})").value();
  value = std::as_const(value)["a"];
  EXPECT_EQ(write(value), R"({"b":[1,2]})");
  value = std::as_const(value)["b"];
  EXPECT_EQ(write(value), "[1,2]");
  value = std::as_const(value).as_array()[1];
  EXPECT_EQ(write(value), "2");
  Value other = read(R"({"a":{"b":["text"]}})").value();
  other = std::move(other["a"]["b"]);
  EXPECT_EQ(write(other), R"(["text"])");
  other = std::move(other.array()[0]);
  EXPECT_EQ(write(other), R"("text")");
}

TEST(Value, TheWholeTakesThePlaceOfAPart) {
  Value value = read(R"({"a":1})").value();
  value["b"] = value;
  EXPECT_EQ(write(value), R"({"a":1,"b":{"a":1}})");
  value["b"]["a"] = value;
  EXPECT_EQ(write(value), R"({"a":1,"b":{"a":{"a":1,"b":{"a":1}}}})");
}

TEST(Value, EmptyIsEmptyHoweverItCameAbout) {
  Value made;
  made.object();
  EXPECT_EQ(made, Value(Object()));
  made["x"] = 1;
  made.object().erase("x");
  EXPECT_EQ(made, Value(Object()));
  EXPECT_NE(made, Value(Array()));
}

TEST(Value, ShrinksWhatNoCopyHas) {
  Value value = read(R"({"a":[],"b":[]})").value();
  for (const char* key : {"a", "b"}) {
    value[key].array().reserve(100);
    value[key].array().emplace_back(1);
  }
  const Value copy = std::as_const(value)["b"];
  value.shrink();
  EXPECT_EQ(std::as_const(value)["a"].as_array().capacity(), 1U);
  EXPECT_EQ(copy.as_array().capacity(), 100U);
  EXPECT_EQ(write(value), R"({"a":[1],"b":[1]})");
}

TEST(Value, CopiesMayBeInSeveralThreads) {
  const Value original = read(R"({"a":{"b":[1,2,3]}})").value();
  std::vector<Value> copies(4, original);
  {
    std::vector<std::jthread> threads;
    for (Value& copy : copies) {
      threads.emplace_back([&copy] {
        for (int i = 0; i < 1'000; ++i) {
          Value own = copy;
          copy["a"]["b"].array()[0] = i;
          own["a"]["b"].array().pop_back();
        }
      });
    }
  }
  for (const Value& copy : copies) EXPECT_EQ(write(copy), R"({"a":{"b":[999,2,3]}})");
  EXPECT_EQ(write(original), R"({"a":{"b":[1,2,3]}})");
}

TEST(Value, EqualInAnyMemberOrder) {
  EXPECT_EQ(read(R"({"a":1,"b":{"c":2,"d":3}})").value(),
            read(R"({"b":{"d":3,"c":2},"a":1})").value());
  EXPECT_NE(read(R"({"a":1})").value(), read(R"({"a":1,"b":null})").value());
  EXPECT_NE(read(R"({"a":1,"b":1})").value(), read(R"({"a":1,"c":1})").value());
  EXPECT_NE(read("[1,2]").value(), read("[2,1]").value());
  EXPECT_EQ(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value("1"));
  EXPECT_NE(Value(0), Value(false));
  EXPECT_NE(Value(0), Value());
}

TEST(Value, DoublesThatAreWholeAreIntegersToo) {
  EXPECT_EQ(Value(3.0).as_int(), 3);
  EXPECT_EQ(Value(3.5).as_int(-1), -1);
  EXPECT_EQ(Value(1e300).as_int(-1), -1);
  EXPECT_EQ(Value(std::numeric_limits<double>::quiet_NaN()).as_int(-1), -1);
}

TEST(Write, Layouts) {
  const Value value = read(R"({"b":[1,{}],"a":{"d":[],"c":"x"}})").value();
  EXPECT_EQ(write(value), R"({"b":[1,{}],"a":{"d":[],"c":"x"}})");
  EXPECT_EQ(write_canonical(value), R"({"a":{"c":"x","d":[]},"b":[1,{}]})");
  EXPECT_EQ(write_pretty(value),
            "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": {\n    \"d\": [],\n"
            "    \"c\": \"x\"\n  }\n}");
}

TEST(Write, EqualNumbersGiveEqualBytes) {
  EXPECT_EQ(write_canonical(Value(-0.0)), write_canonical(Value(0)));
  EXPECT_EQ(write_canonical(Value(2.0)), write_canonical(Value(2)));
}

TEST(Write, WhatJsonDoesNotHaveIsNull) {
  EXPECT_EQ(write(Value(std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(write(Value(std::numeric_limits<double>::quiet_NaN())), "null");
}

TEST(Write, DoublesReadBackTheSame) {
  for (const double number :
       {0.1, -0.0, 1e-300, 1.7976931348623157e308, 5e-324, 1e19, 1e21, 123.0}) {
    EXPECT_EQ(read(write(Value(number)))->as_double(), number);
  }
}

}  // namespace
}  // namespace muster::json
