// SPDX-License-Identifier: MIT

/// A parser that backtracks: plain recursive descent, one function for each rule of the grammar.
///
/// Where a rule has alternatives it chooses, and where the next word does not fit it fails.  There
/// are no combinators, and yet all readings of an ambiguous sentence are found: the handler decides
/// whether it returns one of them or all.
///
/// Kinds of clause: `all_solutions` resumes each choice once for each alternative.  The position in
/// the sentence is a local variable of the body: each alternative has its own, as the body is run
/// again for it.  The rules pass data by plain calls.

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

/// The possible classes of a word: determiner, noun, pronoun (I), verb, preposition.
std::map<std::string, std::string, std::less<>> const lexicon{
    {"an", "D"},    {"arrow", "N"}, {"flies", "NV"}, {"hill", "N"}, {"i", "I"},
    {"like", "VP"}, {"man", "N"},   {"on", "P"},     {"saw", "NV"}, {"telescope", "N"},
    {"the", "D"},   {"time", "NV"}, {"with", "P"},
};

class sentence {
 public:
  explicit sentence(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t const end = std::min(text.find(' ', at), text.size());
      words_.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  [[nodiscard]] bool next_is(char kind) const {
    if (next_ == words_.size()) return false;
    auto const known = lexicon.find(words_[next_]);
    return known != lexicon.end() && known->second.find(kind) != std::string::npos;
  }
  [[nodiscard]] bool at_end() const { return next_ == words_.size(); }
  std::string const& take() { return words_[next_++]; }

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

/// In brackets, if there are two parts.
std::string phrase(std::string first, std::string const& second) {
  return second.empty() ? std::move(first) : "(" + first + " " + second + ")";
}

// ---- the grammar

/// The next word, which must be of that class.
eff<std::string, choose> word(char kind, sentence& in) {
  co_await guard(in.next_is(kind));
  co_return in.take();
}

/// Whether to take one more of the optional parts that may follow.
eff<bool, choose> one_more(bool possible) {
  if (!possible) co_return false;
  co_return co_await one_of(true, false);
}

eff<std::string, choose> noun_phrase(sentence& in);

/// prepositional = preposition noun_phrase
eff<std::string, choose> prepositional(sentence& in) {
  std::string preposition = co_await word('P', in);
  std::string const what = co_await noun_phrase(in);
  co_return phrase(std::move(preposition), what);
}

/// ... prepositional*, each of which qualifies all that stands before it
eff<std::string, choose> qualified(std::string head, sentence& in) {
  for (;;) {
    bool const more = co_await one_more(in.next_is('P'));
    if (!more) co_return head;
    std::string const where = co_await prepositional(in);
    head = phrase(std::move(head), where);
  }
}

/// noun_phrase = (pronoun | determiner? noun noun?) prepositional*
eff<std::string, choose> noun_phrase(sentence& in) {
  std::string head;
  if (in.next_is('I')) {
    head = in.take();
  } else {
    std::string determiner;
    if (in.next_is('D')) determiner = in.take();
    head = co_await word('N', in);
    bool const compound = co_await one_more(in.next_is('N'));
    if (compound) head += "-" + in.take();
    if (!determiner.empty()) head = phrase(std::move(determiner), head);
  }
  co_return co_await qualified(std::move(head), in);
}

/// verb_phrase = verb noun_phrase? prepositional*
eff<std::string, choose> verb_phrase(sentence& in) {
  std::string head = co_await word('V', in);
  bool const has_object = co_await one_more(!in.at_end());
  if (has_object) {
    std::string const object = co_await noun_phrase(in);
    head = phrase(std::move(head), object);
  }
  co_return co_await qualified(std::move(head), in);
}

/// statement = noun_phrase verb_phrase;  order = verb_phrase
eff<std::string, choose> reading(std::string_view text) {
  sentence in(text);
  std::string subject;
  bool const is_statement = co_await one_of(true, false);
  if (is_statement) subject = co_await noun_phrase(in);
  std::string const rest = co_await verb_phrase(in);
  co_await guard(in.at_end());
  co_return is_statement ? phrase(std::move(subject), rest) : rest + "!";
}

// ---- all readings, or one

eff<void, console> print_readings(std::string_view text) {
  auto const all = co_await handle(all_solutions(), [text] { return reading(text); });
  std::string lines(text);
  for (std::string const& r : all) lines += "\n  " + r;
  co_await console::print_line(lines);
}

eff<void, console> print_one_reading(std::string_view text) {
  auto const one = co_await handle(first_solution(), [text] { return reading(text); });
  std::string const line = std::string(text) + ": " + one.value_or("no reading");
  co_await console::print_line(line);
}

/// One process for each sentence: on several threads, several sentences at a time.
eff<void, spawning<console>> all_sentences() {
  co_await spawn(print_readings, "time flies like an arrow");
  co_await spawn(print_readings, "i saw the man on the hill with the telescope");
  co_await spawn(print_one_reading, "i saw an arrow");
  co_await spawn(print_one_reading, "arrow the saw");
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(all_sentences, console_to_stream(std::cout));
}
