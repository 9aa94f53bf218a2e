// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "weft/effects/version.hpp"

/// Ends a program whose files share functions of weft but pass control differently (transfer.hpp),
/// or are of two versions: a function that was compiled one way would return to one that expects
/// the other way.
///
/// The linker rejects files that pass an eff to one another.  It does not notice files that keep
/// all their computations to themselves.  Such files are checked here, when the program begins or a
/// library is loaded.  A library with hidden visibility shares no function, and may be compiled by
/// another compiler.
namespace weft::detail {

static_assert(WEFT_VERSION_MAJOR == 0 && WEFT_VERSION_MINOR == 1,
              "here, and in transfer.hpp, the version is part of how a file is compiled");
#if defined(__clang__)
inline constexpr char const* compiled_how = "clang (weft 0.1)";
#elif defined(WEFT_SYMMETRIC)
inline constexpr char const* compiled_how = "g++ with WEFT_SYMMETRIC (weft 0.1)";
#else
inline constexpr char const* compiled_how = "g++ without WEFT_SYMMETRIC (weft 0.1)";
#endif

/// How the first file was compiled.  Each copy of the inline functions of weft has one such
/// variable.
inline constinit std::atomic<char const*> first_compiled_how = nullptr;

[[gnu::cold, gnu::noinline]] inline bool require_compiled_alike(char const* how) noexcept {
  char const* first = nullptr;
  // Relaxed: the texts are constants.
  if (first_compiled_how.compare_exchange_strong(first, how, std::memory_order_relaxed) ||
      std::strcmp(first, how) == 0)
    return true;
  std::fprintf(stderr,
               "weft: %s compiled one part of this program, and %s another, and they share "
               "functions: compile them alike, or one of them as a shared library with "
               "-fvisibility=hidden\n",
               first, how);
  std::abort();
}
/// Files that include weft.hpp, in which all functions are inline, are not to be linked with files
/// that use the compiled library.  So this variable is thread_local in the files of one kind only:
/// a linker refuses that, and its message has the name of the variable.
#if defined(WEFT_HEADER_ONLY)
[[gnu::used]] inline thread_local constinit char
    some_files_include_weft_hpp_and_others_use_the_compiled_library = 0;
#else
extern char some_files_include_weft_hpp_and_others_use_the_compiled_library;  // compiled_alike.cpp
#endif

/// A variable of each file, so that each file is checked.
[[maybe_unused]] static bool const is_compiled_alike =
    require_compiled_alike(compiled_how) &&
    some_files_include_weft_hpp_and_others_use_the_compiled_library == 0;

}  // namespace weft::detail
