// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/fuzzy.h"

#include <algorithm>

namespace crawlstore::inspector {
namespace {

constexpr int kLetter = 1;
constexpr int kWordStart = 8;
constexpr int kNextLetter = 5;
constexpr int kSkippedMax = 5;
constexpr int kLetterOfWord = 4;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_word_start(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == ' ' || text[at - 1] == '_' || text[at - 1] == '/';
}

/// The next place of the letter: where a word starts with it, else the first.
std::size_t find_letter(std::string_view text, std::size_t from, char letter) {
  std::size_t first = text.npos;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (lower(text[i]) != letter) continue;
    if (is_word_start(text, i) || i == from) return i;
    if (first == text.npos) first = i;
  }
  return first;
}

/// Whether all letters are there from `from` on.
bool holds(std::string_view text, std::size_t from, std::string_view wanted) {
  for (const char c : wanted) {
    if (c == ' ') continue;
    while (from < text.size() && lower(text[from]) != lower(c)) ++from;
    if (from++ >= text.size()) return false;
  }
  return true;
}

/// ASCII letters and digits, and what is part of a letter in UTF-8.
bool is_word_letter(char c) {
  const char small = lower(c);
  return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
}

bool begins_a_word(std::string_view sentence, std::string_view wanted) {
  for (std::size_t at = 0; at + wanted.size() <= sentence.size(); ++at) {
    if (at > 0 && is_word_letter(sentence[at - 1])) continue;
    const auto is_same = [](char a, char b) { return lower(a) == lower(b); };
    if (std::ranges::equal(sentence.substr(at, wanted.size()), wanted, is_same)) return true;
  }
  return false;
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view wanted, std::string_view text) {
  int score = 0;
  std::size_t next = 0;
  bool is_first = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == ' ') continue;
    std::size_t at = find_letter(text, next, lower(wanted[i]));
    // The start of a later word may be too late for the letters that follow.
    if (at == text.npos || !holds(text, at, wanted.substr(i))) {
      at = next;
      while (at < text.size() && lower(text[at]) != lower(wanted[i])) ++at;
      if (at == text.size() || !holds(text, at, wanted.substr(i))) return std::nullopt;
    }
    score += kLetter;
    if (is_word_start(text, at)) score += kWordStart;
    if (!is_first && at == next) score += kNextLetter;
    if (is_first) score -= static_cast<int>(std::min<std::size_t>(at, kSkippedMax));
    is_first = false;
    next = at + 1;
  }
  return score;
}

std::optional<int> words_score(std::string_view wanted, std::string_view sentence) {
  int score = 0;
  while (!wanted.empty()) {
    const std::string_view word = wanted.substr(0, wanted.find(' '));
    wanted.remove_prefix(std::min(wanted.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!begins_a_word(sentence, word)) return std::nullopt;
    score += kLetterOfWord * static_cast<int>(word.size());
  }
  return score > 0 ? std::optional(score) : std::nullopt;
}

}  // namespace crawlstore::inspector
