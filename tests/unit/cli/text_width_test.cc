#include "cli/terminal/text_width.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(TextWidth, CountsColumnsOfATerminal) {
  EXPECT_EQ(text_width(""), 0U);
  EXPECT_EQ(text_width("plain"), 5U);
  EXPECT_EQ(text_width(" 45%|████▌     |"), 16U);
  EXPECT_EQ(text_width("訓練"), 4U) << "East Asian characters are two columns wide";
  EXPECT_EQ(text_width("🚀"), 2U);
  EXPECT_EQ(text_width("e\u0301"), 1U) << "an accent sits on its letter";
  EXPECT_EQ(text_width("한"), 2U) << "and so do parts of a syllable";
  EXPECT_EQ(text_width("\x1b[1;38;5;208mw0 │ \x1b[0m"), 5U) << "colours take no room";
  EXPECT_EQ(text_width("\u200b"), 0U);
}

TEST(Elide, ShortTextStaysAsItIs) {
  EXPECT_EQ(elide_end("exact", 5, Ellipsis::Unicode), "exact");
  EXPECT_EQ(elide_middle("exact", 5, Ellipsis::Unicode), "exact");
}

TEST(Elide, AtTheEndAndInTheMiddle) {
  EXPECT_EQ(elide_end("too long", 5, Ellipsis::Unicode), "too …");
  EXPECT_EQ(elide_end("too long", 5, Ellipsis::Ascii), "to...");
  EXPECT_EQ(elide_middle("bert-large-0017", 8, Ellipsis::Unicode), "bert…017");
  EXPECT_EQ(elide_middle("bert-large-0017", 8, Ellipsis::Ascii), "ber...17");
}

TEST(Elide, NeverWiderThanItMay) {
  for (const std::string text : {"a plain sentence", "訓練ジョブの名前", "a訓b練cジdョeブ",
                                 "e\u0301e\u0301e\u0301e\u0301", "\x1b[31mred\x1b[0m and not"}) {
    for (std::size_t columns = 0; columns <= text_width(text) + 1; ++columns) {
      for (const auto ellipsis : {Ellipsis::Unicode, Ellipsis::Ascii}) {
        EXPECT_LE(text_width(elide_end(text, columns, ellipsis)), columns) << text;
        EXPECT_LE(text_width(elide_middle(text, columns, ellipsis)), columns) << text;
      }
    }
  }
}

TEST(Elide, KeepsCharactersWholeAndEndsColours) {
  EXPECT_EQ(elide_end("訓練ジョブ", 6, Ellipsis::Unicode), "訓練…");
  EXPECT_EQ(elide_middle("訓練ジョブ", 7, Ellipsis::Unicode), "訓…ョブ");
  EXPECT_EQ(elide_end("\x1b[31mbright red", 7, Ellipsis::Unicode), "\x1b[31mbright…\x1b[0m");
  EXPECT_EQ(elide_middle("abcdefe\u0301", 4, Ellipsis::Unicode), "ab…e\u0301");
}

TEST(AsciiOnly, KeepsWhatABarSays) {
  EXPECT_EQ(ascii_only("w0 │  45%|████▌     | 45/100"), "w0 |  45%|#####     | 45/100");
  EXPECT_EQ(ascii_only("· — … é 訓"), "- - ... ? ??");
  EXPECT_EQ(ascii_only("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m");
}

}  // namespace
}  // namespace muster::cli
