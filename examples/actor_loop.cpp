// SPDX-License-Identifier: MIT

/// Actors with mailboxes.  An actor is a loop that receives letters, and may send some; its
/// handler, a post office, decides which actor runs.
///
/// Two actors play ping-pong.  One stops after three rounds; the other waits for a letter that
/// never comes.  When the post office is destroyed, the frames that are suspended in its region are
/// unwound: the local variables of the waiting actor are destroyed, and one of them prints that.
///
/// Kinds of clause: `send` is a value clause; `receive` is a control clause, which resumes at once
/// (`last`) if there is a letter, and else keeps the continuation of the actor.  So the post office
/// is a region.

#include <deque>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

using actor_name = std::string;
using letter = std::string;

struct post {
  struct [[nodiscard]] send : op<void> {
    send(actor_name a, letter l) : to(std::move(a)), text(std::move(l)) {}
    actor_name to;
    letter text;
  };
  struct [[nodiscard]] receive : op<letter> {  ///< Waits for a letter.
    explicit receive(actor_name a) : at(std::move(a)) {}
    actor_name at;
  };

  using operations = op_list<send, receive>;
};

class post_office : public handler<post>, public region {
 public:
  void on(post::send s) {
    mailbox& box = boxes_[s.to];
    box.letters.push_back(std::move(s.text));
    if (box.actor) rounds_.push_back(hand_over(std::move(box.actor), box.take()));
  }

  outcome<void> on(post::receive r, resumption<letter> k) {
    mailbox& box = boxes_[r.at];
    if (!box.letters.empty()) return std::move(k).last(box.take());
    box.actor = std::move(k);
    return {};
  }

  /// Delivers until no letter is left for a waiting actor.
  eff<void, console> deliver() {
    while (!rounds_.empty()) {
      auto next = std::move(rounds_.front());
      rounds_.pop_front();
      co_await std::move(next);
    }
  }

 private:
  struct mailbox {
    std::deque<letter> letters;
    resumption<letter> actor;  // waits for a letter; else empty

    letter take() {
      letter first = std::move(letters.front());
      letters.pop_front();
      return first;
    }
  };

  static eff<void, console> hand_over(resumption<letter> actor, letter text) {
    co_await std::move(actor)(std::move(text));
  }

  std::map<actor_name, mailbox> boxes_;
  std::deque<eff<void, console>> rounds_;
};

// ---- two actors

/// Prints when the frame of its actor is destroyed.
struct leaves {
  char const* who;
  ~leaves() { std::cout << who << " leaves the table\n"; }
};

eff<void, post, console> ping(int rounds) {
  leaves const at_the_end{"ping"};
  for (int round = 1; round <= rounds; ++round) {
    co_await post::send("pong", "ping " + std::to_string(round));
    letter const back = co_await post::receive("ping");
    co_await console::print_line("ping got: " + back);
  }
}

eff<void, post, console> pong() {
  leaves const at_the_end{"pong"};
  for (;;) {
    letter const ball = co_await post::receive("pong");
    co_await console::print_line("pong got: " + ball);
    co_await post::send("ping", "thanks for " + ball);
  }
}

eff<void, console> game() {
  {
    post_office office;
    co_await handle(office, pong);
    co_await handle(office, ping(3));
    co_await office.deliver();
    co_await console::print_line("the post office closes");
  }
  co_await console::print_line("all have gone");
}

/// The actors run within one process, as the post office does.
int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(game, console_to_stream(std::cout));
}
