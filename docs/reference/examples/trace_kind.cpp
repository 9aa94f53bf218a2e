// SPDX-License-Identifier: MIT
// All kinds of events of a trace, and the reasons of a put.
#include <iostream>

#include <weft/trace/trace_files.hpp>
using namespace weft;

int main() {
  for (trace_kind const k : {trace_kind::perform,      trace_kind::answer,     trace_kind::suspend,
                             trace_kind::resume,       trace_kind::put,        trace_kind::take,
                             trace_kind::steal,        trace_kind::park,       trace_kind::wake,
                             trace_kind::unpark,       trace_kind::spawn,      trace_kind::fork,
                             trace_kind::send,         trace_kind::receive,    trace_kind::timer,
                             trace_kind::task_offered, trace_kind::task_taken, trace_kind::cancel,
                             trace_kind::checkpoint,   trace_kind::restore,    trace_kind::fail,
                             trace_kind::end})
    std::cout << name_of_kind(k) << ' ';
  std::cout << '\n';
  for (put_reason const r :
       {put_reason::started, put_reason::yielded, put_reason::woken, put_reason::handed_over})
    std::cout << name_of_reason(r) << ' ';
  std::cout << '\n';
}
