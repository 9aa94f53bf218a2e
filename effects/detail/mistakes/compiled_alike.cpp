// SPDX-License-Identifier: MIT
#include "weft/effects/detail/mistakes/compiled_alike.hpp"

namespace weft::detail {

#ifndef WEFT_HEADER_ONLY
char some_files_include_weft_hpp_and_others_use_the_compiled_library = 0;
#endif

}  // namespace weft::detail
