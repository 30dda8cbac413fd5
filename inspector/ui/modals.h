// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Boxes above everything: the palette of commands, questions for a place or a path, and help.

#include <functional>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

/// Ctrl+P: finds a command, a panel or a location by some of its letters.
class CommandPalette {
 public:
  void open(std::string text);
  void draw(Ui& ui);

 private:
  struct Match {
    int score = 0;
    std::string title;
    std::string help;
    std::string keys;
    std::function<void(Ui&)> run;
  };
  [[nodiscard]] std::vector<Match> find(Ui& ui) const;
  void draw_matches(Ui& ui, const std::vector<Match>& matches);
  static void draw_match(Ui& ui, const Match& match, float left);
  bool must_open_ = false;
  bool must_focus_ = false;
  std::string text_;
  std::size_t chosen_ = 0;
};

/// Asks for one line of text.
class Question {
 public:
  using Answer = std::function<std::string(const std::string& text)>;  // "" = fine, else why not
  void open(std::string title, std::string text, std::string hint, Answer answer);
  void draw(Ui& ui);

 private:
  bool must_open_ = false;
  bool must_focus_ = false;
  std::string title_;
  std::string text_;
  std::string hint_;
  std::string problem_;
  Answer answer_;
};

/// Some sentences to read, until Escape, Enter or a click beside them.
class HelpBox {
 public:
  void open(std::string title, std::string text);
  void draw(Ui& ui);

 private:
  bool must_open_ = false;
  std::string title_;
  std::string text_;
};

}  // namespace crawlstore::inspector
