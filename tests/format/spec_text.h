// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads spec/*.md, so that tests compare what is written there with what the code does.

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace crawlstore::testing {

using Row = std::vector<std::string>;

/// The whole text of a file of the source tree.
inline std::string source_text(const std::string& path) {
  std::ifstream file(std::string(CRAWLSTORE_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

/// The text after the line that begins with `heading`, up to the next heading of any level.
inline std::string section(const std::string& text, std::string_view heading) {
  const auto start = text.find("\n" + std::string(heading) + "\n");
  EXPECT_NE(start, std::string::npos) << heading;
  if (start == std::string::npos) return {};
  const auto body = start + heading.size() + 2;
  const auto end = text.find("\n#", body);
  return text.substr(body, end == std::string::npos ? end : end - body);
}

/// The pages of the format, one behind the other.
inline std::string format_text() {
  std::string text;
  for (const char* page :
       {"spec/format.md", "spec/container.md", "spec/commit.md", "spec/drum.md", "spec/pages.md",
        "spec/events.md", "spec/links.md", "spec/scores.md", "spec/queue.md", "spec/frontier.md",
        "spec/values.md", "spec/urls.md", "spec/vectors.md"}) {
    text += source_text(page);
  }
  return text;
}

inline std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" `");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" `") - first + 1);
}

/// The cells of the first table behind `mark`, without its two head rows, spaces and backquotes.
inline std::vector<Row> table_after(const std::string& text, const std::string& mark) {
  std::vector<Row> rows;
  const auto start = text.find(mark);
  EXPECT_NE(start, std::string::npos) << mark;
  if (start == std::string::npos) return rows;
  std::istringstream lines(text.substr(start + mark.size()));
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') {
      if (is_inside) break;
      continue;
    }
    is_inside = true;
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    rows.push_back(row);
  }
  EXPECT_GT(rows.size(), 2u) << mark;
  if (rows.size() > 2) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

/// The text of the fenced block that begins with ```language behind `mark`.
inline std::string fenced_after(const std::string& text, const std::string& mark,
                                const std::string& language = "") {
  const auto start = text.find("```" + language + "\n", text.find(mark));
  EXPECT_NE(start, std::string::npos) << mark;
  if (start == std::string::npos) return {};
  const auto body = start + 4 + language.size();
  return text.substr(body, text.find("```", body) - body);
}

}  // namespace crawlstore::testing
